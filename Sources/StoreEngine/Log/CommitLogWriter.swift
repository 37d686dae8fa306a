import Files

/// Appends batches to a commit log, and empties it.
///
/// One thread at a time. After a failure of the disk the writer refuses everything, because nobody
/// knows what has reached it; see ``CommitLogReader`` for what the next opening makes of it.
struct CommitLogWriter: Sendable {
  /// A log begins with so much and doubles until it grows by as much as ``LogGrowth`` says: a store
  /// that is saved once keeps a small log.
  static let firstSize = 1 << 16
  /// What an emptied log keeps; the rest goes back to the disk.
  static let sizeKept = 8 << 20
  /// So much is filled with zeros at a time.
  private static let chunkSize = 1 << 18
  /// Smaller batches are written in one piece.
  private static let smallBatch = 1 << 16

  let storage: StoreFile
  let durability: Durability
  private let growth: LogGrowth
  /// Brings to the disk what the log has grown by, where saves don't.
  private let background: BackgroundSync
  /// The header that counts, and which of the two it is.
  private var slot: CommitLogSlot
  private var slotIndex: Int
  var epoch: UInt64 { slot.epoch }
  /// The number of the next batch.
  private(set) var sequence: UInt64
  private var size: Int
  /// Whether it has grown since the last sync.
  private var isGrown = true
  /// Where the next batch goes.
  private(set) var offset: Int
  /// Behind this there are only zeros, once the log has been closed before.
  private var roomStart: Int
  private var failure: StoreError?

  /// Whether nobody knows what the disk holds.
  var hasFailed: Bool { failure != nil }

  /// Goes on behind the last batch that was read.
  init(
    _ storage: StoreFile, durability: Durability, slot: CommitLogSlot, slotIndex: Int,
    sequence: UInt64, offset: Int, growth: LogGrowth = LogGrowth()
  ) throws(StoreError) {
    self.init(
      storage, durability: durability, slot: slot, slotIndex: slotIndex, sequence: sequence,
      offset: offset, growth: growth, background: BackgroundSync(usesThread: growth.usesThread),
      size: try storage.size())
  }

  private init(
    _ storage: StoreFile, durability: Durability, slot: CommitLogSlot, slotIndex: Int,
    sequence: UInt64, offset: Int, growth: LogGrowth, background: BackgroundSync, size: Int
  ) {
    (self.storage, self.durability, self.growth) = (storage, durability, growth)
    self.background = background
    (self.slot, self.slotIndex) = (slot, slotIndex)
    (self.sequence, self.offset, self.size) = (sequence, offset, size)
    roomStart = slot.isClosed ? offset : size
  }

  /// The same log, behind what others have written to it.
  func continued(behind reader: CommitLogReader) throws(StoreError) -> CommitLogWriter {
    storage.noteForeignWrite()
    var writer = CommitLogWriter(
      storage, durability: durability, slot: reader.slot, slotIndex: reader.slotIndex,
      sequence: reader.sequence, offset: reader.offset, growth: growth, background: background,
      size: try storage.size())
    // The process that let the log grow has synced it, with its batches.
    writer.isGrown = durability != .full
    return writer
  }

  /// The number of bytes in batches.
  var usedCount: Int { offset - CommitLogFormat.firstBatch }
  /// The logs that had not been folded when this one began.
  var earlier: CommitLogSlot.EarlierLogs? { slot.earlier }

  /// What is appended, the payload in pieces.
  typealias Batch = (kind: CommitLogFormat.Kind, payload: [[UInt8]])

  /// Appends a batch.
  mutating func append(_ kind: CommitLogFormat.Kind, _ payload: [[UInt8]]) throws(StoreError) {
    try append([(kind, payload)])
  }

  /// Appends batches, all of them or none, with one sync.
  ///
  /// When this returns, they are as durable as the level says.
  ///
  /// Batches that could not be written are not in the log: the next one takes their place. Those
  /// that could not be *synced* may be, so the log is of no further use.
  ///
  /// - Throws: what the storage throws; ``StoreError`` with `reopenNeeded` after a failed sync.
  mutating func append(_ batches: [Batch]) throws(StoreError) {
    try checkHasNotFailed()
    try noteGrowth()
    let end = batches.reduce(offset) { CommitLogFormat.end(ofBatchAt: $0, payload: count($1)) }
    let isSynced = batches.contains { self.isSynced($0.kind) }
    assert(offset >= CommitLogFormat.firstBatch && end >= offset, "the log goes back")
    try makeRoom(upTo: end)
    try markOpen(before: batches.count)
    // A batch that says it is synced must not stand behind one that a power cut may lose.
    if durability == .process && isSynced { try synchronize() }
    roomStart = max(roomStart, end)
    do {
      if end - offset < Self.smallBatch {
        try writeAtOnce(bytes(of: batches, upTo: end), isSynced: isSynced)
      } else {
        try writePieces(of: batches)
        if isSynced { try synchronize() }
      }
    } catch {
      takeBack(error, batches, isSynced: isSynced)
      throw error
    }
    offset = end
    sequence += UInt64(batches.count)
  }

  private func count(_ batch: Batch) -> Int { batch.payload.reduce(0) { $0 + $1.count } }

  /// The header of one of several batches.
  ///
  /// Only the first says that it is synced, and with it all before it: of those behind it a power
  /// cut may leave the later and not the earlier.
  private func header(of batch: Batch, at index: Int) -> CommitLogFormat.BatchHeader {
    CommitLogFormat.BatchHeader(
      length: UInt64(count(batch)), epoch: epoch, sequence: sequence + UInt64(index),
      kind: batch.kind.rawValue, isSynced: index == 0 && isSynced(batch.kind))
  }

  private func bytes(of batches: [Batch], upTo end: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(end - offset)
    for (index, batch) in batches.enumerated() {
      let next = CommitLogFormat.end(ofBatchAt: offset + bytes.count, payload: count(batch))
      header(of: batch, at: index).append(batch.payload, to: &bytes, slot.checksums)
      while offset + bytes.count < next { bytes.append(0) }
    }
    assert(offset + bytes.count == end, "batches have another size than was planned")
    return bytes
  }

  private func writePieces(of batches: [Batch]) throws(StoreError) {
    var position = offset
    for (index, batch) in batches.enumerated() {
      let next = CommitLogFormat.end(ofBatchAt: position, payload: count(batch))
      let header = header(of: batch, at: index).bytes(before: batch.payload, slot.checksums)
      for piece in [header] + batch.payload {
        try storage.write(piece, at: position)
        position += piece.count
      }
      assert(position <= next, "a batch is larger than was planned")
      try storage.write([UInt8](repeating: 0, count: next - position), at: position)
      position = next
    }
  }

  /// Makes sure that nothing of batches that could not be written is in the log.
  ///
  /// A disk that is full may have got all of them, and saves that have thrown would be there at the
  /// next opening, or a checkpoint whose files are removed. Where that can't be prevented, nobody
  /// knows what the disk holds.
  private mutating func takeBack(_ error: StoreError, _ batches: [Batch], isSynced: Bool) {
    // A file that has no name any more is noticed before anything is written.
    if failure != nil || error.refusal?.isMissing == true { return }
    do {
      let zeros = [UInt8](repeating: 0, count: CommitLogFormat.batchHeaderSize)
      var start = offset
      for batch in batches {
        try storage.write(zeros, at: start)
        start = CommitLogFormat.end(ofBatchAt: start, payload: count(batch))
      }
      if isSynced { try storage.synchronize() }
    } catch {
      failure = error
    }
  }

  private mutating func writeAtOnce(_ bytes: [UInt8], isSynced: Bool) throws(StoreError) {
    // The size of a file that has grown is synced with the batch.
    if durability == .full, !isGrown, try writeThrough(bytes) { return }
    try storage.write(bytes, at: offset)
    if isSynced { try synchronize() }
  }

  /// Writes and syncs in one; all that was written before has been synced by itself.
  private mutating func writeThrough(_ bytes: [UInt8]) throws(StoreError) -> Bool {
    do {
      return try storage.writeThrough(bytes, at: offset)
    } catch {
      // No name for the file any more is noticed before anything is written, and after no room for
      // it what was written is taken back.
      let refusal = error.refusal
      if refusal?.isFull != true && refusal?.isMissing != true { failure = error }
      throw error
    }
  }

  private mutating func makeRoom(upTo end: Int) throws(StoreError) {
    guard end > (durability == .full ? slot.size : size) else { return }
    // In steps, so that one large batch does not hold as many zeros in memory.
    while size < end {
      let wanted = size + min(growth.byteCount, max(size, Self.firstSize))
      try storage.resize(to: wanted)
      size = wanted
    }
    let grown = newSlot(size: size, end: offset)
    switch durability {
    case .full: try note(grown)
    case .process: background.start(storage, for: grown)
    case .none: break
    }
    isGrown = true
  }

  /// Says in a header how large the log is, if it has grown and the disk has all of it since.
  private mutating func noteGrowth() throws(StoreError) {
    if durability != .process { return }
    let grown: CommitLogSlot?
    do { grown = try background.takeHeader() } catch {
      failure = error
      return try checkHasNotFailed()
    }
    guard let grown, grown.epoch == epoch, grown.size >= slot.size, grown.end >= slot.end,
      !slot.isClosed
    else { return }
    try write(grown)
  }

  /// Takes back, before the first batch, that the log is closed.
  ///
  /// A batch that is synced with it can only be the last: the next opening loses nothing if it
  /// finds that batch spoilt, and the header as it was. Where there are several, or batches are not
  /// synced, there may be more.
  private mutating func markOpen(before count: Int) throws(StoreError) {
    guard slot.isClosed else { return }
    try write(newSlot(size: slot.size, end: slot.end))
    isGrown = true
    if durability != .full || count > 1 { try synchronize() }
  }

  /// Says in a header that nothing stands behind the last batch, and how far it reaches, so that a
  /// loss is noticed and the next opening need not look.
  ///
  /// Before that, what batches of earlier epochs have left there becomes zeros, so that a check can
  /// tell whether somebody has changed a byte. Without syncs a power cut may take what was written,
  /// so nothing is said.
  mutating func noteClosing() throws(StoreError) {
    if durability == .none { return }
    background.wait()
    try noteGrowth()
    try checkHasNotFailed()
    var closed = newSlot(size: size, end: offset)
    closed.isClosed = true
    if slot.agrees(with: closed) { return }
    try clear(upTo: roomStart)
    roomStart = offset
    try note(closed)
  }

  /// Writes zeros behind the last batch.
  private func clear(upTo end: Int) throws(StoreError) {
    let zeros = [UInt8](repeating: 0, count: min(Self.chunkSize, max(0, end - offset)))
    for start in stride(from: offset, to: end, by: Self.chunkSize) {
      try storage.write(Array(zeros.prefix(end - start)), at: start)
    }
  }

  private mutating func note(_ new: CommitLogSlot) throws(StoreError) {
    if slot.agrees(with: new) { return }
    // The header must not be on the disk before what it speaks of.
    try synchronize()
    try write(new)
  }

  /// A header of the same epoch.
  private func newSlot(size: Int, end: Int) -> CommitLogSlot {
    var new = CommitLogSlot(epoch: epoch, size: size, end: end, earlier: slot.earlier)
    new.checksums = slot.checksums
    return new
  }

  /// Writes the older one of the two headers, which makes it the newer.
  private mutating func write(_ slot: CommitLogSlot) throws(StoreError) {
    var new = slot
    new.serial = new.epoch == epoch ? self.slot.serial &+ 1 : 0
    try storage.write(new.bytes, at: (1 - slotIndex) * CommitLogFormat.slotSize)
    (self.slot, slotIndex) = (new, 1 - slotIndex)
  }

  /// Overwrites a torn tail, so that no batch in it can ever be taken for a later one.
  mutating func clearTail() throws(StoreError) {
    try clear(upTo: size)
    roomStart = offset
    try storage.synchronize()
  }

  /// Overwrites all batches: afterwards the log holds nothing.
  mutating func clearAll() throws(StoreError) {
    (sequence, offset) = (0, CommitLogFormat.firstBatch)
    try clearTail()
  }

  /// Says in a header which logs were before this one.
  mutating func setEarlier(_ earlier: CommitLogSlot.EarlierLogs) throws(StoreError) {
    var new = newSlot(size: slot.size, end: CommitLogFormat.firstBatch)
    new.earlier = earlier
    try write(new)
    try synchronize()
  }

  /// Rewrites everything but the batches: the bytes after them, and the room of the headers.
  ///
  /// - Throws: what the storage throws.
  mutating func renewRoom() throws(StoreError) {
    try checkHasNotFailed()
    try clear(upTo: size)
    roomStart = offset
    let slots = 2 * CommitLogFormat.slotSize
    let zeros = [UInt8](repeating: 0, count: CommitLogFormat.firstBatch - slots)
    try storage.write(zeros, at: slots)
    // The older one, and with the closing the other one.
    try write(newSlot(size: slot.size, end: slot.end))
    try synchronize()
  }

  /// Brings what an earlier process has left in the log to the disk, before anything is added.
  ///
  /// That process may have died between writing and syncing. Or its sync failed: the system then
  /// shows what was written, but takes it for synced, unless it is written again.
  func settle() throws(StoreError) {
    if durability != .none { try Self.settle(storage, upTo: offset) }
  }

  /// Does so with any log.
  static func settle(_ storage: StoreFile, upTo end: Int) throws(StoreError) {
    for start in stride(from: 0, to: end, by: chunkSize) {
      let count = min(chunkSize, end - start)
      try storage.write(try storage.read(count, at: start), at: start)
    }
    try storage.synchronize()
  }

  /// Empties the log, once everything in it is safe elsewhere.
  ///
  /// - Throws: what the storage throws; the log is of no further use then.
  mutating func removeAll() throws(StoreError) {
    try checkHasNotFailed()
    do {
      let kept = min(size, Self.sizeKept)
      try write(CommitLogSlot(epoch: epoch + 1, size: min(slot.size, kept)))
      if durability != .none || kept < size { try storage.synchronize() }
      if kept < size {
        try storage.resize(to: kept)
        size = kept
        roomStart = min(roomStart, size)
      }
    } catch {
      failure = error
      throw error
    }
    (sequence, offset) = (0, CommitLogFormat.firstBatch)
  }

  /// Whether a batch has to be on the disk before anything else happens.
  ///
  /// Files that hold all saves up to a checkpoint must not be there after a power cut when the log
  /// has only some of those saves: replaying these would undo later ones.
  private func isSynced(_ kind: CommitLogFormat.Kind) -> Bool {
    durability == .full || durability == .process && kind.isCheckpoint
  }

  private mutating func synchronize() throws(StoreError) {
    do {
      try storage.synchronize()
      isGrown = false
    } catch {
      failure = error
      throw error
    }
  }

  private func checkHasNotFailed() throws(StoreError) {
    guard let failure else { return }
    throw StoreError(
      .reopenNeeded,
      "The disk failed in an earlier save, and nobody knows what has reached it. Close and reopen.",
      underlying: failure.refusal ?? failure)
  }
}
