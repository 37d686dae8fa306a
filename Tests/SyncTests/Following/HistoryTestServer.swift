import Foundation
import Locks
import StoredObjectsSync

/// A small HTTP server on a port of this machine, which cuts connections where a test wants it.
final class HistoryTestServer: Sendable {
  private let listener: LoopbackListener
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
    listener = try LoopbackListener()
    listener.answer { [self] in try answer($0) }
  }

  var url: URL { url("/history") }

  func url(_ path: String) -> URL { listener.url(path) }

  /// Cuts each next answer after a number of bytes of its body; nil cuts none.
  func cut(_ next: @escaping @Sendable () -> Int?) { state.withLock { $0.cut = next } }

  /// Answers the next requests with statuses.
  func fail(_ statuses: [Int]) { state.withLock { $0.statusesToCome = statuses } }

  /// The statuses of all answers.
  var answers: [Int] { state.withLock { $0.answers } }

  func close() {
    state.withLock { $0.isClosed = true }
    history.close()
    listener.close()
  }

  private func answer(_ client: LoopbackConnection) throws {
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
    try client.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
    var left = state.withLock { $0.cut }() ?? .max
    while let bytes = try stream.blockingNext() {
      try client.send(Array((String(bytes.count, radix: 16) + "\r\n").utf8))
      try client.send(Array(bytes.prefix(left)))
      left -= bytes.count
      if left <= 0 { return }
      try client.send([13, 10])
    }
    try client.send(Array("0\r\n\r\n".utf8))
  }

  private var nextStatus: Int? {
    state.withLock { $0.statusesToCome.isEmpty ? nil : $0.statusesToCome.removeFirst() }
  }

  private func refuse(_ status: Int, _ client: LoopbackConnection) throws {
    state.withLock { $0.answers.append(status) }
    let head = "HTTP/1.1 \(status) Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    try client.send(Array(head.utf8))
  }

  /// Returns the path and the token of a request.
  private static func request(_ client: LoopbackConnection) throws -> (String, String?) {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      let bytes = try client.read(atMost: 4096)
      guard head.count < 64 << 10 else { throw LoopbackFailure() }
      head += bytes
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3, words[0] == "GET" else { throw LoopbackFailure() }
    let start = "authorization: bearer "
    let token = lines.first { $0.lowercased().hasPrefix(start) }
    return (String(words[1]), token.map { String($0.dropFirst(start.count)) })
  }
}
