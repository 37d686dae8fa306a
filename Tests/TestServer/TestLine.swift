import Foundation
import Locks

/// A network line to a port of this machine, which can be cut off: nothing passes then, and neither
/// end is notified, as when a cable is pulled out.
///
/// While nothing listens at its other end, it refuses connections as that port does.
final class TestLine: Sendable {
  /// The port of this end of the line.
  let port: UInt16
  private let target: UInt16
  private let state = Locked(State())

  private struct State {
    var isCut = false
    var isClosed = false
    var listener: Int32?
  }

  init(to target: UInt16) throws {
    (self.target, port) = (target, try Self.unusedPort())
    Thread.detachNewThread { [self] in run() }
  }

  /// Whether nothing passes.
  var isCut: Bool {
    get { state.withLock(\.isCut) }
    set { state.withLock { $0.isCut = newValue } }
  }

  private var isClosed: Bool { state.withLock(\.isClosed) }

  func close() {
    state.withLock { $0.isClosed = true }
    stopListening()
  }

  /// Returns a port that nothing uses.
  static func unusedPort() throws -> UInt16 {
    guard let (listener, port) = listen(at: 0) else {
      throw TestServer.Unavailable(description: "no port")
    }
    _ = Foundation.close(listener)
    return port
  }

  // MARK: Sockets

  private static func newSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }

  /// Calls a function of the system with the address of a port.
  private static func withAddress(
    _ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Bool
  ) -> UInt16? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isDone = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &size) }
    }
    return isDone ? UInt16(bigEndian: address.sin_port) : nil
  }

  private static func listen(at port: UInt16) -> (Int32, port: UInt16)? {
    let listener = newSocket()
    var yes: Int32 = 1
    unsafe setsockopt(
      listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let found = unsafe withAddress(port) { address, size in
      unsafe bind(listener, address, size) == 0 && Foundation.listen(listener, 64) == 0
        && getsockname(listener, address, &size) == 0
    }
    if let found { return (listener, found) }
    _ = Foundation.close(listener)
    return nil
  }

  /// Connects to the other end; nil if nothing listens there.
  private func connectToTarget() -> Int32? {
    let server = Self.newSocket()
    let found = unsafe Self.withAddress(target) { address, size in
      unsafe connect(server, address, size) == 0
    }
    if found != nil { return server }
    _ = Foundation.close(server)
    return nil
  }

  // MARK: Serving

  private func run() {
    while !isClosed {
      if let server = connectToTarget() {
        _ = Foundation.close(server)
        acceptAll()
      }
      usleep(50_000)
    }
  }

  /// Accepts connections until the line is closed, or nothing listens at the other end.
  private func acceptAll() {
    guard let (listener, _) = Self.listen(at: port) else { return }
    state.withLock { $0.listener = listener }
    defer {
      state.withLock { $0.listener = nil }
      _ = Foundation.close(listener)
    }
    while !isClosed {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      Thread.detachNewThread { [self] in serve(client) }
    }
  }

  private func stopListening() {
    state.withLock { state in
      if let listener = state.listener { shutdown(listener, Int32(SHUT_RDWR)) }
    }
  }

  private func serve(_ client: Int32) {
    defer { _ = Foundation.close(client) }
    while isCut { if !pause() { return } }
    guard let server = connectToTarget() else { return stopListening() }
    defer { _ = Foundation.close(server) }
    forward(client, server)
  }

  private func forward(_ client: Int32, _ server: Int32) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      if isCut {
        guard pause() else { return }
        continue
      }
      var ends = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&ends, 2, 100) >= 0 else { return }
      for (index, target) in [(0, server), (1, client)] where ends[index].revents != 0 {
        // The bytes just before the cut have passed.
        let count = unsafe read(ends[index].fd, &buffer, buffer.count)
        guard count > 0, TestProxy.writeAll(buffer[..<count], to: target) else { return }
      }
    }
  }

  /// Waits a moment; false if the line is closed.
  private func pause() -> Bool {
    usleep(20_000)
    return !isClosed
  }
}
