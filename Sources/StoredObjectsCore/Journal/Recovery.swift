/// What the commit log of a store says when the store is opened, and what that makes necessary.
struct Recovery<Files: RecordFiles> {
  /// The saves that are in the log only.
  private(set) var pending = PendingRecords()
  private let files: Files
  /// What batches of an encrypted store are opened with.
  private let sealing: Sealing?
  private let storage: (any Storage)?
  private let growth: Int
  private var reader: CommitLogReader?
  /// How the log ends.
  private(set) var tail = CommitLogReader.Tail.clean
  /// Whether the last checkpoint has been made good, so that the log can be emptied.
  private var isCheckpointed = false
  /// The files that checkpoints in the log have put in place.
  private var published: [String] = []
  /// Whether the names of all files, the log's among them, have been brought to the disk.
  ///
  /// Whoever made the log may have died before that, or it is a copy. Where nothing is saved it does
  /// not matter.
  private(set) var areNamesSynced = false
  /// What the directory must hold, as this opening finds or makes it.
  private(set) var manifest: StoreManifest?

  /// Reads the log, and finishes a checkpoint that was cut off.
  ///
  /// - Throws: ``StoreError`` with `damaged` when a save that was acknowledged is spoilt, or a file
  ///   is gone.
  init(
    _ files: Files, growth: Int = CommitLogWriter.growth, sealing: Sealing? = nil
  ) throws {
    self.files = files
    self.sealing = sealing
    self.growth = growth
    let manifestBytes = try files.manifest()
    manifest = manifestBytes.flatMap { StoreManifest($0) }
    storage = try files.openLog()
    reader = try storage.flatMap { try CommitLogReader($0) }
    if manifestBytes != nil,
      let loss = StoreManifest.lossOfLog(manifest, epoch: reader?.epoch, files.location)
    {
      throw loss
    }
    try refuseForeignKeyFile()
    try loseMissingIndexes()
    while let batch = try reader?.next() { try replay(batch) }
    if let reader { tail = try reader.tail() }
    try refuseMissingFiles()
  }

  /// The key file of another store with the same passphrase opens, and with it this one would look empty.
  private func refuseForeignKeyFile() throws {
    let names = (manifest?.files ?? []).filter { $0 != StoreDirectory.buffers }
    guard let sealing, !names.isEmpty, !names.contains(where: { sealing.title($0) != nil }) else {
      return
    }
    throw StoreError(
      .notAuthentic,
      """
      The key file, or the manifest, is that of another store: none of the files is of this one. \
      Bring both back from a backup.
      """,
      at: .init(path: files.location + "/" + StoreDirectory.key))
  }

  private func refuseMissingFiles() throws {
    var all = manifest ?? StoreManifest(firstEpoch: 0)
    all.add(published)
    let missing = try all.missingFiles(in: files.location, hasFile: files.hasAnyFile)
    if let first = missing.first { throw first }
  }

  /// An index whose file is gone is no damage: it is empty, and said to be so.
  ///
  /// A checkpoint in the log may still bring it.
  private func loseMissingIndexes() throws {
    for fileName in manifest?.files ?? [] {
      guard let name = OrderedTableName(fileName: fileName), name.kind == .index,
        try !files.ordered.hasFile(name)
      else { continue }
      try files.ordered.lose(name)
    }
  }

  private mutating func replay(_ batch: CommitLogReader.Batch) throws {
    let payload = try payload(batch)
    switch batch.kind {
    case .changes, .orderedChanges:
      let changes = try ChangeSet(
        encoded: payload, kind: batch.kind, table: { try files.table(named: $0) },
        orderedTable: { try files.ordered.table($0) })
      let states = try files.states(of: changes) { try files.hasRecord($0.rowID, in: $1) }
      let keys = try files.pendingKeys(adding: changes, to: pending)
      pending.add(changes, over: states, keys: keys)
    case .checkpoint:
      let replacements = try Replacement.decode(payload)
      try files.publishAll(replacements)
      if !files.isReadOnly { try files.synchronizeNames() }
      published += replacements.map(\.name)
      // All that stood before is in the files.
      pending = PendingRecords()
      isCheckpointed = true
    }
  }

  private func payload(_ batch: CommitLogReader.Batch) throws -> [UInt8] {
    guard let sealing, let reader else { return batch.payload }
    // The reader stands behind the batch.
    return try sealing.opened(
      batch.payload, batch.kind, epoch: reader.epoch, sequence: reader.sequence - 1,
      .init(path: files.location + "/" + StoreDirectory.log, offset: batch.offset))
  }

  /// The log, ready to go on; and the manifest, up to date.
  mutating func writer(durability: Durability) throws -> CommitLogWriter? {
    guard let storage, !files.isReadOnly else { return nil }
    guard let reader else {
      let slot = try makeLog(storage)
      try updateManifest(slot.epoch)
      return try CommitLogWriter(
        storage, durability: durability, slot: slot, slotIndex: 0, sequence: 0,
        offset: CommitLogFormat.firstBatch, growth: growth)
    }
    var writer = try CommitLogWriter(
      storage, durability: durability, slot: reader.slot, slotIndex: reader.slotIndex,
      sequence: reader.sequence, offset: reader.offset, growth: growth)
    if !reader.isClosed {
      try synchronizeNames()
      try writer.settle()
    }
    if tail != .clean { try writer.clearTail() }
    try updateManifest(reader.epoch)
    if isCheckpointed && pending.isEmpty { try writer.removeAll() }
    return writer
  }

  private mutating func synchronizeNames() throws {
    try files.synchronizeNames()
    areNamesSynced = true
  }

  private mutating func makeLog(_ storage: any Storage) throws -> CommitLogSlot {
    try synchronizeNames()
    let size = min(growth, CommitLogWriter.firstSize)
    let slot = CommitLogSlot(epoch: CommitLogSlot.randomEpoch(), size: size)
    try storage.resize(to: size)
    // A log that has a header has its size, so that one that is shorter has been cut off.
    try storage.synchronize()
    try storage.write(slot.bytes, at: 0)
    try storage.synchronize()
    return slot
  }

  /// Makes a manifest where there is none that can be read, and adds files that have come since.
  private mutating func updateManifest(_ epoch: UInt64) throws {
    let old = manifest
    var new =
      try old
      ?? StoreManifest(
        firstEpoch: epoch,
        files: try files.filesForManifest() + files.ordered.names().map(\.fileName))
    new.add(published)
    manifest = new
    if new == old { return }
    // A manifest says that there is a log.
    if !areNamesSynced { try synchronizeNames() }
    try files.setManifest(new.bytes, durability: .full)
  }
}

extension StoreManifest {
  /// Why a store with a manifest has lost its log; nil when it has not.
  ///
  /// Any manifest, also one that is spoilt, says that there was a log.
  static func lossOfLog(
    _ manifest: StoreManifest?, epoch: UInt64?, _ path: String
  ) -> StoreError? {
    guard let epoch else {
      return StoreError(
        .damaged,
        """
        The commit log of this store is gone, or has been emptied: saves that were in no class file \
        yet are lost with it. Bring it back from a backup, or salvage the store.
        """,
        at: .init(path: path))
    }
    guard let manifest, !manifest.fits(epoch: epoch) else { return nil }
    return StoreError(
      .damaged, "The commit log is that of another store, or of another time of this one.",
      at: .init(path: path))
  }
}

extension Replacement {
  /// The payload of a checkpoint: a count, and for each file its new and its final name.
  static func encode(_ replacements: [Replacement]) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.writeCount(replacements.count)
    for replacement in replacements {
      buffer.write(replacement.newName)
      buffer.write(replacement.name)
    }
    return buffer.bytes
  }

  static func decode(_ payload: [UInt8]) throws(DataBufferError) -> [Replacement] {
    var buffer = DataBuffer(payload)
    var replacements: [Replacement] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      replacements.append(
        Replacement(newName: try buffer.readString(), name: try buffer.readString()))
    }
    return replacements
  }
}
