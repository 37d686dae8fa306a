/// Follows a commit on its way through a backend.
///
/// A backend that lets commits wait for each other calls all of these; one that writes a commit at
/// once need only call ``didCommit()``, which ``StoreCoordinator`` does for it.
package protocol CommitFollower: AnyObject, Sendable {
  /// The commit has its place: all that are made from now on come behind it. On the thread that
  /// commits.
  func didQueue()
  /// The commit is about to be written. All that come before it are written or have failed, or are
  /// written together with it.
  ///
  /// - Throws: what the commit fails with, if it must not be made any more.
  func willWrite() throws(StoreError)
  /// Everyone sees the commit. Called in the order of the commits, before whoever has made one goes
  /// on.
  func didCommit()
  /// The commit has failed. Called before any that comes behind it is written.
  func didFail(_ error: StoreError)
}

extension CommitFollower {
  package func didQueue() {}
  package func willWrite() throws(StoreError) {}
  package func didCommit() {}
  package func didFail(_ error: StoreError) {}
}

/// A backend in which a commit can wait for the disk without holding a thread.
///
/// A class, so that asking it takes no copy.
package protocol CommitQueueing: AnyObject, Sendable {
  /// Gives a commit its place behind all others, which it reaches the disk together with.
  ///
  /// - Parameters:
  ///   - changes: What is committed; not empty.
  ///   - request: What the writer says about it.
  ///   - mayWait: Whether this thread writes the commit, and waits for the disk, where nobody else
  ///     is at it; a thread of the backend does otherwise.
  ///   - completion: Hears once what has become of it, on any thread; must be quick.
  /// - Throws: as ``StoreBackend/commit(_:_:)``; the commit has no place then, and nobody hears.
  func enqueue(
    _ changes: ChangeSet, _ request: CommitRequest, mayWait: Bool,
    _ completion: @escaping @Sendable (Result<Commit, StoreError>) -> Void) throws(StoreError)
}
