/// A backend whose commits can wait for a server without holding a thread.
///
/// It is a class protocol, so that a cast takes no copy.
package protocol CommitAwaiting: AnyObject, Sendable {
  /// Queues a commit after all others, and returns before it is made.
  ///
  /// The follower of the request is called as for ``StoreBackend/commit(_:_:)``.
  ///
  /// - Parameters:
  ///   - changes: The changes to commit; not empty.
  ///   - request: The writer's description of the commit.
  ///   - completion: Called once with the result, on any thread; must be quick.
  /// - Throws: An error of ``StoreBackend/commit(_:_:)``; the commit is not queued then, and the
  ///   completion is not called.
  func enqueue(
    _ changes: ChangeSet, _ request: CommitRequest,
    _ completion: @escaping @Sendable (CommitOutcome) -> Void) throws(StoreError)

  /// Asks the server for the commits of others, as reading `lastCommitNumber` does.
  ///
  /// - Parameter completion: Called once when the server has answered, or can't be asked; on any
  ///   thread, and must be quick.
  func askForCommits(_ completion: @escaping @Sendable () -> Void)
}
