import Foundation
import Locks

/// A proxy on a Unix socket between a client and the server: it counts round trips, cuts
/// connections, and lets others act before a request.
package final class TestProxy: Sendable {
  /// The directory of the proxy's socket.
  package let directory: String
  private let target: String
  private let listener: Int32
  private let state = Locked(State())

  private struct State {
    var roundTrips = 0
    var cut = Cut.nothing
    var beforeRequests: @Sendable () -> Void = {}
    var isClosed = false
  }

  /// The moment when connections are cut.
  package enum Cut: Sendable {
    case nothing
    /// After the next request has been passed to the server, and before its answer.
    case afterRequest
    /// After the server has answered the next request; the answer is lost.
    case beforeAnswer
    /// Always: no connection succeeds.
    case everything
  }

  /// Starts a proxy in front of a server.
  package init(before server: TestServer) throws {
    directory = "\(server.directory)-\(UInt32.random(in: 0 ... .max))"
    target = server.directory
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let isBound = unsafe Self.withAddress(directory) { unsafe bind(listener, $0, $1) == 0 }
    guard isBound, listen(listener, 64) == 0 else {
      throw TestServer.Unavailable(description: "no socket")
    }
    Thread.detachNewThread { [self] in acceptAll() }
  }

  /// Stops the proxy.
  package func close() {
    state.withLock { $0.isClosed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// The number of requests that followed an answer since it was last set.
  package var roundTrips: Int {
    get { state.withLock(\.roundTrips) }
    set { state.withLock { $0.roundTrips = newValue } }
  }

  /// Calls a closure before each request is passed to the server.
  package func beforeRequests(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.beforeRequests = body }
  }

  /// Sets the next cut.
  package func cut(_ cut: Cut) { state.withLock { $0.cut = cut } }

  /// Whether the planned cut has happened.
  package var hasCut: Bool {
    state.withLock { if case .nothing = $0.cut { true } else { false } }
  }

  private static func withAddress(
    _ directory: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
      unsafe path.copyBytes(from: Array((directory + "/.s.PGSQL.5432").utf8.prefix(107)))
    }
    return unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let isRefused = state.withLock { if case .everything = $0.cut { true } else { false } }
      let isConnected =
        !isRefused && (unsafe Self.withAddress(target) { unsafe connect(server, $0, $1) == 0 })
      guard isConnected else {
        _ = Foundation.close(client)
        _ = Foundation.close(server)
        continue
      }
      Thread.detachNewThread { [self] in forward(client, server) }
    }
  }

  private func forward(_ client: Int32, _ server: Int32) {
    defer {
      _ = Foundation.close(client)
      _ = Foundation.close(server)
    }
    var answers = AnswerReader()
    var wasAnswer = true
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var ends = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&ends, 2, -1) >= 0 else { return }
      // Answers first, so that what follows the end of an answer is another request.
      let isAnswer = ends[1].revents != 0
      let (source, target) = isAnswer ? (server, client) : (client, server)
      let count = unsafe read(source, &buffer, buffer.count)
      guard count > 0 else { return }
      if isAnswer {
        answers.read(buffer[..<count])
      } else if wasAnswer, answers.isClientsTurn {
        noteRequest()
      }
      wasAnswer = isAnswer
      if isCut(isAnswer: isAnswer) { return }
      guard Self.writeAll(buffer[..<count], to: target) else { return }
      if !isAnswer, cutsAfterRequest(buffer[..<count]) { return }
    }
  }

  private func noteRequest() {
    let body = state.withLock { state in
      state.roundTrips += 1
      return state.beforeRequests
    }
    body()
  }

  private func isCut(isAnswer: Bool) -> Bool {
    state.withLock { state in
      switch state.cut {
      case .everything: return true
      case .beforeAnswer where isAnswer:
        state.cut = .nothing
        return true
      default: return false
      }
    }
  }

  /// A request ends with a Sync.
  private func cutsAfterRequest(_ bytes: ArraySlice<UInt8>) -> Bool {
    state.withLock { state in
      let sync = [UInt8(ascii: "S"), 0, 0, 0, 4]
      guard case .afterRequest = state.cut, bytes.suffix(5) == sync[...] else { return false }
      state.cut = .nothing
      return true
    }
  }

  static func writeAll(_ bytes: ArraySlice<UInt8>, to end: Int32) -> Bool {
    var rest = Array(bytes)
    while !rest.isEmpty {
      let count = unsafe send(end, rest, rest.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { return false }
      rest.removeFirst(count)
    }
    return true
  }
}

/// Reads which messages the server sends.
///
/// The server answers the first statements of a long request before it has the last ones, so not
/// everything that follows an answer is another request.
private struct AnswerReader {
  /// The type and the size of a message that has begun.
  private var header: [UInt8] = []
  /// The number of bytes of the message that have not come.
  private var rest = 0
  private var last: UInt8?

  /// Whether the last message lets the client send something new: `ReadyForQuery`,
  /// `CopyInResponse`, an authentication, or none.
  var isClientsTurn: Bool {
    guard rest == 0, header.isEmpty else { return false }
    return last.map { "ZGR".utf8.contains($0) } ?? true
  }

  mutating func read(_ bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    while let next = bytes.first {
      if rest > 0 {
        let part = min(rest, bytes.count)
        rest -= part
        bytes.removeFirst(part)
        continue
      }
      header.append(next)
      bytes.removeFirst()
      guard header.count == 5 else { continue }
      last = header[0]
      // The size includes its own four bytes.
      rest = header.dropFirst().reduce(0) { $0 << 8 | Int($1) } - 4
      header = []
    }
  }
}
