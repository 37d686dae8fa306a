/// An object that follows a commit on its way through a backend.
///
/// A backend in which commits wait for each other calls all methods. A backend that writes each
/// commit at once need only call ``didCommit()``, which ``StoreCoordinator`` does for it.
package protocol CommitFollower: AnyObject, Sendable {
  /// Called when the commit has its position: all later commits come after it. Runs on the thread
  /// that commits.
  func didQueue()
  /// Called when the commit is about to be written. All earlier commits are written, have failed,
  /// or are written together with it.
  ///
  /// - Throws: The error that the commit fails with, if it must not be made any more.
  func willWrite() throws(StoreError)
  /// Called when every reader sees the commit. Calls are in the order of the commits, and before
  /// the caller of the commit continues.
  func didCommit()
  /// Called when the commit has failed, before any later commit is written.
  func didFail(_ error: StoreError)
}

extension CommitFollower {
  package func didQueue() {}
  package func willWrite() throws(StoreError) {}
  package func didCommit() {}
  package func didFail(_ error: StoreError) {}
}

/// A backend in which a commit can wait for the disk without blocking a thread.
///
/// It is a class protocol, so that a cast takes no copy.
package protocol CommitQueueing: AnyObject, Sendable {
  /// Queues a commit after all others; it reaches the disk together with them.
  ///
  /// - Parameters:
  ///   - changes: The changes to commit; not empty.
  ///   - request: The writer's description of the commit.
  ///   - mayWait: Whether this thread writes the commit and waits for the disk if no other thread
  ///     is writing; otherwise a thread of the backend does.
  ///   - completion: Called once with the result, on any thread; must be quick.
  /// - Throws: An error of ``StoreBackend/commit(_:_:)``; the commit is not queued then, and the
  ///   completion is not called.
  func enqueue(
    _ changes: ChangeSet, _ request: CommitRequest, mayWait: Bool,
    _ completion: @escaping @Sendable (Result<Commit, StoreError>) -> Void) throws(StoreError)
}
