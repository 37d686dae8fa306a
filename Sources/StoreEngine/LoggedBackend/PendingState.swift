// Not inside the backend, which is generic: the runtime would have to make these types, too, at
// each start of a process.

/// What readers of a ``LoggedBackend`` look at first.
struct PendingState: Sendable {
  var pending = PendingRecords()
  /// How often each table was committed to.
  var commits: [TableID: UInt64] = [:]
  var isClosed = false
  /// Why the log could not be folded the last time that it was tried.
  var foldFailure: FoldFailure?
  /// Set when only some of the files of a large save could be put in place.
  var failure: StoreError?

  /// Lets readers see a commit.
  mutating func add(_ one: CommitBatch.Prepared) {
    pending.add(one.queued.stored, over: one.fileStates, keys: one.keys)
    countCommit(one.queued.stored)
  }

  /// Takes note of which tables a commit has changed.
  mutating func countCommit(_ changes: ChangeSet) {
    for table in changes.tables where !table.records.isEmpty {
      commits[table.table, default: 0] += 1
    }
  }
}

/// The log of a ``LoggedBackend``, as whoever commits has it.
struct LoggedLog: Sendable {
  var writer: CommitLogWriter?
  /// Whether the log's name is on the disk for sure.
  var areNamesSynced = true
  /// What the directory must hold.
  var manifest: StoreManifest?
  /// How many checkpoints there have been, large saves included.
  var checkpointCount = 0
  /// Set once nobody knows any more what the disk holds.
  var failure: StoreError?
  /// After a checkpoint that failed, the log may grow this much further before the next try.
  var patience = 0
  /// Before this it is not tried again for a log that has reached its limit.
  var nextFold = ContinuousClock.now
}
