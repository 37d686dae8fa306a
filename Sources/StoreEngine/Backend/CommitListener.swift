/// Closures that are called after each commit of a backend, in the order of the commits.
package final class CommitListener: Sendable {
  /// Called with the changes of a commit.
  ///
  /// Every reader sees the commit by then; the next commit waits.
  package let didCommit: @Sendable (ChangeSet) -> Void
  /// Called when other processes have changed something, and it is not known what.
  package let didLoseTrack: @Sendable () -> Void

  /// Whether the listener is called for commits of other processes only.
  let isForForeign: Bool
  /// Whether the listener is called for commits of other processes only when a call finds out about
  /// them, so that no thread asks for them.
  let isPassive: Bool

  /// Creates a listener, which you attach to a ``StoreCoordinator``.
  package init(
    ofOtherProcesses isForForeign: Bool = false, isPassive: Bool = false,
    _ didCommit: @escaping @Sendable (ChangeSet) -> Void,
    didLoseTrack: @escaping @Sendable () -> Void = {}
  ) {
    (self.didCommit, self.didLoseTrack) = (didCommit, didLoseTrack)
    (self.isForForeign, self.isPassive) = (isForForeign, isPassive)
  }
}
