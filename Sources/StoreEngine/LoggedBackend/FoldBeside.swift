import Locks

/// Makes new files on a thread of its own, of what is being folded, while saves go on.
///
/// The thread holds this object until it has come to its end. So what was folded, and the files
/// whose place the new ones take, which may be hundreds of megabytes, are freed there, and no save
/// waits for that.
final class FoldBeside: Sendable {
  typealias Outcome = Result<[Replacement], StoreError>

  private let pending: PendingRecords
  private let oldFiles: [any Sendable]
  private let outcome = Locked<Outcome?>(nil)
  private let thread = Locked<JoinedThread?>(nil)

  /// Starts the thread; nil when the system has none left.
  ///
  /// - Parameters:
  ///   - pending: What is being folded.
  ///   - oldFiles: The files that it is folded into.
  ///   - prepare: Makes the new files.
  ///   - didPrepare: Called on the thread when they are there, or can't be made.
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

  /// Whether the files are there, or can't be made.
  var isDone: Bool { outcome.withLock { $0 != nil } }

  /// Waits for the new files.
  ///
  /// - Throws: why they can't be made.
  func wait() throws(StoreError) -> [Replacement] {
    try outcome.change(once: { $0 != nil }) { $0 ?? .success([]) }.get()
  }
}
