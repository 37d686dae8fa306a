import Foundation

/// A port of this machine whose connections are answered by threads.
///
/// It waits without tasks, which other tests of this process may keep from running.
struct LoopbackListener: Sendable {
  private let port: UInt16
  private let listener: Int32

  init() throws {
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
    guard number == 0 else { throw LoopbackFailure() }
    port = UInt16(bigEndian: address.sin_port)
  }

  func url(_ path: String) -> URL {
    URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
  }

  /// Answers each connection on a thread of its own, until the listener is closed.
  func answer(_ body: @escaping @Sendable (LoopbackConnection) throws -> Void) {
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        Thread.detachNewThread {
          try? body(LoopbackConnection(socket: client))
          shutdown(client, Int32(SHUT_RDWR))
          _ = Foundation.close(client)
        }
      }
    }
  }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    _ = Foundation.close(listener)
  }
}

/// A connection that a thread answers.
struct LoopbackConnection: Sendable {
  fileprivate let socket: Int32

  /// Waits for the next bytes, of which there are `count` at most.
  func read(atMost count: Int) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let count = unsafe Foundation.read(socket, &buffer, buffer.count)
    guard count > 0 else { throw LoopbackFailure() }
    return Array(buffer[..<count])
  }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { part in
        unsafe Foundation.send(socket, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw LoopbackFailure() }
      rest = rest.dropFirst(count)
    }
  }
}

/// A connection that has ended, or a request that makes no sense.
struct LoopbackFailure: Error {}
