import Files
import Locks
import Synchronization

// Other processes append to the same log. A word in shared memory says whether there are new
// commits, which are read from the log. Before a commit the log is also read if the words show that
// a process died while it wrote, or if they are inconsistent.
extension LoggedBackend {
  /// Reads the commits of other processes, if there are any.
  ///
  /// Every read that sees committed data calls this first. Without new commits it reads one word.
  @inline(__always)
  func refresh() throws(StoreError) { if hasNews { try catchUp() } }

  /// Whether other processes may have committed since the last look.
  @inline(__always)
  private var hasNews: Bool {
    guard let version else { return false }
    return version.load() != knownVersion.load(ordering: .relaxed)
  }

  /// Sets the version that this process knows.
  func know(_ version: UInt64) { knownVersion.store(version, ordering: .releasing) }

  private func catchUp() throws(StoreError) {
    guard let sharing else { return }
    try checkProcess()
    // A listener that handles a commit may read, and must not come here again.
    if catchingUp.load(ordering: .relaxed) == currentThread() { return }
    let isDone = try log.withLock { (log) throws(StoreError) in
      try naming { () throws(StoreError) in
        try readNews(&log, sharing.file, isAlone: false)
      }
    }
    // New files were published; read them under the lock, while no other process publishes files.
    if !isDone { try whileAlone {} }
  }

  /// Runs a closure while no other process commits, after reading all their commits.
  func whileAlone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let sharing else { return try body() }
    try lockProcesses(sharing)
    defer { sharing.unlock() }
    return try body()
  }

  /// Keeps other processes from committing until the lock is released.
  func lockProcesses(_ sharing: ProcessLock) throws(StoreError) {
    try checkProcess()
    try sharing.lock { () throws(StoreError) in
      try log.withLock { (log) throws(StoreError) in
        try naming { () throws(StoreError) in
          _ = try readNews(&log, sharing.file, isAlone: true)
        }
      }
    }
  }

  /// Reads the log for commits of other processes.
  ///
  /// - Parameters:
  ///   - log: The log as this process knows it.
  ///   - shared: The words in shared memory.
  ///   - isAlone: Whether this process has the commit lock. With it, the log decides if a process
  ///     died while it wrote; otherwise the words decide.
  /// - Returns: false if the state can only be determined with the lock.
  /// - Throws: ``StoreError`` with `ioError` or `damaged`.
  private func readNews(
    _ log: inout LoggedLog, _ shared: SharedFile, isAlone: Bool
  ) throws(StoreError) -> Bool {
    let looksIntoLog = isAlone && !shared.isSettled
    if isAlone, !looksIntoLog, !hasNews { return true }
    catchingUp.store(currentThread(), ordering: .relaxed)
    defer { catchingUp.store(0, ordering: .relaxed) }
    (log.history, log.isNoFollower) = (nil, false)
    // Load the version before reading the log: later commits are found the next time.
    let version = shared.versionWord.load()
    while log.failure == nil, let writer = log.writer {
      let end = shared.end(ofLog: writer.epoch)
      let isRead = try readBatches(behind: writer, &log, upTo: looksIntoLog ? nil : end)
      if isRead, try looksIntoLog ? isLatest(log) : end != nil {
        if looksIntoLog { try settleTail(&log, end) }
        break
      }
      if isRead, try followLog(&log) { continue }
      guard isAlone else { return false }
      try reload(&log, shared)
      break
    }
    know(version)
    if looksIntoLog, log.failure == nil, let writer = log.writer {
      // Everything that was found is on the disk.
      know(shared.publishAgain(epoch: writer.epoch, end: writer.offset))
    }
    return true
  }

  /// Reads the next batches of a log; returns false at a batch that publishes files.
  private func readBatches(
    behind writer: CommitLogWriter, _ log: inout LoggedLog, upTo end: Int?
  ) throws(StoreError) -> Bool {
    guard var reader = try CommitLogReader(behind: writer) else { return false }
    if let end { reader.readTogether(to: end) }
    while reader.offset < end ?? .max, let batch = try reader.next() {
      guard !batch.kind.isCheckpoint, try take(batch) else { return false }
    }
    if reader.offset != writer.offset { log.writer = try log.writer?.continued(behind: reader) }
    return true
  }

  /// Applies a commit of another process; returns false if commits before it are unknown.
  private func take(_ batch: CommitLogReader.Batch) throws(StoreError) -> Bool {
    let payload = try batch.payload(openedBy: sealing, in: location)
    let last = coordinator.journal.lastNumber
    let commit =
      batch.kind.hasCommit ? try Commit(payload: payload) : Commit(unnamed: last + 1)
    if commit.number <= last { return true }
    guard commit.number == last + 1 else { return false }
    let stored = try ChangeSet(
      encoded: payload, kind: batch.kind, table: files.table, orderedTable: files.ordered.table)
    let changes = try opened(stored)
    let keys = try preparedKeys(adding: stored)
    let prepared = CommitBatch.Prepared(
      index: 0, commit: commit,
      queued: QueuedCommit(
        changes, sealed: sealing == nil ? nil : stored, CommitRequest(), commit, encoded: nil),
      fileStates: try fileStates(stored, isNew: false), keys: keys, entry: nil, payload: [])
    state.withLock { $0.add(prepared) }
    tell(commit, changes)
    return true
  }

  /// Notifies all stores of a commit of another process.
  private func tell(_ commit: Commit, _ changes: ChangeSet) {
    coordinator.learnMetadata(in: changes)
    var request = CommitRequest()
    request.isForeign = true
    coordinator.didCommit(commit, changes, request)
  }

  // MARK: The log

  /// Whether the known log is still the present one.
  private func isLatest(_ log: LoggedLog) throws(StoreError) -> Bool {
    let directory = files.ordered.directory
    let file = try directory.file(StoreDirectory.log)
    let named = try systemErrors(at: file.path) { try FileStatus.find(file)?.identity }
    return try named == log.writer?.storage.identity()
  }

  /// Continues in the log after this one, which another process moves to the files.
  private func followLog(_ log: inout LoggedLog) throws(StoreError) -> Bool {
    guard let writer = log.writer, log.earlierEpochs.isEmpty, log.fold == nil,
      state.withLock({ $0.folding == nil }), let file = try files.openLog(),
      let reader = try CommitLogReader(file), reader.epoch == writer.epoch + 1,
      reader.slot.earlier?.end == writer.offset
    else { return false }
    log.writer = try CommitLogWriter(
      file, durability: durability, slot: reader.slot, slotIndex: reader.slotIndex, sequence: 0,
      offset: CommitLogFormat.firstBatch, growth: limits.usedLogGrowth)
    (log.earlierEpochs, log.earlierByteCount) = ([writer.epoch], writer.usedCount)
    log.lastEarlierCommit = coordinator.journal.last
    state.withLock { $0.beginFolding() }
    return true
  }

  /// Repairs the log after a process that died in the middle of a commit.
  private func settleTail(_ log: inout LoggedLog, _ published: Int?) throws(StoreError) {
    guard let writer = log.writer else { return }
    if published != writer.offset {
      // The batch is in the log, but may not be on the disk.
      try CommitLogWriter.settle(writer.storage, upTo: writer.offset)
    }
    guard let reader = try CommitLogReader(behind: writer), try !reader.beginsWithRoom() else {
      return
    }
    if try reader.tail() != .clean {
      writer.storage.noteForeignWrite()
      try log.writer?.clearTail()
    }
  }

  /// Announces the end of the log to other processes.
  func publish(_ writer: CommitLogWriter) {
    if let sharing { know(sharing.file.publish(epoch: writer.epoch, end: writer.offset)) }
  }

  // MARK: New files

  /// Reads the log and the files as an opening does, after others have published files.
  private func reload(_ log: inout LoggedLog, _ shared: SharedFile) throws(StoreError) {
    abandonFold(&log)
    let tables = coordinator.knownTables.map(\.id)
    let recovery = try state.withLock { (state) throws(StoreError) in
      try files.reopen()
      var recovery = try Recovery(
        files, growth: limits.usedLogGrowth, sealing: sealing, joining: shared)
      log.writer = try recovery.writer(durability: durability)
      files.need(recovery.manifest?.files ?? [])
      try files.ordered.need(recovery.manifest?.files ?? [])
      try files.hold()
      state.begin(with: recovery.pending, recovery.lastCommit, tables)
      return recovery
    }
    log.earlierEpochs = recovery.earlierLogs.map(\.epoch)
    log.earlierByteCount = recovery.earlierLogs.reduce(0) { $0 + $1.end }
    (log.manifest, log.lastEarlierCommit) = (recovery.manifest, nil)
    try tell(recovery)
  }

  /// Notifies all stores of the commits that were found, and of any commits they have missed.
  private func tell(_ recovery: Recovery<Format>) throws(StoreError) {
    for one in recovery.commits where one.commit.number > coordinator.journal.lastNumber {
      if one.commit.number > coordinator.journal.lastNumber + 1 {
        try loseTrack(upTo: Commit(unnamed: one.commit.number - 1))
      }
      tell(one.commit, try opened(one.changes))
    }
    if let last = recovery.lastCommit, last.number > coordinator.journal.lastNumber {
      try loseTrack(upTo: last)
    }
  }

  private func loseTrack(upTo last: Commit) throws(StoreError) {
    try coordinator.loseTrack(upTo: last) { (table) throws(StoreError) in
      try knownMetadata(of: table)
    }
  }

  /// Returns the metadata row of a table without reading new commits of other processes.
  ///
  /// The result is nil if there is no readable row.
  func knownMetadata(of table: TableID) throws(StoreError) -> ClassMetadata? {
    try knownRecord(ClassMetadata.rowID, table).flatMap { ClassMetadata(row: $0) }
  }
}
