internal import Locks

/// The schedule of a store's automatic saves.
struct SavePlan: Sendable {
  /// The delay after a change; nil for never.
  var interval: Duration?
  /// The time of the next save.
  private(set) var deadline: ContinuousClock.Instant?
  /// Distinguishes a save that is still wanted from an outdated one.
  private(set) var ticket = 0

  /// Schedules a save; returns nil if an earlier one is scheduled.
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
  /// Sets the delay after which changes are saved automatically.
  ///
  /// Further changes until then are saved with the first. A failed save is repeated after the same
  /// delay, and ``failure`` is its error.
  ///
  /// - Parameter interval: The time from a change to its save; nil, the default, for never.
  public func autosave(after interval: Duration?) {
    state.withLock { $0.plan.interval = interval }
    if hasChanges { planAutosave() }
  }

  /// The time from a change to its automatic save; nil if there is none.
  public var autosaveInterval: Duration? { state.withLock { $0.plan.interval } }

  /// Saves soon, on another thread; any number of calls before that result in one save.
  ///
  /// If it fails, ``failure`` is the error, and the changes are kept.
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
