import Locks

/// A thread that writes the new files of a fold while saves continue.
///
/// The thread holds this object until it ends. So the folded changes, and the files that the new
/// ones replace, which may be hundreds of megabytes, are freed there, and no save waits for that.
final class FoldBeside: Sendable {
  typealias Outcome = Result<[Replacement], StoreError>

  private let pending: PendingRecords
  private let oldFiles: [any Sendable]
  private let outcome = Locked<Outcome?>(nil)
  private let thread = Locked<JoinedThread?>(nil)

  /// Starts the thread; returns nil if the system has none left.
  ///
  /// - Parameters:
  ///   - pending: The changes to fold.
  ///   - oldFiles: The files that the changes are folded into.
  ///   - prepare: Writes the new files.
  ///   - didPrepare: Called on the thread when the files are written, or can't be.
  init?(
    _ pending: PendingRecords, into oldFiles: [any Sendable],
    _ prepare: @escaping @Sendable (PendingRecords) throws(StoreError) -> [Replacement],
    didPrepare: @escaping @Sendable () -> Void
  ) {
    (self.pending, self.oldFiles) = (pending, oldFiles)
    let started = JoinedThread { [self] in
      ThreadPriority.lower()
      let found = Result { () throws(StoreError) in try prepare(pending) }
      outcome.change { $0 = found }
      didPrepare()
    }
    guard let started else { return nil }
    thread.withLock { $0 = started }
  }

  /// Whether the files are written, or can't be.
  var isDone: Bool { outcome.withLock { $0 != nil } }

  /// Waits for the new files.
  ///
  /// - Throws: The error because of which they can't be written.
  func wait() throws(StoreError) -> [Replacement] {
    try outcome.change(once: { $0 != nil }) { $0 ?? .success([]) }.get()
  }
}
