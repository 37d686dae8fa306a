/// A closure that is called after each commit of a backend, in the order of the commits.
package final class CommitListener: Sendable {
  /// Gets what a commit has changed.
  ///
  /// Every reader sees that by then; the next commit waits.
  package let didCommit: @Sendable (ChangeSet) -> Void
  /// Called when other processes have changed something, and nobody knows what.
  package let didLoseTrack: @Sendable () -> Void

  /// Whether it wants to hear of commits of other processes only.
  let isForForeign: Bool
  /// Whether it hears of commits of other processes when a call finds out about them, and no thread
  /// asks for them.
  let isPassive: Bool

  /// Makes a listener, to be attached to a ``StoreCoordinator``.
  package init(
    ofOtherProcesses isForForeign: Bool = false, isPassive: Bool = false,
    _ didCommit: @escaping @Sendable (ChangeSet) -> Void,
    didLoseTrack: @escaping @Sendable () -> Void = {}
  ) {
    (self.didCommit, self.didLoseTrack) = (didCommit, didLoseTrack)
    (self.isForForeign, self.isPassive) = (isForForeign, isPassive)
  }
}
