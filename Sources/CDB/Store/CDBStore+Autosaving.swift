internal import Locks

/// When a store is going to save by itself.
struct SavePlan: Sendable {
  /// How long after a change; nil is never.
  var interval: Duration?
  /// When the next save is due.
  private(set) var deadline: ContinuousClock.Instant?
  /// Tells a save that is still wanted from one that was overtaken.
  private(set) var ticket = 0

  /// Notes a save; nil when one is planned that comes soon enough.
  mutating func plan(after delay: Duration) -> Int? {
    let instant = ContinuousClock.now + delay
    if let deadline, deadline <= instant { return nil }
    deadline = instant
    ticket += 1
    return ticket
  }

  mutating func cancel() {
    deadline = nil
    ticket += 1
  }
}

extension CDBStore {
  /// Saves by itself, so long after a change.
  ///
  /// Further changes until then are saved with it. A save that fails is tried again after the same
  /// time, and ``failure`` says what is wrong.
  ///
  /// - Parameter interval: The time from a change to its save; nil, as at first, is never.
  public func autosave(after interval: Duration?) {
    state.withLock { $0.plan.interval = interval }
    if hasChanges { planAutosave() }
  }

  /// The time from a change to the save that comes by itself; nil when none does.
  public var autosaveInterval: Duration? { state.withLock { $0.plan.interval } }

  /// Saves soon, on another thread; any number of calls before that make one save.
  ///
  /// When it fails, ``failure`` says why, and the changes are kept.
  public func saveSoon() { plan(after: .milliseconds(10)) }

  func planAutosave() {
    if let interval = autosaveInterval { plan(after: interval) }
  }

  private func plan(after delay: Duration) {
    guard let ticket = state.withLock({ $0.plan.plan(after: delay) }) else { return }
    Task.detached { [weak self] in
      try? await Task.sleep(for: delay)
      self?.save(planned: ticket)
    }
  }

  private func save(planned ticket: Int) {
    let retry: Duration? = state.withLock { state in
      guard state.plan.ticket == ticket, state.isOpen else { return nil }
      state.plan.cancel()
      do {
        try save(&state)
        return nil
      } catch {
        state.failure = error
        return state.plan.interval
      }
    }
    if let retry { plan(after: retry) }
  }
}
