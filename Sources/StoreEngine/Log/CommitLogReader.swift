/// Reads a commit log from its first batch to its last good one, and classifies the bytes after it.
struct CommitLogReader {
  /// How a log ends.
  enum Tail: Equatable {
    /// Behind the last batch there is only room.
    case clean
    /// A last batch that a crash or a power cut has cut off; its save was never acknowledged.
    case torn(bytes: Int)
  }

  /// A batch as it was committed.
  struct Batch {
    let offset: Int
    let kind: CommitLogFormat.Kind
    let payload: [UInt8]
    /// Whether it was brought to the disk before anything behind it was written.
    let isSynced: Bool
    let epoch: UInt64
    let sequence: UInt64

    var end: Int { CommitLogFormat.end(ofBatchAt: offset, payload: payload.count) }

    /// The saved change set, opened if the store is encrypted.
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
  /// Where it is: 0 or 1.
  let slotIndex: Int
  var epoch: UInt64 { slot.epoch }
  let storage: StoreFile
  private let size: Int
  /// What stands where the first batch begins, read together with the slots.
  private let firstHeader: [UInt8]
  private(set) var offset = CommitLogFormat.firstBatch
  private(set) var sequence: UInt64 = 0
  /// Up to where batches are surely whole, and are read many at a time.
  private var wholeEnd = 0
  private var ahead = (offset: 0, bytes: [UInt8]())

  /// Reads the slots.
  ///
  /// - Returns: nil for a log that holds nothing: it is new, or was never finished being made.
  /// - Throws: ``StoreError`` with `damaged` for a file that is no commit log, or of a later
  ///   version; what the storage throws.
  init?(_ storage: StoreFile) throws(StoreError) {
    self.storage = storage
    let bytes = try storage.read(
      CommitLogFormat.firstBatch + CommitLogFormat.batchHeaderSize, at: 0)
    // Behind the headers: another process lets the log grow before it says so.
    size = try storage.size()
    let slots = bytes.prefix(CommitLogFormat.firstBatch)
    firstHeader = Array(bytes.dropFirst(CommitLogFormat.firstBatch))
    if slots.allSatisfy({ $0 == 0 }) {
      try Self.checkIsEmpty(storage, upTo: size)
      return nil
    }
    guard let newest = try CommitLogSlot.read(slots).max(by: { $0.slot < $1.slot }) else {
      throw StoreError(
        .damaged, "Neither of the log's two headers is valid: this is no commit log, or a wreck.")
    }
    (slot, slotIndex) = newest
    guard size >= slot.size else {
      throw StoreError(
        .damaged, "The log has been cut off: it had \(slot.size) bytes.", at: .init(offset: size))
    }
    try checkNewestHeader()
  }

  /// Makes sure that a log without headers is empty: it is new only then.
  private static func checkIsEmpty(_ storage: StoreFile, upTo size: Int) throws(StoreError) {
    for start in stride(from: CommitLogFormat.firstBatch, to: size, by: chunkSize) {
      guard try storage.read(chunkSize, at: start).allSatisfy({ $0 == 0 }) else {
        throw StoreError(.damaged, "Both of the log's headers are gone.", at: .init(offset: 0))
      }
    }
  }

  /// Makes sure that the newest header has not been lost, which would hide all saves behind it.
  ///
  /// Batches of an epoch are written only once its header is on the disk.
  private func checkNewestHeader() throws(StoreError) {
    guard let (header, checksum) = CommitLogFormat.BatchHeader.read(firstHeader),
      header.epoch > epoch,
      // That header may have had the other checksums.
      try isValid(header, checksum, at: offset, BatchChecksum.Order.allCases)
    else { return }
    throw StoreError(
      .damaged, "The header of epoch \(header.epoch) is damaged, and saves of it are in the log.",
      at: .init(offset: 0))
  }

  /// Whether the log was closed behind the batch that was read last, and not written to since.
  var isClosed: Bool { slot.isClosed && offset == slot.end }

  /// The log of a writer as it is now, from where that has got to; nil when another log has taken
  /// its place in the file.
  init?(behind writer: CommitLogWriter) throws(StoreError) {
    try self.init(writer.storage)
    guard epoch == writer.epoch else { return nil }
    (offset, sequence) = (writer.offset, writer.sequence)
  }

  /// The log as it is now, from where this reader has got to; nil when another log has taken its
  /// place in the file.
  func continued() throws(StoreError) -> CommitLogReader? {
    guard var later = try CommitLogReader(storage), later.epoch == epoch else { return nil }
    (later.offset, later.sequence) = (offset, sequence)
    return later
  }

  /// The next good batch, or nil behind the last one.
  mutating func next() throws(StoreError) -> Batch? {
    if offset < wholeEnd, offset >= ahead.offset + ahead.bytes.count {
      ahead = (offset, try storage.read(min(Self.chunkSize, wholeEnd - offset), at: offset))
    }
    guard let batch = try batch(at: offset, sequence) else { return nil }
    offset = batch.end
    sequence += 1
    return batch
  }

  /// Lets the batches up to an offset be read together: nobody changes them any more.
  mutating func readTogether(to end: Int) { wholeEnd = end }

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
    guard payload.count == length, header.checksum([payload], slot.checksums) == checksum else {
      return nil
    }
    guard let kind = CommitLogFormat.Kind(rawValue: header.kind) else {
      throw StoreError(
        .damaged, "A batch is of kind \(header.kind), which only a later version knows.",
        at: .init(offset: offset))
    }
    return Batch(
      offset: offset, kind: kind, payload: payload, isSynced: header.isSynced, epoch: epoch,
      sequence: sequence)
  }

  private func header(
    at offset: Int
  ) throws(StoreError) -> (CommitLogFormat.BatchHeader, checksum: UInt32)? {
    let bytes =
      offset == CommitLogFormat.firstBatch
      ? firstHeader : try read(CommitLogFormat.batchHeaderSize, at: offset)
    guard let found = CommitLogFormat.BatchHeader.read(bytes), found.0.epoch == epoch else {
      return nil
    }
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
  /// A save is acknowledged only when its batch is on the disk, and then the next one begins. So a
  /// crash can spoil the last batch only. A *later* batch of the same epoch behind a spoilt one
  /// means that something else has: acknowledged saves are damaged, and that must not go unsaid.
  ///
  /// - Throws: ``StoreError`` with `damaged` and the offset; what the storage throws.
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

  /// Whether no batch was begun behind the last good one.
  ///
  /// The first save of an opening is synced together with the header that takes back that the log
  /// is closed: of the two a power cut may leave the save.
  func beginsWithRoom() throws(StoreError) -> Bool {
    let isFirst = offset == CommitLogFormat.firstBatch
    let bytes =
      isFirst ? firstHeader : try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    return bytes.allSatisfy { $0 == 0 }
  }

  /// Where the batch ends that begins behind the last good one; the same place when none does.
  private func tornBatchEnd() throws(StoreError) -> Int {
    let bytes = try storage.read(CommitLogFormat.batchHeaderSize, at: offset)
    guard let (found, _) = CommitLogFormat.BatchHeader.read(bytes) else { return offset }
    if offset == CommitLogFormat.firstBatch, isNoise(bytes, found.epoch) { return size }
    if found.epoch != epoch, try !hasSpoiltEpoch(at: offset) { return offset }
    guard let length = plausibleLength(found, at: offset) else { return size }
    return min(size, CommitLogFormat.end(ofBatchAt: offset, payload: length))
  }

  /// Whether the first header is neither room nor that of a batch of an earlier epoch.
  ///
  /// Batches of all epochs begin here, so that anything else has spoilt one.
  private func isNoise(_ header: [UInt8], _ found: UInt64) -> Bool {
    if header.allSatisfy({ $0 == 0 }) { return false }
    return found > epoch || epoch - found > StoreManifest.epochLimit
  }

  private static let chunkSize = 1 << 18

  /// Whether the second word is the epoch, which is quick to see.
  ///
  /// At the end of a chunk it can't be.
  private func mayBeHeader(_ chunk: [UInt8], _ start: Int) -> Bool {
    guard start + 16 <= chunk.count else { return true }
    for byte in 0..<8
    where chunk[start + 8 + byte] != UInt8(truncatingIfNeeded: epoch >> UInt64(8 * byte)) {
      return false
    }
    return true
  }

  /// Where a whole later batch ends that was never synced; nil when there is none.
  ///
  /// Without a sync between them a power cut may lose the earlier of two saves, header and all. The
  /// later one has to go, too, or it would follow the next save of that number.
  ///
  /// - Throws: ``StoreError`` with `damaged` when the batch has been synced.
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

  /// Whether the next batch is there but for its epoch, or its number, which have been spoilt.
  ///
  /// Without this it would pass for one of an earlier epoch.
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
    return payload.count == length && header.matches(checksum, [payload], orders)
  }
}
