import Locks
import StoreEngine

/// A thread that reads a history for one follower, and the bytes that wait for it.
///
/// The thread waits while too many bytes wait, so a slow follower costs no memory.
final class HistorySession: Sendable {
  private let backend: any StoreBackend
  private let request: HistoryRequest
  private let limits: HistoryServerLimits
  /// Called with the position of the follower once it is known to be one of this store.
  private let didFind: @Sendable (UInt64) -> Void
  private let began = ContinuousClock.now
  private let state = Locked(State())
  /// The number of bytes of entries that are read before the thread looks at its orders.
  private static let batchByteCount = 1 << 20

  private struct State {
    // Orders to the thread.
    var hasNews = false
    var needsHeartbeat = false
    var isEnding = false
    // Results of the thread.
    var hasBegun = false
    var isCopying = false
    var number: UInt64 = 0
    var result: Result<Void, StoreError>?
    var parts: [[UInt8]] = []
    var byteCount = 0
    // The reader.
    var isCancelled = false
    var waiter: CheckedContinuation<Void, Never>?
    var lastSent = ContinuousClock.now
    var lastTaken = ContinuousClock.now

    var isOver: Bool { isCancelled || result != nil }

    /// Ends the stream with an error, and drops the bytes that wait.
    mutating func cut(_ error: StoreError) {
      (result, parts, byteCount) = (.failure(error), [], 0)
    }
  }

  init(
    _ backend: any StoreBackend, _ request: HistoryRequest, _ limits: HistoryServerLimits,
    _ didFind: @escaping @Sendable (UInt64) -> Void
  ) {
    (self.backend, self.request, self.limits) = (backend, request, limits)
    self.didFind = didFind
  }

  /// Starts the thread, which calls a closure at its end; false if the system has none left.
  func start(_ didEnd: @escaping @Sendable () -> Void) -> Bool {
    let thread = JoinedThread { [self] in
      run()
      didEnd()
    }
    // It ends by itself soon after cancel(), and must not hold up a task.
    thread?.detach()
    return thread != nil
  }

  // MARK: Orders

  func wake() { change { $0.hasNews = true } }
  func end() { change { $0.isEnding = true } }
  func cancel() { change { $0.isCancelled = true } }
  /// Cuts the stream, because the follower has begun another one.
  func replace() { change { $0.cut(Self.replaced) } }

  /// Looks at the clock; returns false once the session is over.
  func tick() -> Bool {
    let now = ContinuousClock.now
    return change { state in
      if state.isOver { return false }
      if now - state.lastSent >= limits.heartbeat { state.needsHeartbeat = true }
      if now - began >= limits.duration, !state.isCopying { state.isEnding = true }
      if state.byteCount > 0, now - state.lastTaken >= limits.stall { state.cut(Self.stalled) }
      return true
    }
  }

  /// The time between two calls of ``tick()``.
  var tickInterval: Duration {
    max(.milliseconds(5), min(.seconds(1), limits.heartbeat / 4, limits.stall / 4))
  }

  /// The number of the last commit that was read.
  var number: UInt64 { state.withLock { $0.number } }
  var waitingByteCount: Int { state.withLock { $0.byteCount } }

  /// Changes the state, and wakes the thread and the reader.
  @discardableResult
  private func change<Value>(_ body: (inout State) -> Value) -> Value {
    let (value, waiter) = state.change { state in
      let value = body(&state)
      return (value, state.waiter.take())
    }
    waiter?.resume()
    return value
  }

  // MARK: The thread

  private func run() {
    let result = Result { () throws(StoreError) in try send() }
    change { $0.result = $0.result ?? result }
  }

  private func send() throws(StoreError) {
    var writer = try begin()
    repeat {
      while try writer.write(backend, limit: Self.batchByteCount, to: put) > 0 {
        change { $0.number = writer.position.number }
        if state.withLock({ $0.isEnding || $0.isOver }) { break }
      }
      if takeHeartbeat() { try put(writer.heartbeat(of: backend)) }
    } while waitForOrders()
    try put(writer.end())
  }

  /// Checks the position of the follower, and sends a copy if there is none.
  private func begin() throws(StoreError) -> HistoryStreamWriter {
    guard request.number > 0 else {
      let position = try backend.historyPosition()
      // A copy that is cut off begins again, and needs no earlier commits.
      didFind(position.number)
      change { ($0.hasBegun, $0.isCopying, $0.number) = (true, true, position.number) }
      let writer = try HistoryStreamWriter.copying(backend, to: put)
      change { ($0.isCopying, $0.needsHeartbeat) = (false, true) }
      return writer
    }
    // Before the number, which says nothing about another history.
    let last = try backend.historyPosition()
    if let id = request.historyID, id != last.historyID {
      throw other(last, .init(historyID: id, number: request.number, token: last.token))
    }
    let found = try backend.historyPosition(after: request.number)
    let wanted = HistoryPosition(
      historyID: request.historyID ?? found.historyID, number: request.number,
      token: request.token ?? found.token)
    guard found.isSame(as: wanted) else { throw other(found, wanted) }
    didFind(found.number)
    change { ($0.hasBegun, $0.needsHeartbeat, $0.number) = (true, true, found.number) }
    return HistoryStreamWriter(behind: wanted)
  }

  private func takeHeartbeat() -> Bool {
    state.withLock { state in
      defer { state.needsHeartbeat = false }
      return state.needsHeartbeat
    }
  }

  /// Waits for commits or the clock; returns false at the end.
  private func waitForOrders() -> Bool {
    state.change(once: { $0.hasNews || $0.needsHeartbeat || $0.isEnding || $0.isOver }) { state in
      state.hasNews = false
      return !state.isEnding && !state.isOver
    }
  }

  /// Hands bytes to the reader, and waits while too many wait.
  private func put(_ bytes: [UInt8]) throws(StoreError) {
    let (isOpen, waiter) = state.change(once: { hasRoom($0, bytes.count) }) { state in
      if state.isOver || (state.isEnding && state.isCopying) { return (false, state.waiter.take()) }
      let now = ContinuousClock.now
      if state.parts.isEmpty { state.lastTaken = now }
      state.lastSent = now
      state.parts.append(bytes)
      state.byteCount += bytes.count
      return (true, state.waiter.take())
    }
    waiter?.resume()
    if !isOpen { throw StoreError(.closed, "The stream was ended by its reader or its server.") }
  }

  private func hasRoom(_ state: State, _ count: Int) -> Bool {
    state.isOver || (state.isEnding && state.isCopying) || state.parts.isEmpty
      || state.byteCount + count <= limits.waitingByteCount
  }

  // MARK: The reader

  private enum Step {
    case bytes([UInt8])
    case end
    case nothing
  }

  /// Takes the next bytes; throws at the end of a stream that was cut.
  private func step() throws -> Step {
    try change { state -> Result<Step, any Error> in
      if state.isCancelled { return .failure(CancellationError()) }
      if let first = state.parts.first {
        state.parts.removeFirst()
        state.byteCount -= first.count
        state.lastTaken = .now
        return .success(.bytes(first))
      }
      guard let result = state.result else { return .success(.nothing) }
      return result.map { Step.end }.mapError { $0 }
    }
    .get()
  }

  /// Returns the next bytes; nil at the end.
  func next() async throws -> [UInt8]? {
    try await withTaskCancellationHandler {
      while true {
        switch try step() {
        case .bytes(let bytes): return bytes
        case .end: return nil
        case .nothing: await wait { !$0.parts.isEmpty || $0.isOver }
        }
      }
    } onCancel: {
      cancel()
    }
  }

  func blockingNext() throws -> [UInt8]? {
    while true {
      switch try step() {
      case .bytes(let bytes): return bytes
      case .end: return nil
      case .nothing: state.change(once: { !$0.parts.isEmpty || $0.isOver }) { _ in }
      }
    }
  }

  /// Waits until the thread has found the position; returns the error if it has not.
  func waitForBeginning() async -> StoreError? {
    await wait { $0.hasBegun || $0.isOver }
    return refusal
  }

  func blockUntilBeginning() -> StoreError? {
    state.change(once: { $0.hasBegun || $0.isOver }) { _ in }
    return refusal
  }

  private var refusal: StoreError? {
    state.withLock { state in
      if state.hasBegun { return nil }
      if case .failure(let error) = state.result { return error }
      return Self.replaced
    }
  }

  private func wait(until isReady: @Sendable (State) -> Bool) async {
    while !state.withLock({ isReady($0) }) {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          if isReady(state) { return true }
          state.waiter = continuation
          return false
        }
        if isDone { continuation.resume() }
      }
    }
  }

  // MARK: Errors

  private static let stalled = StoreError(
    .ioError,
    "The follower took no bytes for too long, so its stream was cut. It can connect again."
  )

  private static let replaced = StoreError(
    .closed, "The stream was cut, because its follower has begun another one.")

  private func other(_ found: HistoryPosition, _ wanted: HistoryPosition) -> StoreError {
    StoreError(
      .otherHistory,
      """
      The store is at \(found), and the follower at \(wanted). This is another store, or it went \
      back to an earlier state. Make a new copy of it.
      """,
      at: .init(path: backend.location))
  }
}
