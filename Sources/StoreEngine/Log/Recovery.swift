/// The recovery of a store at its opening: it reads the commit log and acts on it.
struct Recovery<Format: ClassFileFormat> {
  /// The saves that are only in the log.
  private(set) var pending = PendingRecords()
  /// The last commit before the log.
  private var firstCommit: Commit?
  /// The last commits in the log, and what they have changed.
  private(set) var commits: [(commit: Commit, changes: ChangeSet)] = []
  /// The last commit in the log before these; nil if these are all.
  private var lastForgotten: Commit?
  /// The last commit before ``commits``; nil if there is none.
  var commitBefore: Commit? { lastForgotten ?? firstCommit }
  /// The last commit of the store; nil if there is none.
  var lastCommit: Commit? { commits.last?.commit ?? commitBefore }
  let files: ClassFiles<Format>
  private var namedTables = NamedTables()
  /// Opens the batches of an encrypted store.
  private let sealing: Sealing?
  private let storage: StoreFile?
  /// The logs before the last one that are still needed, oldest first.
  var earlierLogs: [EarlierLog] = []
  /// Whether the last log rests on saves that a power cut has taken, so that it is dropped.
  var isLastLogLost = false
  private let growth: LogGrowth
  /// The shared words of the processes that have the store open; nil if the store is not shared.
  private let joined: SharedFile?
  /// The reader at the end of the last log; nil if there is none.
  private(set) var reader: CommitLogReader?
  /// The end of the log.
  private(set) var tail = CommitLogReader.Tail.clean
  /// Whether the last checkpoint is complete, so that the log can be emptied.
  var isCheckpointed = false
  /// The files that checkpoints in the log have put in place.
  private var published: [Replacement] = []
  /// Errors for files that don't match the manifest, until a checkpoint in the log replaces them.
  private var strangers: [String: StoreError] = [:]
  /// The files of the manifest that are missing before the log is read.
  private var missing: [String] = []
  /// Whether the names of all files, including the log, have been synced.
  ///
  /// The process that created the log may have died before it did so, or the store may be a copy.
  /// If nothing is saved it does not matter.
  private(set) var areNamesSynced = false
  /// The required content of the directory, as this opening finds or creates it.
  private(set) var manifest: StoreManifest?
  let manifestOnDisk: StoreManifest?

  /// Reads the log, and finishes an interrupted checkpoint.
  ///
  /// - Throws: ``StoreError`` with `damaged` if an acknowledged save is damaged, or a file is
  ///   missing.
  init(
    _ files: ClassFiles<Format>, growth: LogGrowth = LogGrowth(), sealing: Sealing? = nil,
    joining joined: SharedFile? = nil
  ) throws(StoreError) {
    self.files = files
    self.joined = joined
    self.sealing = sealing
    self.growth = growth
    let manifestBytes = try files.manifest()
    manifestOnDisk = manifestBytes.flatMap { StoreManifest($0) }
    manifest = manifestOnDisk
    firstCommit = manifest?.lastCommit
    storage = try files.openLog()
    reader = if let storage { try CommitLogReader(storage) } else { nil }
    let isAlone = isAlone
    reader?.readTogether(isAlone: isAlone)
    if manifestBytes != nil { try checkLogOwner(isRead: false) }
    try checkKeyFileOwner()
    try findStrangers()
    do {
      if let reader { try replayEarlierLogs(before: reader) }
      while let batch = try reader?.next() {
        if isLastLogLost { try checkIsUnsynced(batch) } else { try replay(batch, of: storage) }
      }
      // At the end, once for each row and key, and all together.
      try pending.subtractRows { (rows, table) throws(StoreError) in
        try files.hasRecords(rows, in: table)
      }
      try pending.countKeys { (table) throws(StoreError) in
        try files.ordered.file(of: table).file.opened
      }
    } catch {
      // Replaying saves over the wrong files fails in arbitrary ways, so the wrong files are
      // reported.
      throw firstStranger ?? error
    }
    if let reader { tail = try reader.tail() }
    if manifestBytes != nil { try checkLogOwner(isRead: true) }
    try checkFilesExist()
    if let firstStranger { throw firstStranger }
  }

  /// Whether no other process can write to the logs.
  var isAlone: Bool { !files.isReadOnly && joined == nil }

  /// Throws if the log is of another store, or of another moment than the manifest.
  private func checkLogOwner(isRead: Bool) throws(StoreError) {
    let loss = StoreManifest.lossOfLog(
      manifestOnDisk, epoch: reader?.epoch, firstEpoch: reader?.slot.earlier?.firstEpoch,
      files.location, isCheckpointed: { !isRead || isCheckpointed })
    if let loss { throw loss }
  }

  /// Throws if the key file is that of another store.
  ///
  /// The key file of another store with the same passphrase would open, and this store would look
  /// empty.
  private func checkKeyFileOwner() throws(StoreError) {
    let names = (manifest?.files ?? []).filter { $0 != StoreDirectory.buffers }
    guard let sealing, !names.isEmpty, !names.contains(where: { sealing.title($0) != nil }) else {
      return
    }
    throw StoreError(
      .notAuthentic,
      """
      The key file or the manifest belongs to another store: none of the files matches it. Restore \
      both from a backup.
      """,
      at: .init(path: files.location + "/" + StoreDirectory.key))
  }

  private func checkFilesExist() throws(StoreError) {
    var all = manifest ?? StoreManifest(firstEpoch: 0)
    for replacement in published { all.add(replacement.name, replacement.mark) }
    // A checkpoint in the log may have put a missing file in place, or have lost one.
    let doubtful = missing + published.map(\.name)
    if doubtful.isEmpty { return }
    for name in all.neededFiles where doubtful.contains(name) {
      guard try files.hasAnyFile(name) else { throw StoreError.fileGone(name, in: files.location) }
    }
  }

  private var firstStranger: StoreError? { strangers.min { $0.key < $1.key }?.value }

  /// Finds the files that are missing or don't match the manifest.
  ///
  /// An index whose file is missing or does not match is not damage: it is reported as lost and
  /// empty. A checkpoint in the log may still restore it.
  private mutating func findStrangers() throws(StoreError) {
    guard let manifest else { return }
    for fileName in manifest.files {
      if let name = OrderedTableName(fileName: fileName), name.kind == .index {
        if try !hasOwnIndex(name, manifest.mark(of: fileName)) { try files.ordered.lose(name) }
      }
    }
    let (missing, found) = try manifest.differences(
      in: files.location, hasFile: files.hasAnyFile, mark: files.markOfAnyFile)
    self.missing = missing
    for error in found { strangers[error.location.className ?? ""] = error }
  }

  private func hasOwnIndex(_ name: OrderedTableName, _ mark: FileMark?) throws(StoreError) -> Bool {
    guard try files.ordered.hasFile(name) else { return false }
    if mark == nil { return true }
    return try files.ordered.mark(of: name.fileName) == mark
  }

  mutating func replay(
    _ batch: CommitLogReader.Batch, of log: StoreFile?
  ) throws(StoreError) {
    // The checkpoint was finished before the commits before it were read.
    if batch.kind == .earlierCheckpoint { return isCheckpointed = true }
    let payload = try payload(batch)
    switch batch.kind {
    case .changes, .orderedChanges, .commit:
      let (commit, changes) = try ChangeSet.decode(
        payload, batch.kind, table: files.table, orderedTable: files.ordered.table, &namedTables)
      let states = try changes.tables.map { (table) throws(StoreError) in
        PendingRecords.FileState(generation: try files.generation(of: table.table))
      }
      let keys = try files.preparedKeys(
        adding: changes, to: pending.ordered, isCounting: false)
      pending.add(changes, over: states, keys: keys)
      note(commit, changes, batch.epoch)
    case .checkpoint, .bulkCommit, .earlierCheckpoint:
      let replacements = try Replacement.decode(payload, batch.kind)
      if batch.kind.hasCommit { note(try Commit(payload: payload), ChangeSet(), batch.epoch) }
      try finish(replacements, of: batch, log)
      // Everything before this batch is in the files.
      pending = PendingRecords()
      isCheckpointed = true
    }
  }

  /// Adds a commit, unless the manifest covers it already; nil for one from before commit numbers.
  private mutating func note(_ commit: Commit?, _ changes: ChangeSet, _ epoch: UInt64) {
    let last = lastCommit?.number ?? 0
    guard let commit else {
      // The log is one that a checkpoint was about to empty.
      if let known = manifestOnDisk?.epoch, known > epoch { return }
      return append(Commit(unnamed: last + 1), changes)
    }
    guard commit.number > last else { return }
    if commit.number > last + 1 {
      // The manifest that recorded the commits before has been removed.
      (firstCommit, commits, lastForgotten) = (Commit(unnamed: commit.number - 1), [], nil)
    }
    append(commit, changes)
  }

  /// Adds a commit, and forgets the first ones if no journal remembers them.
  private mutating func append(_ commit: Commit, _ changes: ChangeSet) {
    commits.append((commit, changes))
    let count = CommitJournal.maximumCount
    guard commits.count == 2 * count else { return }
    lastForgotten = commits[count - 1].commit
    commits.removeFirst(count)
  }

  /// Puts the files of a checkpoint of earlier logs in place.
  mutating func finishEarlierCheckpoint(
    _ batch: CommitLogReader.Batch, of log: StoreFile?
  ) throws(StoreError) {
    let payload = try payload(batch)
    let replacements = try Replacement.decode(payload, batch.kind)
    try finish(replacements, of: batch, log)
    guard let commit = try Replacement.lastCommit(ofEarlierLogs: payload) else { return }
    if commit.number > firstCommit?.number ?? 0, commits.isEmpty { firstCommit = commit }
  }

  /// Puts the files of a checkpoint in place that are not there yet.
  ///
  /// A file must have the mark that the checkpoint gave it, under its new or its final name.
  private mutating func finish(
    _ replacements: [Replacement], of batch: CommitLogReader.Batch, _ log: StoreFile?
  ) throws(StoreError) {
    // Commits before the checkpoint have opened files that it replaces, and beside a writer the new
    // ones may have got their names since.
    if files.isReadOnly { files.forget(replacements) }
    var ready: [Replacement] = []
    for replacement in replacements {
      let found = replacement.mark == nil ? nil : try files.markOfNewFile(replacement)
      // The next checkpoint's file begins as a copy of this one, including its mark, under the same
      // new name. If the process died, that copy may be incomplete.
      if found == replacement.mark, try !isInPlace(replacement) {
        ready.append(replacement)
      } else {
        try checkIsFinished(replacement)
      }
      strangers[replacement.name] = nil
      manifest?.add(replacement.name, replacement.mark)
    }
    // The process that wrote the batch may have died before its sync. A power cut must not take the
    // batch and leave the files.
    if !ready.isEmpty, !files.isReadOnly, let log {
      try CommitLogWriter.settle(log, upTo: batch.end)
    }
    try files.publishAll(ready)
    if !files.isReadOnly { try files.synchronizeNames() }
    published += replacements
  }

  /// Whether a checkpoint's file already has its final name.
  private func isInPlace(_ replacement: Replacement) throws(StoreError) -> Bool {
    guard let mark = replacement.mark else { return false }
    return try files.markOfAnyFile(replacement.name) == mark
  }

  private func checkIsFinished(_ replacement: Replacement) throws(StoreError) {
    guard let expected = replacement.mark else { return }
    let found = try files.markOfAnyFile(replacement.name)
    if found == expected { return try files.ordered.find(replacement.name) }
    if let name = OrderedTableName(fileName: replacement.name), name.kind == .index {
      return try files.ordered.lose(name)
    }
    throw FileMark.stranger(
      expected: expected, found: found,
      at: .init(path: files.location, className: replacement.name))
  }

  private func payload(_ batch: CommitLogReader.Batch) throws(StoreError) -> [UInt8] {
    try batch.payload(openedBy: sealing, in: files.location)
  }

  /// Returns a writer that continues the log, and updates the manifest.
  mutating func writer(durability: Durability) throws(StoreError) -> CommitLogWriter? {
    guard let storage, !files.isReadOnly else { return nil }
    guard let reader else {
      let slot = try makeLog(storage)
      try updateManifest(slot.epoch, isEmptied: false)
      return try CommitLogWriter(
        storage, durability: durability, slot: slot, slotIndex: 0, sequence: 0,
        offset: CommitLogFormat.firstBatch, growth: growth)
    }
    var writer = try CommitLogWriter(
      storage, durability: durability, slot: reader.slot, slotIndex: reader.slotIndex,
      sequence: reader.sequence, offset: reader.offset, growth: growth)
    // Other processes have synced the batches up to the end that they announce.
    if !reader.isClosed, joined?.end(ofLog: reader.epoch) != reader.offset {
      try synchronizeNames()
      if durability != .none {
        for log in earlierLogs { try CommitLogWriter.settle(log.file, upTo: log.end) }
      }
      try writer.settle()
    }
    if isLastLogLost { try writer.forget(after: earlierLogs.last?.end ?? 0) }
    if tail != .clean { try writer.clearTail() }
    // Other processes may be reading the log.
    let isDone = isCheckpointed && pending.isEmpty && joined == nil
    try updateManifest(reader.epoch, isEmptied: isDone)
    if isDone { try writer.removeAll() }
    return writer
  }

  private mutating func synchronizeNames() throws(StoreError) {
    try files.synchronizeNames()
    areNamesSynced = true
  }

  private mutating func makeLog(_ storage: StoreFile) throws(StoreError) -> CommitLogSlot {
    try synchronizeNames()
    let size = min(growth.byteCount, CommitLogWriter.firstSize)
    let slot = CommitLogSlot(epoch: CommitLogSlot.randomEpoch(), size: size)
    try storage.resize(to: size)
    // A log with a header has the size it states, so a shorter one has been truncated.
    try storage.synchronize()
    try storage.write(slot.bytes, at: 0)
    try storage.synchronize()
    return slot
  }

  /// Creates a manifest if none can be read, and adds files created since.
  private mutating func updateManifest(_ epoch: UInt64, isEmptied: Bool) throws(StoreError) {
    // A checkpoint in a log that further logs follow covers none of these.
    let firstNeeded = earlierLogs.first?.epoch ?? epoch
    var new = if let manifestOnDisk { manifestOnDisk } else { try newManifest(firstNeeded) }
    // A checkpoint may have created no file; the log is emptied after it anyway.
    if isEmptied || !published.isEmpty {
      new.add(published, followedBy: isEmptied ? epoch + 1 : firstNeeded)
      if isEmptied { new.remove(files.emptyFiles(among: published.map(\.name))) }
    }
    if isEmptied { new.lastCommit = lastCommit }
    manifest = new
    if new == manifestOnDisk { return }
    // A manifest implies that there is a log, so the name of the log must be on the disk first.
    if !areNamesSynced { try synchronizeNames() }
    try files.setManifest(new.bytes, durability: .full)
    try files.synchronizeNames()
  }

  /// Returns a manifest of the existing files.
  private func newManifest(_ epoch: UInt64) throws(StoreError) -> StoreManifest {
    var manifest = StoreManifest(firstEpoch: epoch, epoch: epoch)
    let names = try files.filesForManifest() + files.ordered.names().map(\.fileName)
    for name in names { manifest.add(name, try files.markOfAnyFile(name)) }
    manifest.lastCommit = firstCommit
    return manifest
  }
}
