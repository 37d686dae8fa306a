import Foundation
import Locks
import StoredObjectsSync

/// A small HTTP server on a port of this machine, for the requests of devices.
///
/// It cuts connections where a test wants it.
final class SyncTestServer: Sendable {
  struct Failure: Error {}

  private let port: UInt16
  private let listener: Int32
  private let server: SyncServer
  private let devices: [String: String]
  /// Returns the number of bytes after which the next request or answer is cut; nil for none.
  let cut = Locked<@Sendable (_ isRequest: Bool) -> Int?>({ _ in nil })
  /// The number of requests, and the size of the largest body of a request and of an answer.
  let traffic = Locked((requests: 0, request: 0, answer: 0))

  /// Starts a server for devices, whose IDs it has by their tokens.
  init(_ server: SyncServer, devices: [String: String]) throws {
    (self.server, self.devices) = (server, devices)
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

  var url: URL { URL(string: "http://127.0.0.1:\(port)/sync") ?? URL(filePath: "/") }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    _ = Foundation.close(listener)
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      Thread.detachNewThread { [self] in
        try? answer(client)
        shutdown(client, Int32(SHUT_RDWR))
        _ = Foundation.close(client)
      }
    }
  }

  private func answer(_ client: Int32) throws {
    let limit = cut.withLock { $0 }(true) ?? .max
    let (token, body) = try Self.request(client, limit)
    guard let device = token.flatMap({ devices[$0] }) else {
      return try Self.send(Self.head(401, 0), client)
    }
    let answer = bytes(body, from: SyncDevice(id: device))
    traffic.withLock { traffic in
      traffic.requests += 1
      traffic.request = max(traffic.request, body.count)
      traffic.answer = max(traffic.answer, answer.count)
    }
    let end = cut.withLock { $0 }(false) ?? .max
    try Self.send(Self.head(200, answer.count) + answer.prefix(end), client)
  }

  /// Blocks this thread until the server has answered.
  private func bytes(_ request: [UInt8], from device: SyncDevice) -> [UInt8] {
    let result = Locked<(bytes: [UInt8], isDone: Bool)>(([], false))
    Task { [server] in
      await server.answer(request, from: device) { bytes in
        result.withLock { $0.bytes += bytes }
      }
      result.change { $0.isDone = true }
    }
    return result.change(once: { $0.isDone }) { $0.bytes }
  }

  private static func head(_ status: Int, _ count: Int) -> [UInt8] {
    Array("HTTP/1.1 \(status) \r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n".utf8)
  }

  /// Returns the token and the body of a request.
  private static func request(_ client: Int32, _ limit: Int) throws -> (String?, [UInt8]) {
    let end = Data([13, 10, 13, 10])
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    func readMore() throws {
      let count = unsafe read(client, &buffer, buffer.count)
      guard count > 0 else { throw Failure() }
      bytes += buffer[..<count]
      if bytes.count >= limit { throw Failure() }
    }
    while bytes.range(of: end) == nil { try readMore() }
    let head = bytes.range(of: end)?.lowerBound ?? 0
    let lines = String(decoding: bytes[..<head], as: UTF8.self).components(separatedBy: "\r\n")
    func field(_ name: String) -> String? {
      lines.first { $0.lowercased().hasPrefix(name + ": ") }.map {
        String($0.dropFirst(name.count + 2))
      }
    }
    guard let count = field("content-length").flatMap({ Int($0) }) else { throw Failure() }
    while bytes.count < head + 4 + count { try readMore() }
    let token = field("authorization").map { String($0.dropFirst("Bearer ".count)) }
    return (token, Array(bytes[(head + 4)...]))
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
