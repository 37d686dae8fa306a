/// What the commit log of a store says when the store is opened, and what that makes necessary.
struct Recovery<Files: RecordFiles> {
  /// The saves that are in the log only.
  private(set) var pending = PendingRecords()
  private let files: Files
  private let storage: (any Storage)?
  private let growth: Int
  private var reader: CommitLogReader?
  /// How the log ends.
  private(set) var tail = CommitLogReader.Tail.clean
  /// Whether the last checkpoint has been made good, so that the log can be emptied.
  private var isCheckpointed = false

  /// Reads the log, and finishes a checkpoint that was cut off.
  ///
  /// - Throws: ``StoreError`` with `damaged` when a save that was acknowledged is spoilt.
  init(_ files: Files, growth: Int = CommitLogWriter.growth) throws {
    self.files = files
    self.growth = growth
    storage = try files.openLog()
    guard let storage else { return }
    reader = try CommitLogReader(storage, minimumSize: growth)
    while let batch = try reader?.next() { try replay(batch) }
    if let reader { tail = try reader.tail() }
  }

  private mutating func replay(_ batch: CommitLogReader.Batch) throws {
    switch batch.kind {
    case .changes:
      let changes = try ChangeSet(encoded: batch.payload) { try files.table(named: $0) }
      let states = try files.states(of: changes) { try files.hasRecord($0.rowID, in: $1) }
      pending.add(changes, over: states)
    case .checkpoint:
      try files.publish(try Replacement.decode(batch.payload), durability: .full)
      // All that stood before is in the files.
      pending = PendingRecords()
      isCheckpointed = true
    }
  }

  /// The log, ready to go on.
  func writer(durability: Durability) throws -> CommitLogWriter? {
    guard let storage, !files.isReadOnly else { return nil }
    guard let reader else {
      try storage.resize(to: growth)
      // A log that has a header has its size, so that one that is shorter has been cut off.
      try storage.synchronize()
      try storage.write(CommitLogFormat.slot(epoch: 1), at: CommitLogFormat.slotSize)
      try storage.synchronize()
      return try CommitLogWriter(
        storage, durability: durability, epoch: 1, sequence: 0,
        offset: CommitLogFormat.firstBatch, growth: growth)
    }
    var writer = try CommitLogWriter(
      storage, durability: durability, epoch: reader.epoch, sequence: reader.sequence,
      offset: reader.offset, growth: growth)
    try writer.settle()
    if tail != .clean { try writer.clearTail() }
    if isCheckpointed && pending.isEmpty { try writer.removeAll() }
    return writer
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
