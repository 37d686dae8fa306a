import Files
import Locks

// The beginning and the end of sharing a store with other processes.
extension LoggedBackend {
  /// Lets other processes continue, which have waited for this opening.
  func beginSharing(_ sharing: ProcessLock) throws(StoreError) {
    let watcher = NewsWatcher(sharing.file) { [weak self] in try? self?.refresh() }
    coordinator.order(
      by: ProcessOrder(
        yield: { sharing.yield() },
        begin: { [weak self] () throws(StoreError) in
          guard let self else { throw StoreError(.closed, "The backend has been closed.") }
          try lockProcesses(sharing)
        },
        end: { sharing.unlock() },
        takeRows: { [weak self] (table, count) throws(StoreError) in
          try self?.takeRows(count, of: table)
        },
        observe: { $0 ? watcher.addObserver() : watcher.removeObserver() }))
    try naming { () throws(StoreError) in try files.hold() }
    try log.withLock { (log) throws(StoreError) in
      if sharing.file.isFirst, let writer = log.writer {
        // From now on only zeros follow the last batch, so that a batch of a dead process is
        // quickly noticed.
        if try CommitLogReader(behind: writer)?.isClosed == false { try log.writer?.clearTail() }
        publish(writer)
      } else {
        know(sharing.file.versionWord.load())
      }
    }
    sharing.unlock()
  }

  /// Closes the backend; the last process leaves an ordinary store that is not shared.
  func close(_ sharing: ProcessLock) throws(StoreError) {
    if state.withLock({ $0.isClosed }) { return }
    let isLocked = (try? lockProcesses(sharing)) != nil
    defer { if isLocked { sharing.unlock() } }
    try log.withLock { (log) throws(StoreError) in
      if state.withLock({ $0.isClosed }) { return }
      let isLast = isLocked && !sharing.file.hasOthers()
      if isLast { foldAtClose(&log) } else { abandonFold(&log) }
      if isLast, log.failure == nil, (try? synchronizeEarlierLogs(log)) != nil {
        try? log.writer?.noteClosing()
      }
      releaseFold(&log)
      if isLast { sharing.file.remove() }
      sharing.file.leave()
      try closeLog(&log)
    }
  }

  // MARK: Folding

  /// Claims the checkpoint for this process; returns false if another process makes one.
  func claimFold(_ log: inout LoggedLog) -> Bool {
    guard let sharing, !log.ownsFold else { return true }
    log.ownsFold = sharing.file.lockFold()
    return log.ownsFold
  }

  /// Lets other processes make checkpoints.
  func releaseFold(_ log: inout LoggedLog) {
    if log.ownsFold { sharing?.file.unlockFold() }
    log.ownsFold = false
  }

  /// Continues a checkpoint of a process that died while it created new files.
  func takeOverFold(_ log: inout LoggedLog) {
    guard (log.writer?.usedCount ?? 0) >= limits.logBytes + log.patience, claimFold(&log) else {
      return
    }
    _ = try? files.removeStrays(keepingLogs: log.earlierEpochs)
  }

  /// Makes a checkpoint that other processes can follow: into new files, and with a new log.
  func foldShared(_ log: inout LoggedLog) throws(StoreError) {
    // Another process is making a checkpoint.
    guard claimFold(&log) else { return }
    try finishFolding(&log)
    if state.withLock({ $0.pending.isEmpty }) { return releaseFold(&log) }
    guard try beginFoldingBeside(&log) else { return releaseFold(&log) }
    try finishFolding(&log)
  }

  // MARK: Rows

  /// Reserves row IDs that no other process gets, by a commit of the metadata row.
  private func takeRows(_ count: Int, of table: TableID) throws(StoreError) -> ClosedRange<UInt32>?
  {
    try coordinator.whileInTurn { () throws(StoreError) in
      let shared = coordinator.table(table)
      let metadata = try knownMetadata(of: table)
      let last = max(shared.lastRowID, metadata?.lastRowID ?? 1)
      guard let end = UInt32(exactly: UInt64(last) + UInt64(count)) else { return nil }
      if var metadata {
        metadata.lastRowID = end
        try commit(ChangeSet(metadata, of: table), CommitRequest())
        shared.setMetadata(metadata)
      } else {
        // Other processes can't know a class that is not saved.
        shared.handOut(upTo: end)
      }
      return last + 1...end
    }
  }
}
