// The seam between this library and the operating system, where tests let calls fail and watch
// those that are made.

#if DEBUG
  internal import Locks
  internal import Synchronization

  /// Which system calls of debug builds fail without being made.
  ///
  /// A plan is for the files below one directory, so that tests beside each other don't meet.
  package final class PlannedFailures: Sendable {
    /// Is asked before each call, by its name and the path that errors give it; an `errno` lets it
    /// fail.
    package typealias Plan = @Sendable (_ call: String, _ path: String) -> Int32?

    /// Is told of each call that was made and has not failed.
    package typealias Witness = @Sendable (_ call: String, _ path: String) -> Void

    private static let shared = PlannedFailures()
    private let isUsed = Atomic(false)
    private let plans = Locked<[String: (plan: Plan, witness: Witness?)]>([:])

    /// Has a plan asked while a closure runs.
    package static func planning<Result>(
      below directory: String, _ plan: @escaping Plan, _ body: () throws -> Result
    ) rethrows -> Result {
      begin(below: directory, plan)
      defer { end(below: directory) }
      return try body()
    }

    /// Has a plan asked, and a witness told, until that is ended.
    package static func begin(
      below directory: String, _ plan: @escaping Plan, witness: Witness? = nil
    ) {
      shared.plans.withLock { plans in
        plans[directory] = (plan, witness)
        shared.isUsed.store(true, ordering: .relaxed)
      }
    }

    /// Has a plan asked no more.
    package static func end(below directory: String) {
      shared.plans.withLock { plans in
        plans[directory] = nil
        shared.isUsed.store(!plans.isEmpty, ordering: .relaxed)
      }
    }

    private static func plan(for path: String) -> (plan: Plan, witness: Witness?)? {
      guard shared.isUsed.load(ordering: .relaxed) else { return nil }
      return shared.plans.withLock { plans in plans.first { path.hasPrefix($0.key) }?.value }
    }

    static func failure(_ call: String, _ path: String) -> Int32? {
      plan(for: path)?.plan(call, path)
    }

    static func noteDone(_ call: String, _ path: String) {
      plan(for: path)?.witness?(call, path)
    }
  }
#endif

/// Fails if a test has planned that; nothing but in debug builds.
@inline(__always)
func failIfPlanned(_ call: String, _ path: @autoclosure () -> String) throws(SystemError) {
  #if DEBUG
    let path = path()
    if let number = PlannedFailures.failure(call, path) {
      throw SystemError(call: call, path: path, number: number)
    }
  #endif
}

/// Tells a test of a call that was made; nothing but in debug builds.
@inline(__always)
func noteDone(_ call: String, _ path: @autoclosure () -> String) {
  #if DEBUG
    PlannedFailures.noteDone(call, path())
  #endif
}
