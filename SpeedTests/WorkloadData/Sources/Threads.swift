import Foundation
import Synchronization

/// Runs a closure on several threads at once, each with its number from 0 on, and waits for all of
/// them.
///
/// - Throws: The first error of a thread.
public func onThreads(
  _ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void
) throws {
  let failure = Failure()
  let group = DispatchGroup()
  for thread in 0..<count {
    group.enter()
    Thread.detachNewThread {
      do { try body(thread) } catch { failure.note(error) }
      group.leave()
    }
  }
  group.wait()
  try failure.check()
}

/// Runs a closure in several tasks at once, each with its number from 0 on, and waits for all of
/// them.
///
/// - Throws: An error of one of the tasks.
public func onTasks(
  _ count: Int, _ body: @escaping @Sendable (_ task: Int) async throws -> Void
) throws {
  let failure = Failure()
  let group = DispatchGroup()
  for task in 0..<count {
    group.enter()
    Task {
      do { try await body(task) } catch { failure.note(error) }
      group.leave()
    }
  }
  group.wait()
  try failure.check()
}

/// The first error of several threads.
private final class Failure: Sendable {
  private let error = Mutex<(any Error)?>(nil)

  func note(_ new: any Error) { error.withLock { $0 = $0 ?? new } }
  func check() throws { if let error = error.withLock(\.self) { throw error } }
}
