import Files

/// A reader of a commit log, which also classifies the bytes after the last good batch.
struct CommitLogReader {
  /// The end of a log.
  enum Tail: Equatable {
    /// Only unused room follows the last batch.
    case clean
    /// A last batch that a crash or a power cut has cut off; its save was never acknowledged.
    case torn(bytes: Int)
  }

  /// A committed batch.
  struct Batch {
    let offset: Int
    let kind: CommitLogFormat.Kind
    let payload: [UInt8]
    /// Whether it was synced before anything after it was written.
    let isSynced: Bool
    let epoch: UInt64
    let sequence: UInt64

    var end: Int { CommitLogFormat.end(ofBatchAt: offset, payload: payload.count) }

    /// Returns the payload, opened if the store is encrypted.
    ///
    /// - Throws: ``StoreError`` with `notAuthentic`.
    func payload(
      openedBy sealing: Sealing?, in directory: String
    ) throws(StoreError) -> [UInt8] {
      guard let sealing else { return payload }
      return try sealing.opened(
        payload, kind, epoch: epoch, sequence: sequence,
        .init(path: directory + "/" + StoreDirectory.log, offset: offset))
    }
  }

  /// The newest valid slot.
  let slot: CommitLogSlot
  /// The index of the slot, 0 or 1.
  let slotIndex: Int
  var epoch: UInt64 { slot.epoch }
  let storage: StoreFile
  private let size: Int
  /// The bytes where the first batch begins, read together with the slots.
  private let firstHeader: [UInt8]
  private(set) var offset = CommitLogFormat.firstBatch
  private(set) var sequence: UInt64 = 0
  /// The offset up to which batches are known to be whole, and are read many at a time.
  private var wholeEnd = 0
  private var ahead = (offset: 0, bytes: [UInt8]())

  /// Reads the slots.
  ///
  /// - Returns: nil for a log that holds nothing, because it is new or its creation was
  ///   interrupted.
  /// - Throws: ``StoreError`` with `damaged` for a file that is not a commit log or is of a later
  ///   version, or an error of the storage.
  init?(_ storage: StoreFile) throws(StoreError) {
    self.storage = storage
    let bytes = try storage.read(
      CommitLogFormat.firstBatch + CommitLogFormat.batchHeaderSize, at: 0)
    // Read after the headers: another process makes the log grow before its header says so.
    size = try storage.size()
    let slots = bytes.prefix(CommitLogFormat.firstBatch)
    firstHeader = Array(bytes.dropFirst(CommitLogFormat.firstBatch))
    if slots.allSatisfy({ $0 == 0 }) {
      try Self.checkIsEmpty(storage, upTo: size)
      return nil
    }
    guard let newest = try CommitLogSlot.read(slots).max(by: { $0.slot < $1.slot }) else {
      throw StoreError(
        .damaged,
        "Neither of the log's two headers is valid: this is not a commit log, or it is damaged.")
    }
    (slot, slotIndex) = newest
    guard size >= slot.size else {
      throw StoreError(
        .damaged, "The log has been cut off: it had \(slot.size) bytes.", at: .init(offset: size))
    }
    try checkNewestHeader()
  }

  /// Verifies that a log without headers is empty, because only a new log is.
  private static func checkIsEmpty(_ storage: StoreFile, upTo size: Int) throws(StoreError) {
    for start in stride(from: CommitLogFormat.firstBatch, to: size, by: chunkSize) {
      guard try storage.read(chunkSize, at: start).allSatisfy({ $0 == 0 }) else {
        throw StoreError(.damaged, "Both of the log's headers are gone.", at: .init(offset: 0))
      }
    }
  }

  /// Verifies that the newest header is not lost, which would hide all saves after it.
  ///
  /// Batches of an epoch are written only once its header is on the disk.
  private func checkNewestHeader() throws(StoreError) {
    guard let (header, checksum) = CommitLogFormat.BatchHeader.read(firstHeader),
      header.epoch > epoch,
      // The lost header may have used other checksums.
      try isValid(header, checksum, at: offset, BatchChecksum.Order.allCases)
    else { return }
    throw StoreError(
      .damaged,
      "The header of epoch \(header.epoch) is damaged, and the log has saves of this epoch.",
      at: .init(offset: 0))
  }

  /// Whether the log was closed after the last batch that was read, and not written to since.
  var isClosed: Bool { slot.isClosed && offset == slot.end }

  /// Continues at the position of a writer; nil if another log has replaced its log in the file.
  init?(behind writer: CommitLogWriter) throws(StoreError) {
    try self.init(writer.storage)
    guard epoch == writer.epoch else { return nil }
    (offset, sequence) = (writer.offset, writer.sequence)
  }

  /// Returns a reader of the log as it is now, at the position of this reader.
  ///
  /// Returns nil if another log has replaced this one in the file.
  func continued() throws(StoreError) -> CommitLogReader? {
    guard var later = try CommitLogReader(storage), later.epoch == epoch else { return nil }
    (later.offset, later.sequence) = (offset, sequence)
    return later
  }

  /// Returns the next good batch, or nil after the last one.
  mutating func next() throws(StoreError) -> Batch? {
    try readAhead()
    guard let batch = try batch(at: offset, sequence) else { return nil }
    offset = batch.end
    sequence += 1
    return batch
  }

  /// Returns the end of the last batch that may be a checkpoint; nil if no batch may be.
  ///
  /// Only headers are read, and none is verified.
  func endOfLastCheckpoint() throws(StoreError) -> Int? {
    var (rest, end) = (self, Int?.none)
    while true {
      try rest.readAhead()
      guard let (header, _) = try rest.header(at: rest.offset), header.sequence == rest.sequence,
        let length = plausibleLength(header, at: rest.offset)
      else { return end }
      rest.offset = CommitLogFormat.end(ofBatchAt: rest.offset, payload: length)
      rest.sequence += 1
      // Batches of later versions are refused where they are read.
      if CommitLogFormat.Kind(rawValue: header.kind)?.isCheckpoint ?? true { end = rest.offset }
    }
  }

  private mutating func readAhead() throws(StoreError) {
    if offset < wholeEnd, offset >= ahead.offset + ahead.bytes.count {
      ahead = (offset, try storage.read(min(Self.chunkSize, wholeEnd - offset), at: offset))
    }
  }

  /// Allows reading the batches up to an offset together, because they no longer change.
  mutating func readTogether(to end: Int) { wholeEnd = end }

  /// Allows reading batches together, all of them if no other process writes to the log.
  ///
  /// After the end of a closed log, there is nothing to read.
  mutating func readTogether(isAlone: Bool) {
    wholeEnd = isAlone && !slot.isClosed ? size : slot.end
  }

  private func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    let start = offset - ahead.offset
    guard start >= 0, start + count <= ahead.bytes.count else {
      return try storage.read(count, at: offset)
    }
    return Array(ahead.bytes[start..<start + count])
  }

  private func batch(at offset: Int, _ sequence: UInt64) throws(StoreError) -> Batch? {
    guard let (header, checksum) = try header(at: offset), header.sequence == sequence,
      let length = plausibleLength(header, at: offset)
    else { return nil }
    let payload = try read(length, at: offset + CommitLogFormat.batchHeaderSize)
    guard payload.count == length, header.matches(checksum, payload, slot.checksums) else {
      return nil
    }
    guard let kind = CommitLogFormat.Kind(rawValue: header.kind) else {
      throw StoreError(
        .damaged,
        "A batch is of kind \(header.kind), which only a later version of this library can read.",
        at: .init(offset: offset))
    }
    return Batch(
      offset: offset, kind: kind, payload: payload, isSynced: header.isSynced, epoch: epoch,
      sequence: sequence)
  }

  private func header(
    at offset: Int
  ) throws(StoreError) -> (CommitLogFormat.BatchHeader, checksum: UInt32)? {
    let size = CommitLogFormat.batchHeaderSize
    let start = offset - ahead.offset
    let found: (CommitLogFormat.BatchHeader, checksum: UInt32)? =
      if offset == CommitLogFormat.firstBatch {
        CommitLogFormat.BatchHeader.read(firstHeader)
      } else if start >= 0, start + size <= ahead.bytes.count {
        ahead.bytes.lend(start..<start + size) { CommitLogFormat.BatchHeader.read($0) }
      } else {
        CommitLogFormat.BatchHeader.read(try storage.read(size, at: offset))
      }
    guard let found, found.0.epoch == epoch else { return nil }
    return found
  }

  private func plausibleLength(_ header: CommitLogFormat.BatchHeader, at offset: Int) -> Int? {
    guard let length = Int(exactly: header.length),
      length <= size - offset - CommitLogFormat.batchHeaderSize
    else { return nil }
    return length
  }

  /// Classifies the bytes after the last good batch, once ``next()`` has returned nil.
  ///
  /// A save is acknowledged only when its batch is on the disk, and only then the next one begins.
  /// So a crash can damage only the last batch. A *later* batch of the same epoch after a damaged
  /// one has another cause: acknowledged saves are damaged, which must be reported.
  ///
  /// - Throws: ``StoreError`` with `damaged` and the offset, or an error of the storage.
  func tail() throws(StoreError) -> Tail {
    guard offset >= slot.end else { throw spoiltSave("and more were saved") }
    if isClosed, try beginsWithRoom() { return .clean }
    var tornEnd = try tornBatchEnd()
    var candidate = offset
    var effort = CommitLogFormat.Effort(size: size - offset)
    while candidate < size {
      let chunk = try storage.read(Self.chunkSize, at: candidate)
      for start in stride(from: 0, to: chunk.count, by: CommitLogFormat.alignment)
      where mayBeHeader(chunk, start) {
        if let end = try endOfUnsyncedBatch(at: candidate + start, &effort) {
          tornEnd = max(tornEnd, end)
        }
      }
      candidate += Self.chunkSize
    }
    return tornEnd > offset ? .torn(bytes: tornEnd - offset) : .clean
  }

  /// Whether no batch begins after the last good one.
  ///
  /// The first save after an opening is synced together with the header that clears the closed
  /// flag. A power cut may leave only the save.
  func beginsWithRoom() throws(StoreError) -> Bool {
    let isFirst = offset == CommitLogFormat.firstBatch
    let bytes =
      isFirst ? firstHeader : try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    return bytes.allSatisfy { $0 == 0 }
  }

  /// Returns the end of the batch after the last good one; the current offset if there is none.
  private func tornBatchEnd() throws(StoreError) -> Int {
    let bytes = try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    guard let (found, _) = CommitLogFormat.BatchHeader.read(bytes) else { return offset }
    if offset == CommitLogFormat.firstBatch, isNoise(bytes, found.epoch) { return size }
    if found.epoch != epoch, try !hasSpoiltEpoch(at: offset) { return offset }
    guard let length = plausibleLength(found, at: offset) else { return size }
    return min(size, CommitLogFormat.end(ofBatchAt: offset, payload: length))
  }

  /// Whether the first header is neither unused room nor a header of an earlier epoch.
  ///
  /// Batches of all epochs begin here, so anything else means damage.
  private func isNoise(_ header: [UInt8], _ found: UInt64) -> Bool {
    if header.allSatisfy({ $0 == 0 }) { return false }
    return found > epoch || epoch - found > StoreManifest.epochLimit
  }

  private static let chunkSize = 1 << 18

  /// Whether the second word is the epoch, as a fast test.
  ///
  /// At the end of a chunk it always returns true.
  private func mayBeHeader(_ chunk: [UInt8], _ start: Int) -> Bool {
    guard start + 16 <= chunk.count else { return true }
    for byte in 0..<8
    where chunk[start + 8 + byte] != UInt8(truncatingIfNeeded: epoch >> UInt64(8 * byte)) {
      return false
    }
    return true
  }

  /// Returns the end of a whole later batch that was never synced, or nil.
  ///
  /// Without a sync between two saves, a power cut may lose the earlier one including its header.
  /// The later one must be dropped, too: otherwise it would follow the next save that gets the lost
  /// number.
  ///
  /// - Throws: ``StoreError`` with `damaged` if the batch was synced.
  private func endOfUnsyncedBatch(
    at candidate: Int, _ effort: inout CommitLogFormat.Effort
  ) throws(StoreError) -> Int? {
    guard let (header, checksum) = try header(at: candidate), header.sequence > sequence,
      let length = plausibleLength(header, at: candidate)
    else { return nil }
    guard effort.spend(length) else { throw spoiltSave("and batches that overlap follow it") }
    guard try isValid(header, checksum, at: candidate, [slot.checksums]) else { return nil }
    guard header.isSynced else {
      return CommitLogFormat.end(ofBatchAt: candidate, payload: length)
    }
    throw spoiltSave("and good ones follow it")
  }

  private func spoiltSave(_ reason: String) -> StoreError {
    StoreError(
      .damaged,
      """
      The save with the number \(sequence) is damaged in the log, \(reason). Salvage what is left; \
      a backup may have more.
      """,
      at: .init(offset: offset))
  }

  /// Whether the next batch is whole except that its epoch or sequence number is damaged.
  ///
  /// Otherwise it would be taken for a batch of an earlier epoch.
  private func hasSpoiltEpoch(at offset: Int) throws(StoreError) -> Bool {
    let bytes = try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    guard let (found, checksum) = CommitLogFormat.BatchHeader.read(bytes) else { return false }
    var header = found
    (header.epoch, header.sequence) = (epoch, sequence)
    return try isValid(header, checksum, at: offset, [slot.checksums])
  }

  private func isValid(
    _ header: CommitLogFormat.BatchHeader, _ checksum: UInt32, at offset: Int,
    _ orders: [BatchChecksum.Order]
  ) throws(StoreError) -> Bool {
    guard let length = plausibleLength(header, at: offset) else { return false }
    let payload = try storage.read(length, at: offset + CommitLogFormat.batchHeaderSize)
    return payload.count == length && orders.contains { header.matches(checksum, payload, $0) }
  }
}
