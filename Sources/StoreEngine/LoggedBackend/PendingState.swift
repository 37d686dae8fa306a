// Not inside the backend, which is generic: the runtime would have to make these types, too, at
// each start of a process.

/// What readers of a ``LoggedBackend`` look at first.
struct PendingState: Sendable {
  /// What has been committed since folding has begun.
  var pending = PendingRecords()
  /// What is being brought to the files; nil most of the time.
  var folding: PendingRecords?
  /// How often each table was committed to.
  var commits = TableMap<UInt64>()
  /// The last commit that readers see.
  var lastCommit: Commit?
  var isClosed = false
  /// Why the log could not be folded the last time that it was tried.
  var foldFailure: FoldFailure?
  /// Set when only some of the files of a large save could be put in place.
  var failure: StoreError?

  /// Lets readers see a commit.
  mutating func add(_ one: CommitBatch.Prepared) {
    pending.add(one.queued.stored, over: one.fileStates, keys: one.keys)
    countCommit(one.queued.stored)
    lastCommit = one.commit
  }

  /// Takes note of which tables a commit has changed.
  mutating func countCommit(_ changes: ChangeSet) {
    for table in changes.tables where !table.records.isEmpty {
      commits.update(table.table, default: 0) { $0 += 1 }
    }
  }
}

// Two layers: what is pending is read first, then what is being folded, and the files behind both.
extension PendingState {
  /// Whether reads may go to the files at once.
  var hasNothingPending: Bool { pending.isEmpty && folding == nil }

  /// The pending bytes of a row, or nil when it is deleted; nil when nothing is pending.
  func record(_ rowID: UInt32, in table: TableID) -> PendingRecords.Bytes?? {
    pending.record(rowID, in: table) ?? folding?.record(rowID, in: table)
  }

  /// The pending bytes of a buffer, or nil when it is removed; nil when nothing is pending.
  func buffer(_ name: ExactName) -> PendingRecords.Bytes?? {
    pending.buffer(name) ?? folding?.buffer(name)
  }

  /// What is pending of an ordered table, all of it.
  func keys(of table: OrderedTableID) -> PendingKeys? {
    pending.ordered[table] ?? folding?.ordered[table]
  }

  /// The tables that something is pending of.
  var tables: Set<TableID> {
    Set(pending.tables.keys).union(folding?.tables.keys ?? [])
  }

  /// The ordered tables that something is pending of.
  var orderedTables: Set<OrderedTableID> {
    Set(pending.ordered.keys).union(folding?.ordered.keys.map(\.self) ?? [])
  }

  /// The ordered tables whose files count no more.
  var clearedTables: [OrderedTableID] {
    orderedTables.filter { table in
      pending.ordered[table]?.isCleared == true || folding?.ordered[table]?.isCleared == true
    }
  }

  /// By how many rows a table has grown since its file was made; nil when nothing is pending, or
  /// when the file has what is pending here.
  func growth(of table: TableID, fileGeneration: UInt64) -> Int? {
    let parts = [folding?.tables[table], pending.tables[table]].compactMap(\.self)
      .filter { $0.fileGeneration == fileGeneration }
    return parts.isEmpty ? nil : parts.reduce(0) { $0 + $1.countDifference }
  }

  /// Takes the state of files that others have put in place.
  mutating func begin(with pending: PendingRecords, _ last: Commit?, _ tables: [TableID]) {
    (self.pending, folding, lastCommit) = (pending, nil, last)
    // Nothing that was read before goes on.
    for table in tables { commits.update(table, default: 0) { $0 += 1 } }
  }

  /// Begins to fold what is pending.
  mutating func beginFolding() {
    assert(folding == nil, "what is pending is folded one after the other")
    folding = pending
    pending = PendingRecords()
  }
}

/// The log of a ``LoggedBackend``, as whoever commits has it.
struct LoggedLog: Sendable {
  var writer: CommitLogWriter?
  /// Where the opening has read to, in a log that is not written.
  var reader: CommitLogReader?
  /// The epochs of the logs that hold what is being folded.
  var earlierEpochs: [UInt64] = []
  /// The number of bytes in them.
  var earlierByteCount = 0
  /// Whether the room of such a log is kept for the next one.
  var hasSpare = false
  /// The last commit in them.
  var lastEarlierCommit: Commit?
  /// Whether this process, of several that share the store, brings what is pending to the files.
  var ownsFold = false
  /// What makes new files beside saves; nil while nothing does.
  var fold: FoldBeside?
  /// Whether the log's name is on the disk for sure.
  var areNamesSynced = true
  /// What the directory must hold.
  var manifest: StoreManifest?
  /// How many checkpoints there have been, large saves included.
  var checkpointCount = 0
  /// Whether the store remembers its commits; nil before the next commit looks.
  var history: KnownHistory?
  /// Whether the store is known to follow no other one.
  var isNoFollower = false
  /// Set once nobody knows any more what the disk holds.
  var failure: StoreError?
  /// After a checkpoint that failed, the log may grow this much further before the next try.
  var patience = 0
  /// Before this it is not tried again for a log that has reached its limit.
  var nextFold = ContinuousClock.now
}
