// Not nested in the backend, which is generic: the runtime would have to create these types, too,
// at each start of a process.

/// The state of a ``LoggedBackend`` that readers look at first.
struct PendingState: Sendable {
  /// The commits since folding began.
  var pending = PendingRecords()
  /// The changes that are being folded into the files; usually nil.
  var folding: PendingRecords?
  /// The number of commits of each table.
  var commits = TableMap<UInt64>()
  /// The last commit that readers see.
  var lastCommit: Commit?
  var isClosed = false
  /// The failure of the last attempt to fold the log.
  var foldFailure: FoldFailure?
  /// Set if only some of the files of a large save could be published.
  var failure: StoreError?

  /// Makes a commit visible to readers.
  mutating func add(_ one: CommitBatch.Prepared) {
    add(one.queued.stored, over: one.fileStates, keys: one.keys)
    lastCommit = one.commit
    if let entry = one.entry { pending.add(entry, over: folding?.ordered[entry.table]) }
  }

  /// Adds changes above those that are being folded.
  mutating func add(
    _ changes: ChangeSet, over files: [PendingRecords.FileState], keys: [PreparedKeys]
  ) {
    pending.add(changes, over: files, keys: keys, folding: folding?.ordered ?? [:])
    countCommit(changes)
  }

  /// Releases the pending changes.
  mutating func forgetPending() {
    pending = PendingRecords()
    if folding != nil { folding = nil }
  }

  /// Counts a commit for the tables that it has changed.
  mutating func countCommit(_ changes: ChangeSet) {
    for table in changes.tables where !table.records.isEmpty {
      commits.update(table.table, default: 0) { $0 += 1 }
    }
  }
}

// Two layers: pending changes are read first, then those that are being folded, and finally the
// files.
extension PendingState {
  /// Whether reads can use the files directly.
  var hasNothingPending: Bool { pending.isEmpty && folding == nil }

  /// Returns the pending bytes of a row, or nil inside for a deleted row; nil if nothing is
  /// pending.
  func record(_ rowID: UInt32, in table: TableID) -> PendingRecords.Bytes?? {
    pending.record(rowID, in: table) ?? folding?.record(rowID, in: table)
  }

  /// Returns the pending bytes of a buffer, or nil inside if it is removed; nil if nothing is
  /// pending.
  func buffer(_ name: ExactName) -> PendingRecords.Bytes?? {
    pending.buffer(name) ?? folding?.buffer(name)
  }

  /// Returns all pending changes of an ordered table.
  func keys(of table: OrderedTableID) -> PendingKeys? {
    pending.ordered[table] ?? folding?.ordered[table]
  }

  /// The tables with pending changes.
  var tables: Set<TableID> {
    Set(pending.tables.keys).union(folding?.tables.keys ?? [])
  }

  /// The ordered tables with pending changes.
  var orderedTables: Set<OrderedTableID> {
    Set(pending.ordered.keys).union(folding?.ordered.keys.map(\.self) ?? [])
  }

  /// The ordered tables whose files no longer count.
  var clearedTables: [OrderedTableID] {
    orderedTables.filter { table in
      pending.ordered[table]?.isCleared == true || folding?.ordered[table]?.isCleared == true
    }
  }

  /// Returns the number of rows by which a table has grown since its file was written; nil if
  /// nothing is pending, or if the file already contains the pending changes.
  func growth(of table: TableID, fileGeneration: UInt64) -> Int? {
    let parts = [folding?.tables[table], pending.tables[table]].compactMap(\.self)
      .filter { $0.fileGeneration == fileGeneration }
    return parts.isEmpty ? nil : parts.reduce(0) { $0 + $1.countDifference }
  }

  /// Sets the state for files that others have published.
  mutating func begin(with pending: PendingRecords, _ last: Commit?, _ tables: [TableID]) {
    (self.pending, folding, lastCommit) = (pending, nil, last)
    // No earlier scan can continue.
    for table in tables { commits.update(table, default: 0) { $0 += 1 } }
  }

  /// Begins to fold the pending changes.
  mutating func beginFolding() {
    assert(folding == nil, "what is pending is folded one after the other")
    folding = pending
    pending = PendingRecords()
  }
}

/// The log of a ``LoggedBackend``, for the code that commits.
struct LoggedLog: Sendable {
  var writer: CommitLogWriter?
  /// The reader at the position that the opening has reached, in a log that is not written.
  var reader: CommitLogReader?
  /// The epochs of the logs with the changes that are being folded.
  var earlierEpochs: [UInt64] = []
  /// The number of bytes in them.
  var earlierByteCount = 0
  /// Whether the file of such a log is kept for the next one.
  var hasSpare = false
  /// The last commit in them.
  var lastEarlierCommit: Commit?
  /// Whether this process, of several that share the store, folds the pending changes.
  var ownsFold = false
  /// The thread that writes new files while saves continue; nil if there is none.
  var fold: FoldBeside?
  /// Whether the log's name is known to be durable.
  var areNamesSynced = true
  /// The files that the directory must contain.
  var manifest: StoreManifest?
  /// The number of checkpoints, including large saves.
  var checkpointCount = 0
  /// Whether the store keeps a history; nil until the next commit looks.
  var history: KnownHistory?
  /// Whether the store is known to follow no other store.
  var isNoFollower = false
  /// Set when the state of the disk is no longer known.
  var failure: StoreError?
  /// The number of bytes by which the log may grow after a failed checkpoint before the next
  /// attempt.
  var patience = 0
  /// The time of the next attempt for a log that has reached its limit.
  var nextFold = ContinuousClock.now
}
