import Files
import Locks
import Synchronization

// Large saves, and checkpoints.
extension LoggedBackend {
  /// Folds the log before a large save that skips it.
  ///
  /// - Returns: Whether it succeeded. If not, the save is written to the log.
  /// - Throws: ``StoreError`` with `reopenNeeded`.
  func foldBeforeBulk(_ log: inout LoggedLog) throws(StoreError) -> Bool {
    if state.withLock({ $0.hasNothingPending }), log.writer?.earlier == nil { return true }
    // An attempt may copy gigabytes until the disk is full.
    if foldFailure != nil, ContinuousClock.now < log.nextFold { return false }
    do {
      try checkpoint(&log)
      return true
    } catch {
      if let failure = log.failure { throw failure }
      return false
    }
  }

  func commitInBulk(
    _ changes: ChangeSet, _ commit: Commit, _ log: inout LoggedLog
  ) throws(StoreError) {
    let replacements = try files.prepareAll(changes, mark: mark(log), durability: durability) {
      [files] () throws(StoreError) in
      try files.allKeys(of: changes)
    }
    try install(replacements, of: commit, emptied: emptied(by: changes), &log)
    state.withLock { $0.countCommit(changes) }
  }

  /// Returns the mark of the files that the next checkpoint writes.
  func mark(_ log: LoggedLog) throws(StoreError) -> FileMark {
    guard let epoch = log.writer?.epoch else { throw StoreError(.closed, "The log is closed.") }
    return FileMark(checkpointIn: epoch)
  }

  /// Folds the pending changes into the class files, and records a failure.
  func checkpoint(_ log: inout LoggedLog) throws(StoreError) { try noting(&log, fold) }

  /// Runs a closure that folds, and records a failure.
  func noting(
    _ log: inout LoggedLog, _ fold: (inout LoggedLog) throws(StoreError) -> Void
  ) throws(StoreError) {
    let start = ContinuousClock.now
    do {
      try fold(&log)
      log.patience = 0
      if isFoldFailing.exchange(false, ordering: .acquiringAndReleasing) {
        state.withLock { $0.foldFailure = nil }
      }
    } catch {
      // The saves are durable in the log. The fold is retried when the log has grown.
      let used = log.writer?.usedCount ?? 0
      log.patience = used
      let pause = max(limits.foldPause, start.duration(to: .now) * 10)
      log.nextFold = ContinuousClock.now.advanced(by: pause)
      state.withLock { state in
        let tries = (state.foldFailure?.tryCount ?? 0) + 1
        state.foldFailure = FoldFailure(
          error: error, tryCount: tries, logByteCount: used + log.earlierByteCount)
      }
      isFoldFailing.store(true, ordering: .releasing)
      throw error
    }
  }

  private func fold(_ log: inout LoggedLog) throws(StoreError) {
    if sharing != nil { return try foldShared(&log) }
    try finishFolding(&log)
    let pending = state.withLock { $0.pending }
    if pending.isEmpty {
      // A log that began after an earlier one refers to it until it is emptied.
      if log.writer?.earlier != nil { try install([], emptied: [], &log) }
      return
    }
    let replacements = try foldPreparation(try mark(log))(pending)
    try install(replacements, emptied: emptied(by: pending), &log)
    state.withLock { $0.pending = PendingRecords() }
  }

  /// Records in the log that new files are ready, which makes the change final, and renames them.
  ///
  /// New files of a large save belong to a commit, which becomes visible with them. In all other
  /// cases readers already see the changes, because they are pending.
  ///
  /// Files among `emptied` that have become empty are removed.
  func install(
    _ replacements: [Replacement], of commit: Commit? = nil, emptied: [String],
    _ log: inout LoggedLog
  ) throws(StoreError) {
    assert(sharing == nil, "other processes would not know of an emptied log")
    try announce(replacements, as: commit == nil ? .checkpoint : .bulkCommit, of: commit, &log)
    do {
      try publish(replacements, of: commit)
      let empty = files.emptyFiles(among: emptied)
      try updateManifest(
        replacements, empty, commit ?? coordinator.journal.last,
        followedBy: log.writer.map { $0.epoch + 1 }, &log)
      // Until here the log determines which files count, whichever names a power failure leaves.
      if durability != .none { try files.synchronizeNames() }
      try log.writer?.removeAll()
      endEarlierLogs(&log)
      log.checkpointCount += 1
      files.ordered.removeReplacedSegments(of: replacements)
      files.removeAllEmpty(empty)
    } catch {
      // The record is written, so the next opening publishes the files.
      log.failure = reopenNeeded(error)
      throw log.failure ?? error
    }
  }

  /// Records in the log that new files are ready; they are removed if that fails.
  func announce(
    _ replacements: [Replacement], as kind: CommitLogFormat.Kind, of commit: Commit?,
    _ log: inout LoggedLog
  ) throws(StoreError) {
    do {
      try write([(kind, [Replacement.encode(replacements, of: commit)])], &log)
    } catch {
      if log.failure == nil { files.discard(replacements) }
      throw error
    }
  }

  /// Publishes new files, all of them before anyone reads.
  ///
  /// Readers see all tables of a commit, or none: every reader takes the lock of the state before
  /// it reads a file.
  private func publish(_ replacements: [Replacement], of commit: Commit?) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      do throws(StoreError) {
        try files.publishAll(replacements)
        if let commit { state.lastCommit = commit }
      } catch {
        // Some files are new and some are old. Small saves are pending, and cover both; a large
        // save would be visible in part.
        if commit != nil { state.failure = reopenNeeded(error) }
        throw error
      }
    }
  }

  /// Records the marks of new files, the last commit, and the log's next epoch in the manifest,
  /// before they are removed from the log.
  func updateManifest(
    _ replacements: [Replacement], _ empty: [String], _ commit: Commit?, followedBy epoch: UInt64?,
    _ log: inout LoggedLog
  ) throws(StoreError) {
    guard var manifest = log.manifest, let epoch else { return }
    manifest.add(replacements, followedBy: epoch)
    manifest.remove(empty)
    manifest.lastCommit = commit
    try files.setManifest(manifest.bytes, durability: durability)
    log.manifest = manifest
  }

  /// Continues the numbers of commits after those of another store, of which this is a copy, and
  /// folds the log.
  ///
  /// Complexity: as ``checkpoint()``.
  ///
  /// - Throws: ``StoreError``; `inUse` for a store that is shared.
  public func continueNumbers(after last: Commit?) throws(StoreError) {
    if sharing != nil { throw mustBeExclusive }
    try log.withLock { (log) throws(StoreError) in
      try checkOpen()
      try checkpoint(&log)
      guard last != coordinator.journal.last, var manifest = log.manifest else { return }
      manifest.lastCommit = last
      try files.setManifest(manifest.bytes, durability: durability)
      if durability != .none { try files.synchronizeNames() }
      log.manifest = manifest
      state.withLock { $0.lastCommit = last }
      coordinator.journal.begin(after: last)
    }
  }

  /// Folds the log if it has reached its limit, after saves of the given size.
  ///
  /// A failure is reported by ``foldFailure``; the save itself is durable in the log.
  func foldIfDue(_ log: inout LoggedLog, after byteCount: Int) {
    guard let used = log.writer?.usedCount, used >= limits.logBytes else { return }
    if state.withLock({ $0.folding != nil }) {
      if sharing != nil, !log.ownsFold { takeOverFold(&log) }
      if sharing != nil, !log.ownsFold { return }
      let files = fileBytesTouchedByPending
      let late = limits.lateBytes(foldingOver: files)
      if files.areOnlyKeys, log.fold?.isDone == false {
        var waiting = Backoff(limits.delay(of: byteCount, at: used, late: late))
        while waiting.pause() {}
      }
      return urgeFold(&log, isLate: used >= late && foldFailure == nil)
    }
    let files = fileBytesTouchedByPending
    guard used >= limits.logBytes + log.patience, used >= limits.dueBytes(foldingOver: files)
    else { return }
    // A small fold takes less time than the start of a thread.
    let isLarge = files.total + used >= limits.besideBytes
    if isLarge, (try? beginFoldingBeside(&log)) == true || log.failure != nil { return }
    try? checkpoint(&log)
  }

  /// The sizes of the files that folding would copy; 0 if they are unknown, so that folding is
  /// tried and reports the error.
  var fileBytesTouchedByPending: FoldedBytes {
    (try? files.byteCounts(touchedBy: state.withLock { $0.pending })) ?? FoldedBytes()
  }

  /// Refuses a save that would make the log exceed its limit, after another attempt to fold it.
  ///
  /// - Throws: ``StoreError`` with `noSpace` and the reason why folding fails.
  func checkLogLimit(_ changes: ChangeSet, _ log: inout LoggedLog) throws(StoreError) {
    guard let failure = foldFailure, let writer = log.writer else { return }
    let used = writer.usedCount + log.earlierByteCount
    let limit = limits.maximumLogBytes ?? max(1 << 30, fileBytesTouchedByPending.total / 4)
    guard used + changes.bytes.count > limit else { return }
    if ContinuousClock.now >= log.nextFold, (try? checkpoint(&log)) != nil { return }
    if let failure = log.failure { throw failure }
    throw StoreError(
      .noSpace,
      """
      The commit log has \(used) bytes, and at most \(limit) are allowed (maximumLogBytes): it \
      can't be folded into the files, see the cause. All saves are safe.
      """,
      at: .init(path: location), underlying: (foldFailure ?? failure).error)
  }

  /// Completes a running fold, and folds the rest if that is fast.
  func foldAtClose(_ log: inout LoggedLog) {
    if log.failure != nil { return abandonFold(&log) }
    if log.fold != nil { try? noting(&log, finishFolding) }
    let isInFiles = state.withLock { $0.hasNothingPending }
    if isInFiles ? log.writer?.earlier != nil : shouldFoldAtClose { try? checkpoint(&log) }
  }

  private var shouldFoldAtClose: Bool {
    let pending = state.withLock { $0.pending }
    guard limits.foldsAtClose, !pending.isEmpty,
      let size = try? files.byteCounts(touchedBy: pending)
    else { return false }
    return limits.foldsAtClose(pending.byteCount, over: size)
  }

  /// Folds everything that is in the log into the class files, and empties it.
  ///
  /// Complexity: linear in the sizes of the changed files, which are copied.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `noSpace`, `ioError`, `damaged` or `closed`. Saved
  ///   data stays saved, in the log.
  public func checkpoint() throws(StoreError) {
    try checkProcess()
    try whileAlone { () throws(StoreError) in
      try log.withLock { (log) throws(StoreError) in
        try checkOpen()
        try checkWritable(log)
        try naming { () throws(StoreError) in try checkpoint(&log) }
      }
    }
  }

  /// The error of an operation that other processes could not follow.
  var mustBeExclusive: StoreError {
    StoreError(
      .inUse, "Other processes may have the store open: open it without sharing for this.",
      at: .init(path: location))
  }

  /// The reason why the log can't be folded into the files; nil if the last attempt succeeded.
  ///
  /// Saves continue meanwhile: they are durable in the log, which grows. Stores also notify their
  /// delegates, see `StoreDelegate.store(_:didFailToFold:)`.
  public var foldFailure: FoldFailure? {
    // Every save asks.
    guard isFoldFailing.load(ordering: .acquiring) else { return nil }
    guard let failure = state.withLock({ $0.foldFailure }) else { return nil }
    return FoldFailure(
      error: naming(failure.error), tryCount: failure.tryCount, logByteCount: failure.logByteCount)
  }
}
