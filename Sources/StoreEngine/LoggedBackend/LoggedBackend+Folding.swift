import Files
import Locks

// Large saves, and checkpoints.
extension LoggedBackend {
  /// Empties the log before a large save goes past it; false when that fails, and the save has to
  /// go to the log like others.
  ///
  /// - Throws: ``StoreError`` with `reopenNeeded`.
  func foldBeforeBulk(_ log: inout LoggedLog) throws(StoreError) -> Bool {
    if state.withLock({ $0.hasNothingPending }), log.writer?.earlier == nil { return true }
    // A try may copy gigabytes until the disk is full.
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

  /// The mark of the files that the next checkpoint makes.
  func mark(_ log: LoggedLog) throws(StoreError) -> FileMark {
    guard let epoch = log.writer?.epoch else { throw StoreError(.closed, "The log is closed.") }
    return FileMark(checkpointIn: epoch)
  }

  /// Folds what is pending into the class files, and takes note of a failure.
  func checkpoint(_ log: inout LoggedLog) throws(StoreError) { try noting(&log, fold) }

  /// Folds, and takes note of a failure.
  func noting(
    _ log: inout LoggedLog, _ fold: (inout LoggedLog) throws(StoreError) -> Void
  ) throws(StoreError) {
    let start = ContinuousClock.now
    do {
      try fold(&log)
      log.patience = 0
      state.withLock { $0.foldFailure = nil }
    } catch {
      // The saves are safe in the log. Folding is tried again when it has grown.
      let used = log.writer?.usedCount ?? 0
      log.patience = used
      let pause = max(limits.foldPause, start.duration(to: .now) * 10)
      log.nextFold = ContinuousClock.now.advanced(by: pause)
      state.withLock { state in
        let tries = (state.foldFailure?.tryCount ?? 0) + 1
        state.foldFailure = FoldFailure(
          error: error, tryCount: tries, logByteCount: used + log.earlierByteCount)
      }
      throw error
    }
  }

  private func fold(_ log: inout LoggedLog) throws(StoreError) {
    if sharing != nil { return try foldShared(&log) }
    try finishFolding(&log)
    let pending = state.withLock { $0.pending }
    if pending.isEmpty {
      // A log that began beside another one says so, until it is emptied.
      if log.writer?.earlier != nil { try install([], emptied: [], &log) }
      return
    }
    let replacements = try foldPreparation(try mark(log))(pending)
    try install(replacements, emptied: emptied(by: pending), &log)
    state.withLock { $0.pending = PendingRecords() }
  }

  /// Says in the log that new files are ready, which is the moment of truth, and puts them in
  /// place.
  ///
  /// Those of a large save have a commit of their own; of all others readers see the changes
  /// already, from what is pending.
  ///
  /// Those of the emptied files that have become empty are removed.
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
      // Until here the log says which files count, whichever names a power cut leaves.
      if durability != .none { try files.synchronizeNames() }
      try log.writer?.removeAll()
      endEarlierLogs(&log)
      log.checkpointCount += 1
      files.removeAllEmpty(empty)
    } catch {
      // The record stands: the next opening publishes.
      log.failure = reopenNeeded(error)
      throw log.failure ?? error
    }
  }

  /// Says in the log that new files are ready; they are removed where that fails.
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

  /// Puts new files in place, all of them before anyone looks.
  ///
  /// Every reader takes the state's lock before he goes to a file. So whoever has found one table
  /// as a save has left it finds every other so from then on, and so does everyone he tells.
  private func publish(_ replacements: [Replacement], of commit: Commit?) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      do throws(StoreError) {
        try files.publishAll(replacements)
        if let commit { state.lastCommit = commit }
      } catch {
        // Some files are new and some are old. Small saves are pending, and cover both; a large one
        // would be seen in part.
        if commit != nil { state.failure = reopenNeeded(error) }
        throw error
      }
    }
  }

  /// Takes note of the marks of new files, of the last commit, and of the log's next epoch, before
  /// the log forgets them.
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

  /// Lets the numbers of commits go on after those of another store, of which this is a copy; folds
  /// the log.
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

  /// Folds the log if it has grown so much that it is time to.
  ///
  /// A failure is told by ``foldFailure``; the save itself is safe in the log.
  func foldIfDue(_ log: inout LoggedLog) {
    guard let used = log.writer?.usedCount, used >= limits.logBytes else { return }
    if state.withLock({ $0.folding != nil }) {
      if sharing != nil, !log.ownsFold { takeOverFold(&log) }
      if sharing != nil, !log.ownsFold { return }
      let isLate = used >= 3 * max(limits.logBytes, fileBytesTouchedByPending / limits.filePart)
      return urgeFold(&log, isLate: isLate && foldFailure == nil)
    }
    let fileBytes = fileBytesTouchedByPending
    guard used >= limits.logBytes + log.patience, used >= fileBytes / limits.filePart else {
      return
    }
    // What is small is folded sooner than a thread begins.
    let isLarge = fileBytes + used >= limits.besideBytes
    if isLarge, (try? beginFoldingBeside(&log)) == true || log.failure != nil { return }
    try? checkpoint(&log)
  }

  /// The size of the files that folding would copy; 0 where it can't be had, so that folding is
  /// tried and says why.
  private var fileBytesTouchedByPending: Int {
    (try? files.byteCount(touchedBy: state.withLock { $0.pending })) ?? 0
  }

  /// Refuses a save that would let the log grow beyond its limit, after another try to fold it.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, and why folding fails.
  func checkLogLimit(_ changes: ChangeSet, _ log: inout LoggedLog) throws(StoreError) {
    guard let failure = foldFailure, let writer = log.writer else { return }
    let used = writer.usedCount + log.earlierByteCount
    let limit = limits.maximumLogBytes ?? max(1 << 30, fileBytesTouchedByPending / 4)
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

  /// Ends the folding that is under way, and folds the rest if that is quick.
  func foldAtClose(_ log: inout LoggedLog) {
    if log.failure != nil { return abandonFold(&log) }
    if log.fold != nil { try? noting(&log, finishFolding) }
    let isInFiles = state.withLock { $0.hasNothingPending }
    if isInFiles ? log.writer?.earlier != nil : shouldFoldAtClose { try? checkpoint(&log) }
  }

  private var shouldFoldAtClose: Bool {
    let pending = state.withLock { $0.pending }
    guard limits.foldsAtClose, !pending.isEmpty,
      let size = try? files.byteCount(touchedBy: pending)
    else { return false }
    return size <= max(16 << 20, pending.byteCount * 64)
  }

  /// Folds everything that is in the log into the class files, and empties it.
  ///
  /// Complexity: linear in the sizes of the files concerned, which are copied.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `noSpace`, `ioError`, `damaged` or `closed`; what was
  ///   saved stays saved, in the log.
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

  /// The error of work that other processes could not follow.
  var mustBeExclusive: StoreError {
    StoreError(
      .inUse, "Other processes may have the store open: open it without sharing for this.",
      at: .init(path: location))
  }

  /// Why the log can't be folded into the files; nil when it can, as far as is known.
  ///
  /// Saves go on meanwhile: they are safe in the log, which grows. Stores tell their delegates,
  /// too, see `StoreDelegate.store(_:didFailToFold:)`.
  public var foldFailure: FoldFailure? {
    guard let failure = state.withLock({ $0.foldFailure }) else { return nil }
    return FoldFailure(
      error: naming(failure.error), tryCount: failure.tryCount, logByteCount: failure.logByteCount)
  }
}
