import Files
import Locks

extension LoggedBackend {
  /// Writes a change set, all of it or nothing, as durably as the backend was opened for.
  ///
  /// Readers wait for no disk: they see the changes the moment they are safe.
  ///
  /// Complexity: linear in the change set, and one `fdatasync`. Every so often a checkpoint comes on
  /// top, whose cost is spread over the saves before it.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `rowExists`, `invalidName`, `full`, `ioError`,
  ///   `damaged` or `closed`: nothing is changed then. With `reopenNeeded` the disk has failed, and
  ///   whether the save went through is known when the backend is opened again.
  public func commit(_ changes: ChangeSet) throws {
    try refuseFork()
    try log.withLock { log in
      try checkOpen()
      try checkWritable(log)
      for change in changes.names { try files.check(bufferName: change.name) }
      if changes.isEmpty { return }
      try naming { try commit(sealed(changes), &log) }
    }
  }

  private func commit(_ changes: ChangeSet, _ log: inout LoggedLog) throws {
    if try isBulk(changes) {
      try commitInBulk(changes, &log)
    } else {
      try append(changes, &log)
      foldIfDue(&log)
    }
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

  private func write(
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

  // MARK: Large saves, and checkpoints

  private func commitInBulk(_ changes: ChangeSet, _ log: inout LoggedLog) throws {
    if !state.withLock({ $0.pending.isEmpty }) { try checkpoint(&log) }
    let replacements = try files.prepareAll(changes, durability: durability) { [files] in
      try files.allKeys(of: changes)
    }
    try install(replacements, isAlsoPending: false, &log)
    state.withLock { state in
      for table in changes.tables where !table.records.isEmpty {
        state.commits[table.table, default: 0] += 1
      }
    }
  }

  /// Folds what is pending into the class files.
  func checkpoint(_ log: inout LoggedLog) throws {
    let pending = state.withLock { $0.pending }
    if pending.isEmpty { return }
    let replacements = try files.prepareAll(pending.merged(), durability: durability) {
      pending.ordered
    }
    try install(replacements, &log)
    state.withLock { $0.pending = PendingRecords() }
  }

  /// Says in the log that new files are ready, which is the moment of truth, and puts them in place.
  ///
  /// `isAlsoPending` says whether readers see the changes already, from what is pending.
  func install(
    _ replacements: [Replacement], isAlsoPending: Bool = true, _ log: inout LoggedLog
  ) throws {
    do {
      try write(.checkpoint, [Replacement.encode(replacements)], &log)
    } catch {
      if log.failure == nil { files.discard(replacements) }
      throw error
    }
    do {
      try publish(replacements, isAlsoPending)
      if durability != .none { try files.synchronizeNames() }
      try updateManifest(replacements, &log)
      try log.writer?.removeAll()
      log.checkpointCount += 1
    } catch {
      // The record stands: the next opening publishes.
      log.failure = reopenNeeded(error)
      throw log.failure ?? error
    }
  }

  /// Puts new files in place, all of them before anyone looks.
  ///
  /// Every reader takes the state's lock before he goes to a file. So whoever has found one table as a
  /// save has left it finds every other so from then on, and so does everyone he tells.
  private func publish(_ replacements: [Replacement], _ isAlsoPending: Bool) throws {
    try state.withLock { state in
      do {
        try files.publishAll(replacements)
      } catch {
        // Some files are new and some are old. Small saves are pending, and cover both; a large one
        // would be seen in part.
        if !isAlsoPending { state.failure = reopenNeeded(error) }
        throw error
      }
    }
  }

  /// Takes note of files that are there for the first time, before the log forgets them.
  private func updateManifest(_ replacements: [Replacement], _ log: inout LoggedLog) throws {
    guard var manifest = log.manifest else { return }
    manifest.add(replacements.map(\.name))
    if manifest == log.manifest { return }
    try files.setManifest(manifest.bytes, durability: durability)
    log.manifest = manifest
  }

  private func foldIfDue(_ log: inout LoggedLog) {
    guard let used = log.writer?.usedCount, used >= limits.logBytes + log.patience else { return }
    do {
      guard try used >= fileBytesTouchedByPending() / limits.filePart else { return }
      try checkpoint(&log)
      log.patience = 0
    } catch {
      // The save itself is safe in the log. Folding is tried again when the log has grown.
      log.patience = used
    }
  }

  private func fileBytesTouchedByPending() throws -> Int {
    try files.byteCount(touchedBy: state.withLock { $0.pending })
  }

  var shouldFoldAtClose: Bool {
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
  /// - Throws: ``StoreError`` with `readOnly`, `full`, `ioError`, `damaged` or `closed`; what was
  ///   saved stays saved, in the log.
  public func checkpoint() throws {
    try refuseFork()
    try log.withLock { log in
      try checkOpen()
      try checkWritable(log)
      try naming { try checkpoint(&log) }
    }
  }

  // MARK: Errors

  private func reopenNeeded(_ error: any Error) -> StoreError {
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
