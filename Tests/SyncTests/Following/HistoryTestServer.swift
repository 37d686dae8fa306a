import Foundation
import Locks
import StoredObjectsSync

/// A small HTTP server on a port of this machine, which cuts connections where a test wants it.
///
/// It waits without tasks, which other tests of this process may keep from running.
final class HistoryTestServer: Sendable {
  struct Failure: Error {}

  let port: UInt16
  private let listener: Int32
  private let history: HistoryServer
  private let followers: [String: String]
  private let state = Locked(State())

  private struct State {
    var cut: @Sendable () -> Int? = { nil }
    var answers: [Int] = []
    var statusesToCome: [Int] = []
    var isClosed = false
  }

  /// Starts a server for followers, whose names it has by their tokens.
  init(_ history: HistoryServer, followers: [String: String] = ["secret": "mirror"]) throws {
    (self.history, self.followers) = (history, followers)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = unsafe withUnsafeMutablePointer(to: &address) { [listener] address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(listener, address, size) == 0, listen(listener, 64) == 0 else {
          return Int32(-1)
        }
        return unsafe getsockname(listener, address, &size)
      }
    }
    guard number == 0 else { throw Failure() }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in acceptAll() }
  }

  var url: URL { URL(string: "http://127.0.0.1:\(port)/history") ?? URL(filePath: "/") }

  /// Cuts each next answer after a number of bytes of its body; nil cuts none.
  func cut(_ next: @escaping @Sendable () -> Int?) { state.withLock { $0.cut = next } }

  /// Answers the next requests with statuses.
  func fail(_ statuses: [Int]) { state.withLock { $0.statusesToCome = statuses } }

  /// The statuses of all answers.
  var answers: [Int] { state.withLock { $0.answers } }

  func close() {
    state.withLock { $0.isClosed = true }
    history.close()
    shutdown(listener, Int32(SHUT_RDWR))
    _ = Foundation.close(listener)
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      Thread.detachNewThread { [self] in
        try? answer(client)
        _ = Foundation.close(client)
      }
    }
  }

  private func answer(_ client: Int32) throws {
    let (path, token) = try Self.request(client)
    if let status = nextStatus { return try refuse(status, client) }
    guard let token, let follower = followers[token] else { return try refuse(401, client) }
    guard let components = URLComponents(string: path), components.path == "/history" else {
      return try refuse(404, client)
    }
    let stream: HistoryStream
    do {
      let position = try HistoryRequest { name in
        components.queryItems?.first { $0.name == name }?.value
      }
      stream = try history.blockingStream(position, for: follower)
    } catch { return try refuse(error.status, client) }
    state.withLock { $0.answers.append(200) }
    try Self.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8), client)
    var left = state.withLock { $0.cut }() ?? .max
    while let bytes = try stream.blockingNext() {
      try Self.send(Array((String(bytes.count, radix: 16) + "\r\n").utf8), client)
      try Self.send(Array(bytes.prefix(left)), client)
      left -= bytes.count
      if left <= 0 { return }
      try Self.send([13, 10], client)
    }
    try Self.send(Array("0\r\n\r\n".utf8), client)
  }

  private var nextStatus: Int? {
    state.withLock { $0.statusesToCome.isEmpty ? nil : $0.statusesToCome.removeFirst() }
  }

  private func refuse(_ status: Int, _ client: Int32) throws {
    state.withLock { $0.answers.append(status) }
    let head = "HTTP/1.1 \(status) Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    try Self.send(Array(head.utf8), client)
  }

  /// Returns the path and the token of a request.
  private static func request(_ client: Int32) throws -> (String, String?) {
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      let count = unsafe read(client, &buffer, buffer.count)
      guard count > 0, head.count < 64 << 10 else { throw Failure() }
      head += buffer[..<count]
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3, words[0] == "GET" else { throw Failure() }
    let start = "authorization: bearer "
    let token = lines.first { $0.lowercased().hasPrefix(start) }
    return (String(words[1]), token.map { String($0.dropFirst(start.count)) })
  }

  private static func send(_ bytes: [UInt8], _ client: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { part in
        unsafe Foundation.send(client, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure() }
      rest = rest.dropFirst(count)
    }
  }
}
