import FlyingSocks
import Foundation

/// A connection to a server of this machine, which waits without tasks.
struct PlainHTTP {
  private let socket: Socket
  private let deadline: ContinuousClock.Instant

  /// Sends a request in raw bytes, and returns what the server answers until the answer is whole,
  /// the connection is closed, or time is up.
  static func send(_ bytes: Data, to port: UInt16, seconds: Double) throws -> Data {
    let socket = try Socket(domain: Int32(sockaddr_in.family))
    defer { try? socket.close() }
    try socket.connect(to: .inet(ip4: "127.0.0.1", port: port))
    try socket.setFlags(.nonBlocking)
    return PlainHTTP(socket: socket, deadline: .now + .seconds(seconds)).exchange(bytes)
  }

  private func exchange(_ bytes: Data) -> Data {
    var index = bytes.startIndex
    var received = Data()
    var length: Int?
    var pause = 0.0002
    while ContinuousClock.now < deadline {
      do {
        if index < bytes.endIndex {
          index = try socket.write(bytes, from: index)
        } else {
          received += try socket.read(atMost: 1 << 18)
          length = length ?? Self.length(received)
          if let length, received.count >= length { break }
        }
        pause = 0.0002
      } catch SocketError.blocked {
        Thread.sleep(forTimeInterval: pause)
        pause = min(0.01, pause * 2)
      } catch { break }
    }
    return received
  }

  /// Returns the number of bytes of an answer, as its head says; nil without a whole head.
  private static func length(_ answer: Data) -> Int? {
    guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).lowercased()
    let line = head.components(separatedBy: "\r\n").first { $0.hasPrefix("content-length:") }
    guard let text = line?.dropFirst("content-length:".count) else { return nil }
    return Int(text.trimmingCharacters(in: .whitespaces)).map { end.upperBound + $0 }
  }

  /// Sends a request with a body of JSON, and returns the body of the answer.
  static func json(_ method: String, _ path: String, _ body: Data?, to port: UInt16) throws -> Data
  {
    let head = """
      \(method) \(path) HTTP/1.1\r
      Host: 127.0.0.1:\(port)\r
      Connection: close\r
      Content-Type: application/json\r
      Content-Length: \(body?.count ?? 0)\r
      \r

      """
    let answer = try send(Data(head.utf8) + (body ?? Data()), to: port, seconds: 60)
    guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { return Data() }
    return answer[end.upperBound...]
  }
}
