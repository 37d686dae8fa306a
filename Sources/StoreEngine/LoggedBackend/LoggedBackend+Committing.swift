import Files
import Locks

extension LoggedBackend {
  /// Writes a change set, all of it or nothing, as durably as the backend was opened for.
  ///
  /// Readers wait for no disk: they see the changes the moment they are safe.
  ///
  /// Complexity: linear in the change set, and one `fdatasync`. Every so often a checkpoint comes
  /// on top, whose cost is spread over the saves before it.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `rowExists`, `invalidName`, `tooLarge`, `full` (also
  ///   when the log has reached its limit, see ``foldFailure``), `ioError`, `damaged` or `closed`:
  ///   nothing is changed then. With `reopenNeeded` the disk has failed, and whether the save went
  ///   through is known when the backend is opened again.
  public func commit(_ changes: ChangeSet) throws {
    try refuseFork()
    try log.withLock { log in
      try checkOpen()
      try checkWritable(log)
      for change in changes.names { try files.check(bufferName: change.name) }
      if changes.isEmpty { return }
      try naming {
        let changes = try sealed(changes)
        try changes.refuseLargeRecords(files.maximumRecordByteCount) { try files.name(of: $0) }
        try commit(changes, &log)
      }
    }
  }

  private func commit(_ changes: ChangeSet, _ log: inout LoggedLog) throws {
    if try isBulk(changes), try foldBeforeBulk(&log) { return try commitInBulk(changes, &log) }
    try refuseBeyondLogLimit(changes, &log)
    try append(changes, &log)
    foldIfDue(&log)
  }

  func checkWritable(_ log: LoggedLog) throws {
    if isReadOnly {
      throw StoreError(
        .readOnly, "The store was opened for reading only.", at: .init(path: location))
    }
    if let failure = log.failure { throw failure }
  }

  /// Whether new files cost less than the log and folding it later.
  private func isBulk(_ changes: ChangeSet) throws -> Bool {
    guard changes.bytes.count >= limits.bulkBytes else { return false }
    let touched = PendingFootprint(
      tables: changes.tables.filter { !$0.records.isEmpty }.map(\.table),
      hasNames: !changes.names.isEmpty)
    let ordered = changes.ordered.filter { !$0.isEmpty }.map(\.table)
    let size = try files.byteCount(touchedBy: touched) + files.ordered.byteCount(of: ordered)
    return changes.bytes.count >= size / limits.filePart
  }

  // MARK: Small saves

  /// Looks up which of the changed rows the files have, unless what is pending answers that.
  ///
  /// - Throws: ``StoreError`` with `rowExists` for an insert of a row that is there.
  private func fileStates(_ changes: ChangeSet) throws -> [TableID: PendingRecords.FileState] {
    let pending = state.withLock { $0.pending }
    return try files.states(of: changes) { record, table in
      let known = pending.tables[table]?.rows[record.rowID]
      let isInFile = try known == nil && files.hasRecord(record.rowID, in: table)
      if record.kind == .insert, isInFile || known?.isDeleted == false {
        throw rowExists(record.rowID, try files.name(of: table))
      }
      return isInFile
    }
  }

  private func rowExists(_ rowID: UInt32, _ name: String) -> StoreError {
    StoreError(
      .rowExists,
      "The row is there already. The metadata row has gone back, or a program wrote the row by hand.",
      at: .init(path: location, className: name, rowID: rowID))
  }

  private func append(_ changes: ChangeSet, _ log: inout LoggedLog) throws {
    let fileStates = try fileStates(changes)
    let keys = try files.pendingKeys(adding: changes, to: state.withLock { $0.pending })
    let index = try changes.encodedIndex(
      tableName: { try files.name(of: $0) }, orderedName: { try files.ordered.name(of: $0) })
    try write(changes.kind, [index, changes.bytes], &log)
    state.withLock { state in
      state.pending.add(changes, over: fileStates, keys: keys)
      for table in changes.tables where !table.records.isEmpty {
        state.commits[table.table, default: 0] += 1
      }
    }
  }

  func write(
    _ kind: CommitLogFormat.Kind, _ payload: [[UInt8]], _ log: inout LoggedLog
  ) throws {
    guard log.writer != nil else { throw StoreError(.closed, "The log is closed.") }
    try synchronizeNames(&log)
    let payload = try sealed(payload, kind, log)
    do {
      try log.writer?.append(kind, payload)
    } catch {
      if log.writer?.hasFailed == true { log.failure = reopenNeeded(error) }
      throw log.failure ?? storeError(error)
    }
  }

  /// Brings the log's name to the disk, before the first save that would be lost without it.
  private func synchronizeNames(_ log: inout LoggedLog) throws {
    if log.areNamesSynced || durability == .none { return }
    do {
      try files.synchronizeNames()
      log.areNamesSynced = true
    } catch {
      log.failure = reopenNeeded(error)
      throw log.failure ?? error
    }
  }

  // MARK: Errors

  func reopenNeeded(_ error: any Error) -> StoreError {
    StoreError(
      .reopenNeeded,
      """
      The disk failed while a save was brought to it, so nobody knows what it holds. Close the \
      backend and open it again; what was saved before is safe.
      """,
      at: .init(path: location), underlying: error)
  }

  func storeError(_ error: any Error) -> any Error {
    (error as? SystemError).map { StoreError($0) } ?? error
  }
}
