import Files
import Locks

// Folding a large store takes a second or more, and no save should wait for that.
//
//     1. A new log is begun. The changes that were pending until then are being folded, and are
//        only read.
//     2. A thread writes new files. Saves go to the new log meanwhile.
//     3. A record in the new log confirms that the files are ready, which makes the fold final. The
//        files are renamed, and the old log is removed.
//
// An opening after a crash in between reads both logs.
extension LoggedBackend {
  /// Begins a new log, and folds the pending changes on a separate thread.
  ///
  /// - Returns: False if there can be no second log, or the first one has no commit that could be
  ///   named as its last; nothing has changed then.
  /// - Throws: ``StoreError``, with nothing changed unless the log has failed.
  func beginFoldingBeside(_ log: inout LoggedLog) throws(StoreError) -> Bool {
    guard let last = coordinator.journal.last, let writer = log.writer, claimFold(&log) else {
      return false
    }
    try checkWritable(log)
    do {
      // Only the next-to-last log may lose its end in a power failure. A process that has joined
      // others has not synced their saves in earlier logs.
      try synchronizeEarlierLogs(log)
      sharing?.file.beginWriting()
      guard let next = try nextWriter(after: writer) else { return false }
      log.writer = next
      publish(next)
    } catch {
      releaseFold(&log)
      if error.code == .reopenNeeded { log.failure = error }
      throw error
    }
    log.earlierEpochs.append(writer.epoch)
    log.earlierByteCount += writer.usedCount
    log.lastEarlierCommit = last
    state.withLock { $0.beginFolding() }
    startFold(writer, &log)
    return true
  }

  /// Begins to fold what the opening has read from the log, so that the next one need not read it
  /// again.
  ///
  /// Only ordered tables leave so much: class files are folded at closing.
  func foldAfterOpening() {
    if isReadOnly { return }
    log.withLock { log in
      let used = (log.writer?.usedCount ?? 0) + log.earlierByteCount
      // A log that is needed no longer may hold nothing that is pending.
      guard used >= limits.logBytes, !state.withLock({ $0.hasNothingPending }) else { return }
      let files = fileBytesTouchedByPending
      guard files.areOnlyKeys, files.total + used >= limits.besideBytes else { return }
      _ = try? beginFoldingBeside(&log)
    }
  }

  private func nextWriter(after writer: CommitLogWriter) throws(StoreError) -> CommitLogWriter? {
    var slot = CommitLogSlot(
      epoch: writer.epoch + 1, size: CommitLogWriter.firstSize, earlier: writer.ending)
    let isSynced = durability != .none
    let file = try files.beginLog(after: writer.epoch, isSynced: isSynced) {
      (file) throws(StoreError) in
      slot = try CommitLogWriter.begin(file, slot, isSynced: isSynced)
    }
    guard let file else { return nil }
    do {
      return try CommitLogWriter(
        file, durability: durability, slot: slot, slotIndex: 0, sequence: 0,
        offset: CommitLogFormat.firstBatch, growth: limits.usedLogGrowth)
    } catch {
      throw reopenNeeded(error)
    }
  }

  /// Starts a thread that writes the new files.
  ///
  /// If the system has none left, the next ``finishFolding(_:)`` writes them.
  private func startFold(_ earlier: CommitLogWriter?, _ log: inout LoggedLog) {
    guard limits.foldsOnThread, let mark = earlierMark(log),
      let pending = state.withLock({ $0.folding })
    else { return }
    let prepare = foldPreparation(mark)
    let oldFiles = files.openFiles(touchedBy: pending)
    log.fold = FoldBeside(pending, into: oldFiles) { (pending) throws(StoreError) in
      // The next log must not become durable before this one.
      try earlier?.synchronizeBeside()
      return try prepare(pending)
    } didPrepare: { [weak self] in
      self?.finishPreparedFold()
    }
  }

  /// Returns the mark of the files that the earlier logs are folded into.
  private func earlierMark(_ log: LoggedLog) -> FileMark? {
    log.earlierEpochs.last.map { FileMark(checkpointIn: $0) }
  }

  /// Returns a closure that writes the new files, on any thread, and does not hold the backend.
  func foldPreparation(
    _ mark: FileMark
  ) -> @Sendable (PendingRecords) throws(StoreError) -> [Replacement] {
    let (files, durability, location, coordinator) = (files, durability, location, coordinator)
    return { (pending) throws(StoreError) in
      try coordinator.measure(.fold, at: location, byteCount: pending.byteCount) {
        () throws(StoreError) in
        try files.prepareAll(pending.merged(), mark: mark, durability: durability) {
          () throws(StoreError) in pending.ordered
        }
      }
    }
  }

  /// Publishes the files of a thread, unless a caller that could not wait already has.
  private func finishPreparedFold() {
    // Unsynced saves are synced here, before others wait for it.
    try? log.withLock { $0.writer }?.synchronizeBeside()
    try? whileAlone {
      log.withLock { log in
        guard log.fold?.isDone == true else { return }
        try? noting(&log, finishFolding)
      }
    }
  }

  /// Waits until the changes that are being folded are in the files; writes the files if no thread
  /// does.
  ///
  /// - Throws: ``StoreError``. The changes are still being folded, and the call can be retried.
  func finishFolding(_ log: inout LoggedLog) throws(StoreError) {
    guard let pending = state.withLock({ $0.folding }), let mark = earlierMark(log) else { return }
    // Another process writes the files.
    guard claimFold(&log) else { return }
    let fold = log.fold
    log.fold = nil
    let replacements =
      if let fold {
        try fold.wait()
      } else {
        try foldPreparation(mark)(pending)
      }
    try checkWritable(log)
    try installFold(replacements, &log)
  }

  /// Records in the log that the files of the earlier logs are ready, and publishes them.
  private func installFold(
    _ replacements: [Replacement], _ log: inout LoggedLog
  ) throws(StoreError) {
    try announce(replacements, as: .earlierCheckpoint, of: log.lastEarlierCommit, &log)
    do {
      try publishFold(replacements)
      // Empty files stay: the log refers to them until it is emptied.
      try updateManifest(
        replacements, [], log.lastEarlierCommit, followedBy: log.writer?.epoch, &log)
      if durability != .none { try files.synchronizeNames() }
      endEarlierLogs(&log)
      log.checkpointCount += 1
      // Before another process replaces them with later ones.
      if sharing != nil { try files.hold() }
      files.ordered.removeReplacedSegments(of: replacements)
      releaseFold(&log)
    } catch {
      log.failure = reopenNeeded(error)
      throw log.failure ?? error
    }
  }

  /// Publishes new files, and removes their changes from the state, before anyone reads.
  private func publishFold(_ replacements: [Replacement]) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      // If some files could not be published, the changes that are being folded still cover them.
      defer {
        try? state.pending.didFold(
          generation: files.generation, orderedGeneration: files.ordered.generation)
      }
      try files.publishAll(replacements)
      state.folding = nil
    }
  }

  /// Waits for the thread and discards its files, because the directory may belong to another
  /// process next.
  func abandonFold(_ log: inout LoggedLog) {
    guard let fold = log.fold else { return }
    log.fold = nil
    if let replacements = try? fold.wait() { files.discard(replacements) }
  }

  /// Removes the earlier logs once they are in the files.
  func endEarlierLogs(_ log: inout LoggedLog) {
    for epoch in log.earlierEpochs { files.endEarlierLog(epoch) }
    if !log.earlierEpochs.isEmpty { log.hasSpare = true }
    // Other processes may still read them.
    if sharing != nil { files.removeSpareLog() }
    (log.earlierEpochs, log.earlierByteCount) = ([], 0)
  }

  /// Retries a fold that a thread could not do, or waits for it if saves are faster than the fold.
  func urgeFold(_ log: inout LoggedLog, isLate: Bool) {
    if isLate {
      try? noting(&log, finishFolding)
    } else if log.fold == nil, (log.writer?.usedCount ?? 0) >= limits.logBytes + log.patience {
      startFold(nil, &log)
    }
  }

  /// Syncs the earlier logs if saves don't.
  func synchronizeEarlierLogs(_ log: LoggedLog) throws(StoreError) {
    guard durability == .process else { return }
    for epoch in log.earlierEpochs { try files.openEarlierLog(epoch)?.synchronize() }
  }
}

/// A backend that can fold its log while saves continue, at a time chosen by the caller.
package protocol FoldingBeside: AnyObject {
  /// Begins a new log, and starts to fold the pending changes.
  ///
  /// - Returns: False if there can be no second log.
  func beginFolding() throws(StoreError) -> Bool

  /// Waits until the changes that are being folded are in the files.
  func endFolding() throws(StoreError)

  /// Whether any changes are being folded.
  var isFolding: Bool { get }
}

extension LoggedBackend: FoldingBeside {
  package func beginFolding() throws(StoreError) -> Bool {
    try whileAlone { () throws(StoreError) in
      try log.withLock { (log) throws(StoreError) in
        if state.withLock({ $0.folding != nil || $0.pending.isEmpty }) { return false }
        return try beginFoldingBeside(&log)
      }
    }
  }

  package func endFolding() throws(StoreError) {
    try whileAlone { () throws(StoreError) in
      try log.withLock { (log) throws(StoreError) in try noting(&log, finishFolding) }
    }
  }

  package var isFolding: Bool { state.withLock { $0.folding != nil } }
}
