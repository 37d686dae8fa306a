import Files
import Locks
import Synchronization

extension LoggedBackend {
  /// Writes a change set, all of it or nothing, with the durability that the backend was opened
  /// with.
  ///
  /// Commits of several threads at the same time reach the disk together, see <doc:Commits>.
  /// Readers never wait for the disk: they see the changes as soon as they are durable.
  ///
  /// Complexity: linear in the change set, and one `fdatasync` for all commits of that moment. From
  /// time to time a checkpoint is added, whose cost is spread over the saves before it.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `conflict` (see ``CommitConflict``), `rowExists`,
  ///   `invalidName`, `invalidArgument`, `tooLarge`, `noSpace` (also when the log has reached its
  ///   limit, see ``foldFailure``), `ioError`, `damaged` or `closed`; in these cases nothing has
  ///   changed. With `reopenNeeded` the disk has failed, and whether the commit was made is known
  ///   only when the backend is opened again.
  @discardableResult
  public func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    try checkProcess()
    try request.check()
    if isScratch.load(ordering: .relaxed) { return try commitInMemory(changes, request) }
    guard !changes.isEmpty else {
      try log.withLock { (log) throws(StoreError) in
        try checkOpen()
        try checkWritable(log)
      }
      return nil
    }
    let commit = try naming { () throws(StoreError) in try encode(changes, request) }
    return try whileAlone { () throws(StoreError) in
      try measured { () throws(StoreError) in
        // If no save waits for the disk, waiting for each other would only take time.
        if durability != .full { return try write(commit) }
        return try queue.perform(commit, changes.bytes.count, request.follower, by: self)
      }
    }
  }

  /// Counts the time of a save, which other processes may show.
  private func measured(
    _ body: () throws(StoreError) -> Commit
  ) throws(StoreError) -> Commit {
    let start = ContinuousClock.now
    let commit = try body()
    activity.count(saveSince: start)
    return commit
  }

  /// Queues a commit, see ``CommitQueueing``.
  package func enqueue(
    _ changes: ChangeSet, _ request: CommitRequest, mayWait: Bool,
    _ completion: @escaping @Sendable (Result<Commit, StoreError>) -> Void
  ) throws(StoreError) {
    try checkProcess()
    try request.check()
    let commit = try naming { () throws(StoreError) in try encode(changes, request) }
    if durability != .full {
      return completion(
        .success(
          try whileAlone { () throws(StoreError) in
            try measured { () throws(StoreError) in try write(commit) }
          }))
    }
    if let sharing { try lockProcesses(sharing) }
    let start = ContinuousClock.now
    queue.enqueue(
      commit, changes.bytes.count, request.follower, by: self, mayWait: mayWait
    ) { [activity, sharing] outcome in
      if case .success = outcome { activity.count(saveSince: start) }
      sharing?.unlock()
      completion(outcome)
    }
  }

  /// Writes one commit, as ``write(_:_:)`` does; single saves are the most frequent.
  package func write(_ one: QueuedCommit) throws(StoreError) -> Commit {
    try log.withLock { (log) throws(StoreError) in
      // With a log to write, the backend is open.
      if log.writer == nil { try checkOpen() }
      try checkWritable(log)
      return try naming { () throws(StoreError) in
        try checkMayCommit(one, &log)
        try checkForConflicts(one, CommitBatch())
        try one.request.follower?.willWrite()
        if try isBulk(one.stored), let commit = try writeInBulk(one, &log) { return commit }
        try checkLogLimit(one.stored, &log)
        let prepared = try prepare(one, 0, CommitBatch(), &log)
        try write([(.commit, prepared.payload)], &log)
        state.withLock { $0.add(prepared) }
        coordinator.didCommit(prepared.commit, prepared.queued.changes, one.request)
        foldIfDue(&log, after: one.stored.bytes.count)
        return prepared.commit
      }
    }
  }

  /// Performs the work that needs no lock: seals the changes, and encodes the log's part of them.
  private func encode(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError)
    -> QueuedCommit
  {
    for change in changes.names { try files.check(bufferName: change.name) }
    let sealed = try sealed(changes)
    let stored = sealed ?? changes
    try stored.checkRecordSizes(files.maximumRecordByteCount, tableName: files.name)
    let commit = request.commit(number: 0, token: coordinator.journal.newToken())
    // With a history, the entry is added to the commit before it is encoded.
    let isLater = stored.bytes.count >= limits.bulkBytes || keepsHistory.load(ordering: .relaxed)
    return QueuedCommit(
      changes, sealed: sealed, request, commit,
      encoded: isLater ? nil : try encodedIndex(of: stored, commit))
  }

  private func encodedIndex(
    of stored: ChangeSet, _ commit: Commit, and entry: CommitEntry? = nil
  ) throws(StoreError) -> [UInt8] {
    try stored.encodedIndex(
      commit, and: entry, tableName: { (table) throws(StoreError) in try files.name(of: table) },
      orderedName: { (table) throws(StoreError) in try files.ordered.name(of: table) })
  }

  package func write(_ commits: [QueuedCommit], _ willWait: () -> Void) -> [CommitOutcome] {
    let outcomes = log.withLock { write(commits, &$0, willWait) }
    assert(outcomes.areInOrder, "commits have other numbers than their order says")
    return outcomes
  }

  private func write(
    _ queued: [QueuedCommit], _ log: inout LoggedLog, _ willWait: () -> Void
  ) -> [CommitOutcome] {
    var outcomes = [CommitOutcome?](repeating: nil, count: queued.count)
    var batch = CommitBatch()
    for (index, one) in queued.enumerated() {
      do {
        try checkOpen()
        try checkWritable(log)
        let commit = try naming { () throws(StoreError) in
          try add(one, index, &batch, &outcomes, &log)
        }
        outcomes[index] = commit.map { .success($0) }
      } catch {
        outcomes[index] = .failure(error)
        one.request.follower?.didFail(error)
      }
    }
    willWait()
    write(&batch, &outcomes, &log)
    return outcomes.map { $0 ?? .failure(closedError) }
  }

  /// Adds a commit to the batch, after writing the earlier commits of the batch if it depends on
  /// them.
  ///
  /// - Returns: The commit, if it has already been written.
  private func add(
    _ one: QueuedCommit, _ index: Int, _ batch: inout CommitBatch,
    _ outcomes: inout [CommitOutcome?], _ log: inout LoggedLog
  ) throws(StoreError) -> Commit? {
    try checkMayCommit(one, &log)
    try checkForConflicts(one, batch)
    let isBulk = try isBulk(one.stored)
    // An earlier commit of the batch may begin a history, whose entries contain the state before
    // them.
    let mustWait = log.history.map { $0.isKept && batch.overlapsKeys(of: one) } ?? true
    if isBulk || mustWait || batch.overlaps(one) || batch.precedesKeys(of: one)
      || foldFailure != nil
    {
      write(&batch, &outcomes, &log)
      if let failure = log.failure { throw failure }
    }
    try one.request.follower?.willWrite()
    if isBulk, let commit = try writeInBulk(one, &log) { return commit }
    try checkLogLimit(one.stored, &log)
    batch.append(try prepare(one, index, batch, &log))
    return nil
  }

  /// Writes a large commit without the log; returns nil if it has to be written to the log.
  private func writeInBulk(_ one: QueuedCommit, _ log: inout LoggedLog) throws(StoreError)
    -> Commit?
  {
    guard try foldBeforeBulk(&log) else { return nil }
    let commit = one.commit.numbered(coordinator.journal.lastNumber + 1)
    let (remembered, entry) = try remembering(one, commit, &log)
    let one = entry.map(remembered.containing) ?? remembered
    try commitInBulk(one.stored, commit, &log)
    coordinator.didCommit(commit, one.changes, one.request)
    return commit
  }

  private func checkForConflicts(_ one: QueuedCommit, _ batch: CommitBatch) throws(StoreError) {
    guard let basis = one.request.basis else { return }
    let conflict = coordinator.journal.conflict(
      of: one.changes, on: basis, besides: batch.commits.lazy.map(\.queued.changes))
    guard let conflict else { return }
    throw try conflict.named(table: userName, ordered: userName).error(path: location)
  }

  /// Returns the name of a table as users know it.
  func userName(of table: TableID) throws(StoreError) -> String {
    let name = try files.name(of: table)
    return openedName(name) ?? name
  }

  private func userName(of table: OrderedTableID) throws(StoreError) -> String {
    let name = try files.ordered.name(of: table)
    return (openedName(name) ?? name).fileName
  }

  /// Performs all steps that may fail before anything is written.
  private func prepare(
    _ one: QueuedCommit, _ index: Int, _ batch: CommitBatch, _ log: inout LoggedLog
  ) throws(StoreError) -> CommitBatch.Prepared {
    let commit = one.commit.numbered(
      coordinator.journal.lastNumber + UInt64(batch.commits.count) + 1)
    let (one, entry) = try remembering(one, commit, &log)
    let keys = try preparedKeys(adding: one.stored)
    let encoded =
      if entry == nil, let encoded = one.encoded {
        commit.numbering(encoded)
      } else {
        try encodedIndex(of: one.stored, commit, and: entry)
      }
    let bytes = one.stored.bytes
    let payload = if let entry { [encoded, bytes, entry.bytes] } else { [encoded, bytes] }
    return CommitBatch.Prepared(
      index: index, commit: commit, queued: one, fileStates: try fileStates(one.stored),
      keys: keys, entry: entry, payload: payload)
  }

  /// Prepares to add a save to the pending keys.
  ///
  /// The pending keys are released before that: what a copy shares would have to be copied.
  func preparedKeys(adding changes: ChangeSet) throws(StoreError) -> [PreparedKeys] {
    if changes.ordered.isEmpty { return [] }
    let (pending, folding) = state.withLock { ($0.pending.ordered, $0.folding?.ordered ?? [:]) }
    return try files.preparedKeys(adding: changes, to: pending, over: folding)
  }

  /// Writes the batch, and makes its commits visible.
  private func write(
    _ batch: inout CommitBatch, _ outcomes: inout [CommitOutcome?], _ log: inout LoggedLog
  ) {
    if batch.isEmpty { return }
    let commits = batch.take()
    do {
      try naming { () throws(StoreError) in
        try write(commits.map { (.commit, $0.payload) }, &log)
      }
    } catch {
      for one in commits {
        outcomes[one.index] = .failure(error)
        one.queued.request.follower?.didFail(error)
      }
      return
    }
    state.withLock { state in for one in commits { state.add(one) } }
    for one in commits {
      coordinator.didCommit(one.commit, one.queued.changes, one.queued.request)
    }
    for one in commits { outcomes[one.index] = .success(one.commit) }
    foldIfDue(&log, after: commits.reduce(0) { $0 + $1.queued.stored.bytes.count })
  }

  func checkWritable(_ log: LoggedLog) throws(StoreError) {
    if isReadOnly {
      throw StoreError.readOnly(at: location)
    }
    if let failure = log.failure { throw failure }
  }

  /// Whether new files cost less than the log and folding it later.
  private func isBulk(_ changes: ChangeSet) throws(StoreError) -> Bool {
    // A commit that skips the log is in no list of changes that other processes could read.
    guard changes.bytes.count >= limits.bulkBytes, sharing == nil else { return false }
    let touched = PendingFootprint(
      tables: changes.tables.filter { !$0.records.isEmpty }.map(\.table),
      hasNames: !changes.names.isEmpty)
    let ordered = changes.ordered.filter { !$0.isEmpty }.map(\.table)
    let size = try files.byteCounts(touchedBy: touched, ordered)
    return limits.isBulk(changes.bytes.count, over: size)
  }

  // MARK: Small saves

  /// Determines which of the changed rows the files contain, unless pending changes answer that.
  ///
  /// - Throws: ``StoreError`` with `rowExists` for an insert of a row that exists.
  func fileStates(
    _ changes: ChangeSet, isNew: Bool = true
  ) throws(StoreError) -> [PendingRecords.FileState] {
    try changes.tables.map { (table) throws(StoreError) in
      table.records.isEmpty ? .init() : try fileState(table, isNew)
    }
  }

  private func fileState(
    _ changes: ChangeSet.TableChanges, _ isNew: Bool
  ) throws(StoreError) -> PendingRecords.FileState {
    let table = changes.table
    // Only these two are copied.
    let (known, below) = state.withLock {
      ($0.pending.tables[table]?.rows, $0.folding?.tables[table]?.rows)
    }
    var found = PendingRecords.FileState(generation: try files.generation(of: table))
    func note(_ index: Int) throws(StoreError) {
      if isNew { try checkIsNew(changes.records[index], table) }
      found.note(rowOf: index, of: changes.records.count)
    }
    // A few rows are looked up one by one, which allocates nothing.
    let isSmall = changes.records.count < 8
    var unknown: [Int] = []
    for (index, record) in changes.records.enumerated() {
      if let entry = known?[record.rowID] {
        if isNew, !entry.isDeleted { try checkIsNew(record, table) }
      } else if let entry = below?[record.rowID] {
        // The file will contain the row once the changes that are being folded are in it.
        if !entry.isDeleted { try note(index) }
      } else if isSmall {
        if try files.withRecord(record.rowID, in: table, { _ in true }) ?? false { try note(index) }
      } else {
        unknown.append(index)
      }
    }
    if unknown.isEmpty { return found }
    let rows = unknown.map { changes.records[$0].rowID }
    for (index, isThere) in zip(unknown, try files.hasRecords(rows, in: table)) where isThere {
      try note(index)
    }
    return found
  }

  /// Refuses to insert a row that exists.
  private func checkIsNew(
    _ record: ChangeSet.RecordChange, _ table: TableID
  ) throws(StoreError) {
    if record.kind == .insert { throw rowExists(record.rowID, try files.name(of: table)) }
  }

  private func rowExists(_ rowID: UInt32, _ name: String) -> StoreError {
    StoreError(
      .rowExists,
      "The row exists already. The metadata row was set back, or a program wrote the row by hand.",
      at: .init(path: location, className: name, rowID: rowID))
  }

  /// Writes batches to the log: all of them, or none.
  func write(
    _ batches: [CommitLogWriter.Batch], _ log: inout LoggedLog
  ) throws(StoreError) {
    guard log.writer != nil else { throw StoreError(.closed, "The log is closed.") }
    try synchronizeNames(&log)
    let batches = try sealed(batches, log)
    sharing?.file.beginWriting()
    do {
      try log.writer?.append(batches)
      if sharing != nil, let writer = log.writer { publish(writer) }
    } catch {
      if log.writer?.hasFailed == true { log.failure = reopenNeeded(error) }
      throw log.failure ?? error
    }
  }

  /// Syncs the log's name before the first save that would be lost without it.
  private func synchronizeNames(_ log: inout LoggedLog) throws(StoreError) {
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

  func reopenNeeded(_ error: StoreError) -> StoreError {
    StoreError(
      .reopenNeeded,
      """
      The disk failed during a save, so its content is unknown. Close the backend and open it \
      again; earlier saves are safe.
      """,
      at: .init(path: location), underlying: error.refusal ?? error)
  }
}
