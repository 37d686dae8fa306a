import Foundation
import Locks
import StoredObjectsSync

/// A small HTTP server on a port of this machine, for the requests of devices.
///
/// It cuts connections where a test wants it.
final class SyncTestServer: Sendable {
  private let listener: LoopbackListener
  private let server: SyncServer
  private let devices: [String: String]
  /// Returns the number of bytes after which the next request or answer is cut; nil for none.
  let cut = Locked<@Sendable (_ isRequest: Bool) -> Int?>({ _ in nil })
  /// The number of requests, and the size of the largest body of a request and of an answer.
  let traffic = Locked((requests: 0, request: 0, answer: 0))

  /// Starts a server for devices, whose IDs it has by their tokens.
  init(_ server: SyncServer, devices: [String: String]) throws {
    (self.server, self.devices) = (server, devices)
    listener = try LoopbackListener()
    listener.answer { [self] in try answer($0) }
  }

  var url: URL { listener.url("/sync") }

  func close() {
    listener.close()
  }

  private func answer(_ client: LoopbackConnection) throws {
    let limit = cut.withLock { $0 }(true) ?? .max
    let (token, body) = try Self.request(client, limit)
    guard let device = token.flatMap({ devices[$0] }) else {
      return try client.send(Self.head(401, 0))
    }
    let answer = bytes(body, from: SyncDevice(id: device))
    traffic.withLock { traffic in
      traffic.requests += 1
      traffic.request = max(traffic.request, body.count)
      traffic.answer = max(traffic.answer, answer.count)
    }
    let end = cut.withLock { $0 }(false) ?? .max
    try client.send(Self.head(200, answer.count) + answer.prefix(end))
  }

  /// Blocks this thread until the server has answered.
  private func bytes(_ request: [UInt8], from device: SyncDevice) -> [UInt8] {
    let result = SharedLock<(bytes: [UInt8], isDone: Bool)>(([], false))
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
  private static func request(
    _ client: LoopbackConnection, _ limit: Int
  ) throws -> (String?, [UInt8]) {
    let end = Data([13, 10, 13, 10])
    var bytes = Data()
    func readMore() throws {
      bytes += try client.read(atMost: 1 << 16)
      if bytes.count >= limit { throw LoopbackFailure() }
    }
    while bytes.range(of: end) == nil { try readMore() }
    let head = bytes.range(of: end)?.lowerBound ?? 0
    let lines = String(decoding: bytes[..<head], as: UTF8.self).components(separatedBy: "\r\n")
    func field(_ name: String) -> String? {
      lines.first { $0.lowercased().hasPrefix(name + ": ") }.map {
        String($0.dropFirst(name.count + 2))
      }
    }
    guard let count = field("content-length").flatMap({ Int($0) }) else { throw LoopbackFailure() }
    while bytes.count < head + 4 + count { try readMore() }
    let token = field("authorization").map { String($0.dropFirst("Bearer ".count)) }
    return (token, Array(bytes[(head + 4)...]))
  }
}
