// Failures of the operating system, which tests plan.

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

    private static let shared = PlannedFailures()
    private let isUsed = Atomic(false)
    private let plans = Locked<[String: Plan]>([:])

    /// Has a plan asked while a closure runs.
    package static func planning<Result>(
      below directory: String, _ plan: @escaping Plan, _ body: () throws -> Result
    ) rethrows -> Result {
      shared.plans.withLock { plans in
        plans[directory] = plan
        shared.isUsed.store(true, ordering: .relaxed)
      }
      defer {
        shared.plans.withLock { plans in
          plans[directory] = nil
          shared.isUsed.store(!plans.isEmpty, ordering: .relaxed)
        }
      }
      return try body()
    }

    static func failure(_ call: String, _ path: String) -> Int32? {
      guard shared.isUsed.load(ordering: .relaxed) else { return nil }
      let plan = shared.plans.withLock { plans in
        plans.first { path.hasPrefix($0.key) }?.value
      }
      return plan?(call, path)
    }
  }
#endif

/// Fails if a test has planned that; nothing but in debug builds.
@inline(__always)
func refusePlanned(_ call: String, _ path: @autoclosure () -> String) throws(SystemError) {
  #if DEBUG
    let path = path()
    if let number = PlannedFailures.failure(call, path) {
      throw SystemError(call: call, path: path, number: number)
    }
  #endif
}
