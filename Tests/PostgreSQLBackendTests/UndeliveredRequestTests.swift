import Foundation
import Locks
import StoredObjectsCore
import TestServer
import Testing

@testable import PostgreSQLBackend

@Suite("Requests that a network has not delivered")
struct UndeliveredRequestTests {
  @Test("A connection that is given up drops what it has not sent")
  func drops() throws {
    let listener = try SilentServer()
    defer { listener.close() }
    let target = try ConnectionTarget(listener.url, store: "Music", PostgreSQLConfiguration())
    let serving = Thread { listener.serve() }
    serving.start()
    // More than the buffers of both sockets hold, and the server reads nothing of it.
    let value = [UInt8](repeating: 7, count: 64 << 20)
    do {
      let connection = try Connection(
        target, timeout: .milliseconds(200), keepsStatements: SharedLock(false))
      #expect(throws: ServerFailure.self) {
        try connection.run([Statement("select length($1)", [.bytes(value)])])
      }
      #expect(!connection.isUsable)
    }
    listener.readOn()
    #expect(listener.end() == ECONNRESET)
  }
}

/// A server that accepts one connection, and pauses after the greeting.
private final class SilentServer: Sendable {
  private let listener: Int32
  private let port: UInt16
  private let mayRead = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let reason = SharedLock<Int32>(0)

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, byteCount) == 0 && listen(listener, 1) == 0
          && getsockname(listener, address, &byteCount) == 0
      }
    }
    try #require(isBound)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
  }

  /// Without an encryption, about which a client would ask first.
  var url: String {
    "postgresql://jukebox@127.0.0.1:\(port)/music?sslmode=disable&gssencmode=disable"
      + "&target_session_attrs=any"
  }

  /// Answers the greeting of a client, waits, and reads until the connection ends.
  func serve() {
    let client = accept(listener, nil, nil)
    defer { hasEnded.signal() }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    guard client >= 0, (unsafe read(client, &buffer, buffer.count)) > 0 else { return }
    let welcome: [UInt8] = Array("R".utf8) + [0, 0, 0, 8, 0, 0, 0, 0] + Array("Z".utf8)
    _ = unsafe write(client, welcome + [0, 0, 0, 5] + Array("I".utf8), welcome.count + 5)
    mayRead.wait()
    var count = 1
    while count > 0 { count = unsafe read(client, &buffer, buffer.count) }
    let failure = count < 0 ? errno : 0
    reason.withLock { $0 = failure }
    _ = Foundation.close(client)
  }

  func readOn() { mayRead.signal() }

  /// Waits for the end of the connection, and returns the error of the last read; 0 for an orderly end.
  func end() -> Int32 {
    hasEnded.wait()
    return reason.withLock(\.self)
  }

  func close() { _ = Foundation.close(listener) }
}
