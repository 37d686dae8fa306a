import Files

/// The content of a commit log, damaged or not, for information, checks and salvage.
///
/// ``CommitLogReader`` stops at damage and throws; this type also reads what follows.
package struct CommitLogScan {
  /// A whole batch.
  package struct Batch: Sendable {
    /// The offset of its header.
    package let offset: Int
    package let sequence: UInt64
    /// The epoch of its log.
    let epoch: UInt64
    let kind: CommitLogFormat.Kind
    /// Whether it is a checkpoint, which publishes new files.
    package var isCheckpoint: Bool { kind.isCheckpoint }
    package let payloadCount: Int
    /// Whether it was synced before anything after it was written.
    let isSynced: Bool
  }

  private let storage: StoreFile
  /// Opens the batches of an encrypted store.
  let sealing: Sealing?
  /// The logs before this one that are not in the files yet, oldest first.
  var earlier: [CommitLogScan] = []
  /// The earlier logs that are missing or truncated.
  var lostLogs: [LostLog] = []
  /// The size of the file, including room for later batches.
  package let fileSize: Int
  /// The batches in order, up to the first that is damaged or missing.
  package private(set) var batches: [Batch] = []
  /// The offset of the first batch that is damaged or missing.
  package private(set) var end = CommitLogFormat.firstBatch
  /// The whole batches after ``end``, which prove that an acknowledged save is damaged.
  package private(set) var laterBatches: [Batch] = []
  /// Whether headers after ``end`` describe more bytes than there are.
  private var hasOverlaps = false
  /// The number of bytes of a last batch that a crash cut off; its save was never acknowledged.
  package private(set) var tornByteCount: Int?
  /// Whether the file or the batches end earlier than the header states.
  package private(set) var isCutOff = false
  /// Whether the log has neither batches nor headers.
  package var isBlank: Bool { slot == nil && batches.isEmpty && !hasDamagedHeaders }
  /// Whether the headers at the beginning of the file are not those of the batches.
  package private(set) var hasDamagedHeaders = false
  /// The offset of the first changed byte among those without meaning, or nil.
  ///
  /// These are the bytes of the older header, and those between headers and batches.
  private var changedRoom: Int?
  /// The newest header.
  let slot: CommitLogSlot?
  /// The epoch of the batches; 0 if neither a header nor a batch states it.
  package private(set) var epoch: UInt64 = 0

  /// Reads a whole log.
  ///
  /// Complexity: linear in the size of the file.
  package init(_ storage: StoreFile, sealing: Sealing? = nil) throws(StoreError) {
    self.storage = storage
    self.sealing = sealing
    fileSize = try storage.size()
    let start = try storage.read(CommitLogFormat.firstBatch, at: 0)
    slot = try CommitLogSlot.read(start[...]).map(\.slot).max()
    let first = try batch(at: CommitLogFormat.firstBatch, epoch: nil)
    let epochOfFirst = first?.header.sequence == 0 ? first?.header.epoch : nil
    guard let epoch = [slot?.epoch, epochOfFirst].compactMap(\.self).max() else {
      hasDamagedHeaders = !start.allSatisfy { $0 == 0 }
      return
    }
    self.epoch = epoch
    hasDamagedHeaders = slot?.epoch != epoch
    changedRoom = try CommitLogSlot.changedRoom(start)
    try readBatches()
  }

  /// Whether an acknowledged save is damaged, or may be.
  package var isDamaged: Bool {
    hasDamagedHeaders || isCutOff || hasOverlaps || !laterBatches.isEmpty || !lostLogs.isEmpty
      || earlier.contains(where: \.isDamaged)
  }
  /// The number of bytes of all whole batches, up to the first that is damaged or missing.
  package var usedCount: Int { end - CommitLogFormat.firstBatch }
  /// The number of bytes in saves that are not in the class files yet.
  package var pendingCount: Int { pendingBatches.reduce(0) { $0 + $1.payloadCount } }

  /// Returns the files that checkpoints in the logs publish, in the order of the checkpoints.
  package func replacements() throws(StoreError) -> [Replacement] {
    var all: [Replacement] = []
    for log in earlier { all += try log.replacements() }
    for batch in batches where batch.isCheckpoint {
      all += try Replacement.decode(try payload(of: batch), batch.kind)
    }
    return all
  }

  /// Returns a save and the names of its tables, indexed by table number.
  package func changes(of batch: Batch) throws(StoreError) -> (
    changes: ChangeSet, tableNames: [String]
  ) {
    let (changes, names, _) = try allChanges(of: batch)
    return (changes, names)
  }

  /// Returns a save, and the names of its tables and ordered tables, indexed by number.
  package func allChanges(
    of batch: Batch
  ) throws(StoreError) -> (
    changes: ChangeSet, tableNames: [String], orderedNames: [OrderedTableName]
  ) {
    var names: [String] = []
    var orderedNames: [OrderedTableName] = []
    let changes = try ChangeSet(encoded: try payload(of: batch), kind: batch.kind) { name in
      names.append(name)
      return TableID(index: names.count - 1)
    } orderedTable: { name in
      orderedNames.append(name)
      return OrderedTableID(index: orderedNames.count - 1)
    }
    return (changes, names, orderedNames)
  }

  /// Returns the last commit of the store, as far as the log and the manifest show.
  ///
  /// A commit that is left out counts only by its number, so that the number is not used again.
  package func lastCommit(after manifest: StoreManifest?) throws(StoreError) -> Commit? {
    var last = manifest?.lastCommit
    var isLeftOut = false
    let chain = chain(fromCheckpoint: false)
    let marked = chain.followed.map { ($0, false) } + chain.leftOut.map { ($0, true) }
    for (batch, isBehindDamage) in marked where batch.namesCommit {
      let number = last?.number ?? 0
      isLeftOut = isLeftOut || isBehindDamage
      guard batch.kind.hasCommit || batch.isCheckpoint else {
        // The log is one that a checkpoint was about to empty.
        if let known = manifest?.epoch, known > batch.epoch { continue }
        last = Commit(unnamed: number + 1)
        continue
      }
      let commit = try readableCommit(of: batch)
      isLeftOut = isLeftOut || commit == nil
      let found = commit?.number ?? number + 1
      if found > number { last = isLeftOut ? Commit(unnamed: found) : commit }
    }
    return last
  }

  /// Returns the commit of a batch; nil if it is not what was saved.
  private func readableCommit(of batch: Batch) throws(StoreError) -> Commit? {
    do {
      return try Commit(payload: payload(of: batch))
    } catch {
      if error.refusal != nil { throw error }
      return nil
    }
  }

  // MARK: Reading

  private func payload(of batch: Batch) throws(StoreError) -> [UInt8] {
    if let log = earlier.first(where: { $0.epoch == batch.epoch }) {
      return try log.payload(of: batch)
    }
    let bytes = try storage.read(
      batch.payloadCount, at: batch.offset + CommitLogFormat.batchHeaderSize)
    guard let sealing else { return bytes }
    return try sealing.opened(
      bytes, batch.kind, epoch: epoch,
      sequence: batch.sequence, .init(offset: batch.offset))
  }

  private mutating func readBatches() throws(StoreError) {
    while let (header, batch) = try batch(at: end, epoch: epoch),
      header.sequence == UInt64(batches.count)
    {
      batches.append(batch)
      let padding = end + CommitLogFormat.batchHeaderSize + batch.payloadCount
      end = CommitLogFormat.end(ofBatchAt: end, payload: batch.payloadCount)
      if try storage.read(end - padding, at: padding).contains(where: { $0 != 0 }) {
        changedRoom = changedRoom ?? padding
      }
    }
    try findLaterBatches()
    if let slot, slot.epoch == epoch { isCutOff = fileSize < slot.size || end < slot.end }
    if !isDamaged { tornByteCount = try tornBytes() }
  }

  /// Returns the number of bytes that an opening would drop from the end of the log, or nil.
  private func tornBytes() throws(StoreError) -> Int? {
    guard var reader = try CommitLogReader(storage) else { return nil }
    while try reader.next() != nil {}
    let used = reader.isClosed ? try endOfRoomUsed() : end
    if case .torn(let bytes) = try reader.tail() { return max(bytes, used - end) }
    return used > end ? used - end : nil
  }

  /// Returns the end of the last nonzero byte after the batches of a log that was closed.
  private func endOfRoomUsed() throws(StoreError) -> Int {
    var used = end
    for start in stride(from: end, to: fileSize, by: Self.chunkSize) {
      let chunk = try storage.read(Self.chunkSize, at: start)
      if let last = chunk.lastIndex(where: { $0 != 0 }) { used = start + last + 1 }
    }
    return used
  }

  private static let chunkSize = 1 << 18

  /// Finds whole batches after the end, at every offset where one can begin.
  private mutating func findLaterBatches() throws(StoreError) {
    var start = end
    var effort = CommitLogFormat.Effort(size: fileSize - end)
    while start < fileSize, !hasOverlaps {
      let chunk = try storage.read(Self.chunkSize, at: start)
      for offset in stride(from: 0, to: chunk.count, by: CommitLogFormat.alignment)
      where chunk.count < offset + 16 || chunk[offset + 8] == UInt8(truncatingIfNeeded: epoch) {
        guard try mayBeLater(at: start + offset, &effort),
          let (_, batch) = try batch(at: start + offset, epoch: epoch)
        else { continue }
        laterBatches.append(batch)
      }
      start += Self.chunkSize
    }
  }

  /// Whether there is a header of a later, synced batch at an offset.
  private mutating func mayBeLater(
    at offset: Int, _ effort: inout CommitLogFormat.Effort
  ) throws(StoreError) -> Bool {
    if hasOverlaps { return false }
    let bytes = try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    guard let (header, _) = CommitLogFormat.BatchHeader.read(bytes),
      header.epoch == epoch, header.sequence > UInt64(batches.count), header.isSynced,
      let count = Int(exactly: header.length),
      count <= fileSize - offset - CommitLogFormat.batchHeaderSize
    else { return false }
    hasOverlaps = !effort.spend(count)
    return !hasOverlaps
  }

  /// Returns the possible checksums of batches of an epoch; all of them if its header is lost.
  private func orders(of epoch: UInt64) -> [BatchChecksum.Order] {
    if let slot, slot.epoch == epoch { return [slot.checksums] }
    return BatchChecksum.Order.allCases
  }

  /// Returns the whole batch at an offset, or nil.
  private func batch(
    at offset: Int, epoch: UInt64?
  ) throws(StoreError) -> (header: CommitLogFormat.BatchHeader, Batch)? {
    let bytes = try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    guard let (header, checksum) = CommitLogFormat.BatchHeader.read(bytes),
      epoch == nil || header.epoch == epoch, let count = Int(exactly: header.length),
      count <= fileSize - offset - CommitLogFormat.batchHeaderSize,
      let kind = CommitLogFormat.Kind(rawValue: header.kind)
    else { return nil }
    let payload = try storage.read(count, at: offset + CommitLogFormat.batchHeaderSize)
    let isRight = orders(of: header.epoch).contains { header.matches(checksum, payload, $0) }
    guard isRight else { return nil }
    let batch = Batch(
      offset: offset, sequence: header.sequence, epoch: header.epoch, kind: kind,
      payloadCount: count, isSynced: header.isSynced)
    return (header, batch)
  }
}

extension CommitLogScan {
  /// Returns findings about changed bytes that hold no save.
  package func roomFindings(path: String) -> [StoreFinding] {
    guard let changedRoom else { return [] }
    return [
      StoreFinding(
        .log,
        """
        Bytes of the log that belong to no save were changed. Other bytes may have been changed, \
        too. compact() rewrites the log.
        """,
        at: .init(path: path, offset: changedRoom))
    ]
  }

  /// Returns findings about the log.
  package func findings(path: String) -> [StoreFinding] {
    var findings = earlierFindings(path: path)
    if hasDamagedHeaders {
      findings.append(
        StoreFinding(
          .log, "The headers of the log are damaged: salvage the store.", at: .init(path: path)))
    }
    if isCutOff {
      findings.append(
        StoreFinding(
          .log,
          "The log ends at \(end), but was longer: restore a backup, or salvage the store.",
          at: .init(path: path, offset: end)))
    }
    if hasOverlaps {
      findings.append(
        StoreFinding(
          .log, "Batches overlap in the log: restore a backup, or salvage what is left.",
          at: .init(path: path, offset: end)))
    }
    if !laterBatches.isEmpty {
      findings.append(
        StoreFinding(
          .log,
          """
          Save number \(batches.count) in the log is damaged, and \(laterBatches.count) good ones \
          follow it. Restore a backup, or salvage what is left.
          """,
          at: .init(path: path, offset: end)))
    }
    return findings
  }
}
