import Files
import Locks

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The thread of the process that waits for the answers of servers, on all connections at once.
///
/// It takes a thread of the pool while there are waits. That thread also completes the last of them,
/// so that a lone request changes threads once less.
final class SocketPoller: Sendable {
  private static let pollers = ProcessLocal { SocketPoller() }
  /// The poller of this process.
  static var shared: SocketPoller { pollers.current }

  /// A wait for events of a socket.
  private struct Wait: Sendable {
    let descriptor: Int32
    let events: Int16
    let deadline: ContinuousClock.Instant
    let completion: @Sendable (_ isReady: Bool) -> Void
  }

  private struct State {
    /// The waits that the thread does not know yet.
    var new: [Wait] = []
    var isRunning = false
  }

  private let state = Locked(State())
  /// The ends of a pipe, by which the thread learns of new waits; nil if the system has none left.
  private let wakes: (reading: Int32, writing: Int32)?

  private static let idleTime = Duration.seconds(1)

  private init() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      wakes = nil
      return
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    wakes = (ends[0], ends[1])
  }

  /// Waits for events of a socket without a thread of the caller.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - descriptor: The socket, which must stay open until the completion is called.
  ///   - timeout: The time limit.
  ///   - completion: Called once on a thread that may wait, with whether there was an event in time.
  /// - Returns: false if the system has no thread or pipe left; the completion is not called then.
  func wait(
    for events: Int16, on descriptor: Int32, atMost timeout: Duration,
    _ completion: @escaping @Sendable (_ isReady: Bool) -> Void
  ) -> Bool {
    guard let wakes else { return false }
    let wait = Wait(
      descriptor: descriptor, events: events, deadline: .now + timeout, completion: completion)
    let begins = state.withLock { state in
      defer { state.isRunning = true }
      state.new.append(wait)
      return !state.isRunning
    }
    if begins { return begin() }
    // A full pipe wakes the thread, too.
    _ = unsafe write(wakes.writing, [1], 1)
    return true
  }

  /// Starts the thread; if there is none, all waits but that of the caller end.
  private func begin() -> Bool {
    if ThreadPool.shared.run({ [self] in serve() }) { return true }
    let others = state.withLock { state in
      defer { state = State() }
      return state.new.dropFirst()
    }
    // Each reads on its own thread, and waits there.
    for wait in others { wait.completion(true) }
    return false
  }

  // MARK: On the thread

  private func serve() {
    var waits: [Wait] = []
    while true {
      waits += state.withLock { state in
        defer { state.new = [] }
        return state.new
      }
      var (isAwake, ended) = waitForEvents(&waits)
      let last = waits.isEmpty ? ended.popLast() : nil
      for (wait, isReady) in ended { complete(wait, isReady) }
      if last == nil, isAwake || !waits.isEmpty { continue }
      let isOver = endIfIdle()
      if let (wait, isReady) = last {
        if isOver { wait.completion(isReady) } else { complete(wait, isReady) }
      }
      if isOver { return }
    }
  }

  /// Ends the work of the thread if there are no new waits; the next one takes a thread again.
  private func endIfIdle() -> Bool {
    state.withLock { state in
      if state.new.isEmpty { state.isRunning = false }
      return !state.isRunning
    }
  }

  /// Waits for the first events, and removes the waits that have ended.
  ///
  /// - Returns: Whether anything happened until the first deadline, and the waits that have ended,
  ///   with whether there was an event in time.
  private func waitForEvents(
    _ waits: inout [Wait]
  ) -> (isAwake: Bool, ended: [(Wait, isReady: Bool)]) {
    guard let wakes else { return (false, []) }
    var descriptors = waits.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    descriptors.append(pollfd(fd: wakes.reading, events: Int16(POLLIN), revents: 0))
    let deadline = waits.map(\.deadline).min() ?? .now + Self.idleTime
    let count = unsafe poll(&descriptors, nfds_t(descriptors.count), milliseconds(to: deadline))
    if descriptors[waits.count].revents != 0 { drain(wakes.reading) }
    let now = ContinuousClock.now
    var (rest, ended): ([Wait], [(Wait, isReady: Bool)]) = ([], [])
    for (wait, found) in zip(waits, descriptors) {
      // A call that was interrupted has set nothing.
      let isReady = count > 0 && found.revents != 0
      if isReady || wait.deadline <= now {
        ended.append((wait, isReady))
      } else {
        rest.append(wait)
      }
    }
    waits = rest
    return (count != 0, ended)
  }

  private func complete(_ wait: Wait, _ isReady: Bool) {
    // Threads of the pool may all wait for these answers, so this one must not wait for them.
    if !ThreadPool.shared.run({ wait.completion(isReady) }) { wait.completion(isReady) }
  }

  private func milliseconds(to deadline: ContinuousClock.Instant) -> Int32 {
    let (seconds, fraction) = max(.zero, ContinuousClock.now.duration(to: deadline)).components
    return Int32(clamping: seconds * 1000 + fraction / 1_000_000_000_000_000 + 1)
  }

  private func drain(_ descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 256)
    while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
  }
}
