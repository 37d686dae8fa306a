import Foundation
import StoredObjectsSync
import Synchronization

/// Carries the requests of a device over a socket of this machine: the ID of the device, the
/// request, and then the answer in parts, the last of which is empty.
struct SocketTransport: SyncTransport {
  let path: String
  let device: Int32

  /// The server was killed, or has not begun yet.
  struct Lost: Error {}

  func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
    let connection = try LocalSocket(connectingTo: path)
    try connection.write(device)
    try connection.write(request)
    while true {
      let part = try connection.readPart()
      if part.isEmpty { return }
      try await receive(part)
    }
  }
}

/// Answers the requests of devices, each on a thread of its own.
struct SocketServer {
  private let listener: LocalSocket
  private let server: SyncServer

  init(_ server: SyncServer, at path: String) throws {
    (listener, self.server) = (try LocalSocket(listeningAt: path), server)
  }

  func answerAll() throws {
    while true {
      let connection = try listener.accept()
      Thread.detachNewThread { [server] in try? Self.answer(connection, server) }
    }
  }

  private static func answer(_ connection: LocalSocket, _ server: SyncServer) throws {
    let device = try connection.readNumber()
    let request = try connection.readPart()
    let end = DispatchSemaphore(value: 0)
    Task {
      await server.answer(request, from: SyncDevice(id: "device \(device)")) { part in
        if !part.isEmpty { try? connection.write(part) }
      }
      try? connection.write([])
      end.signal()
    }
    end.wait()
  }
}

/// A socket of this machine, with a file as its address.
final class LocalSocket: Sendable {
  private let descriptor: Int32

  private init(_ descriptor: Int32) throws {
    guard descriptor >= 0 else { throw SocketTransport.Lost() }
    self.descriptor = descriptor
  }

  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) {
      unsafe $0.copyBytes(from: Array(path.utf8.prefix(107)))
    }
    return address
  }

  private static func with(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    unsafe withUnsafePointer(to: address(path)) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  convenience init(connectingTo path: String) throws {
    try self.init(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    let isConnected = unsafe Self.with(path) { [descriptor] in
      unsafe connect(descriptor, $0, $1)
    }
    guard isConnected else { throw SocketTransport.Lost() }
  }

  convenience init(listeningAt path: String) throws {
    try self.init(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    // A killed server has left its file.
    _ = unsafe unlink(path)
    let isBound = unsafe Self.with(path) { [descriptor] in unsafe bind(descriptor, $0, $1) }
    guard isBound, listen(descriptor, 64) == 0 else { throw SocketTransport.Lost() }
  }

  deinit { close(descriptor) }

  func accept() throws -> LocalSocket { try LocalSocket(Glibc.accept(descriptor, nil, nil)) }

  func write(_ number: Int32) throws { try send(Array(number.bytes)) }

  /// Writes bytes after their count.
  func write(_ part: [UInt8]) throws { try send(Array(Int32(part.count).bytes) + part) }

  func readNumber() throws -> Int32 { Int32(bytes: try receive(4)) }

  func readPart() throws -> [UInt8] { try receive(Int(readNumber())) }

  private func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { [descriptor] in
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw SocketTransport.Lost() }
      rest = rest.dropFirst(count)
    }
  }

  private func receive(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var start = 0
    while start < count {
      let read = unsafe bytes.withUnsafeMutableBytes { [descriptor] in
        unsafe recv(descriptor, $0.baseAddress?.advanced(by: start), count - start, 0)
      }
      guard read > 0 else { throw SocketTransport.Lost() }
      start += read
    }
    return bytes
  }
}

extension Int32 {
  fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }

  fileprivate init(bytes: [UInt8]) {
    self = bytes.reversed().reduce(0) { $0 << 8 | Int32($1) }
  }
}
