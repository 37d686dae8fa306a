import Files

/// Appends batches to a commit log, and empties it.
///
/// Use it from one thread at a time. After a failure of the disk the writer refuses everything,
/// because the state of the disk is unknown; see ``CommitLogReader`` for how the next opening
/// handles it.
struct CommitLogWriter: Sendable {
  /// The initial size of a log, which doubles until it grows by the size in ``LogGrowth``.
  ///
  /// So a store that is saved once keeps a small log.
  static let firstSize = 1 << 16
  /// The size that an emptied log keeps; the rest is freed.
  static let sizeKept = 8 << 20
  /// The number of bytes that are filled with zeros at a time.
  private static let chunkSize = 1 << 18
  /// The limit below which a batch is written in one piece.
  private static let smallBatch = 1 << 16

  let storage: StoreFile
  let durability: Durability
  private let growth: LogGrowth
  /// Syncs the growth of the log, at durability levels where saves don't.
  private let background: BackgroundSync
  /// The newer header, and its index.
  private(set) var slot: CommitLogSlot
  private var slotIndex: Int
  var epoch: UInt64 { slot.epoch }
  /// The sequence number of the next batch.
  private(set) var sequence: UInt64
  private var size: Int
  /// Whether the log has grown since the last sync.
  private var isGrown = true
  /// The offset of the next batch.
  private(set) var offset: Int
  /// The offset after which there are only zeros, if the log has been closed before.
  private var roomStart: Int
  private var failure: StoreError?

  /// Whether the state of the disk is unknown after a failure.
  var hasFailed: Bool { failure != nil }

  /// Continues after the last batch that was read.
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

  /// Returns a writer of the same log that continues after the batches of other processes.
  func continued(behind reader: CommitLogReader) throws(StoreError) -> CommitLogWriter {
    storage.noteForeignWrite()
    var writer = CommitLogWriter(
      storage, durability: durability, slot: reader.slot, slotIndex: reader.slotIndex,
      sequence: reader.sequence, offset: reader.offset, growth: growth, background: background,
      size: try storage.size())
    // The process that made the log grow has synced it together with its batches.
    writer.isGrown = durability != .full
    return writer
  }

  /// The number of bytes in batches.
  var usedCount: Int { offset - CommitLogFormat.firstBatch }
  /// The logs that were not in the files yet when this one began.
  var earlier: CommitLogSlot.EarlierLogs? { slot.earlier }

  /// A batch to append, with its payload in pieces.
  typealias Batch = (kind: CommitLogFormat.Kind, payload: [[UInt8]])

  /// Appends a batch.
  mutating func append(_ kind: CommitLogFormat.Kind, _ payload: [[UInt8]]) throws(StoreError) {
    try append([(kind, payload)])
  }

  /// Appends batches, all or none, with one sync.
  ///
  /// When it returns, the batches are as durable as the durability level promises.
  ///
  /// Batches that could not be written are not in the log, and the next ones take their place.
  /// Batches that could not be *synced* may be in it, so the log can't be used any more.
  ///
  /// - Throws: ``StoreError`` of the storage, or `reopenNeeded` after a failed sync.
  mutating func append(_ batches: [Batch]) throws(StoreError) {
    try checkHasNotFailed()
    try noteGrowth()
    let end = batches.reduce(offset) { CommitLogFormat.end(ofBatchAt: $0, payload: count($1)) }
    let isSynced = batches.contains { self.isSynced($0.kind) }
    assert(offset >= CommitLogFormat.firstBatch && end >= offset, "the log goes back")
    if durability == .process, slot.isClosed {
      try openWithRoom(upTo: end)
    } else {
      try makeRoom(upTo: end)
      try markOpen(before: batches.count)
    }
    // A batch that is marked as synced must not follow one that a power cut may lose.
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

  /// Removes all traces of batches that could not be written.
  ///
  /// A full disk may have taken all of them. Then saves that threw would be there at the next
  /// opening, or a checkpoint whose files are removed. If removing them fails, the state of the
  /// disk is unknown.
  private mutating func takeBack(_ error: StoreError, _ batches: [Batch], isSynced: Bool) {
    // The check for a missing file comes before any write, so there is nothing to remove.
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
    // The new size of a file that has grown is synced together with the batch.
    if durability == .full, !isGrown, try writeThrough(bytes) { return }
    try storage.write(bytes, at: offset)
    if isSynced { try synchronize() }
  }

  /// Writes and syncs in one step; everything before has been synced already.
  private mutating func writeThrough(_ bytes: [UInt8]) throws(StoreError) -> Bool {
    do {
      return try storage.writeThrough(bytes, at: offset)
    } catch {
      // A missing file is noticed before anything is written. If the disk is full, the caller
      // removes what was written.
      let refusal = error.refusal
      if refusal?.isFull != true && refusal?.isMissing != true { failure = error }
      throw error
    }
  }

  private mutating func makeRoom(upTo end: Int) throws(StoreError) {
    guard end > (durability == .full ? slot.size : size) else { return }
    try resize(upTo: end)
    let grown = newSlot(size: size, end: offset)
    switch durability {
    case .full: try note(grown)
    case .process: background.start(storage, for: grown)
    case .none: break
    }
    isGrown = true
  }

  private mutating func resize(upTo end: Int) throws(StoreError) {
    // In steps, so that a large batch does not need as many zeros in memory.
    while size < end {
      let wanted = size + min(growth.byteCount, max(size, Self.firstSize))
      try storage.resize(to: wanted)
      size = wanted
    }
  }

  /// Does the work of ``makeRoom(upTo:)`` and ``markOpen(before:)`` with one sync, where saves are
  /// not synced: the first save waits for the disk anyway, so it needs no thread to sync its room.
  private mutating func openWithRoom(upTo end: Int) throws(StoreError) {
    try resize(upTo: end)
    try write(newSlot(size: slot.size, end: slot.end))
    try synchronize()
    if size > slot.size { try write(newSlot(size: size, end: offset)) }
  }

  /// Writes a header with the size of the log, if the log has grown and a sync has finished since.
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

  /// Clears the closed flag, before the first batch.
  ///
  /// A single batch that is synced together with the header can only be the last: the next opening
  /// loses nothing if it finds that batch damaged and the old header. If there are several batches,
  /// or they are not synced, more could be lost.
  private mutating func markOpen(before count: Int) throws(StoreError) {
    guard slot.isClosed else { return }
    try write(newSlot(size: slot.size, end: slot.end))
    isGrown = true
    if durability != .full || count > 1 { try synchronize() }
  }

  /// Writes a header that states the end of the last batch and that nothing follows it.
  ///
  /// So a loss is noticed, and the next opening need not search. Before that, leftover batches of
  /// earlier epochs are overwritten with zeros, so that a check detects any changed byte. Without
  /// syncs nothing is stated, because a power cut may take what was written.
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

  /// Overwrites the bytes after the last batch with zeros.
  private func clear(upTo end: Int) throws(StoreError) {
    let zeros = [UInt8](repeating: 0, count: min(Self.chunkSize, max(0, end - offset)))
    for start in stride(from: offset, to: end, by: Self.chunkSize) {
      try storage.write(Array(zeros.prefix(end - start)), at: start)
    }
  }

  private mutating func note(_ new: CommitLogSlot) throws(StoreError) {
    if slot.agrees(with: new) { return }
    // The header must not be on the disk before the bytes that it describes.
    try synchronize()
    try write(new)
  }

  /// Returns a header of the same epoch.
  private func newSlot(size: Int, end: Int) -> CommitLogSlot {
    var new = CommitLogSlot(epoch: epoch, size: size, end: end, earlier: slot.earlier)
    new.checksums = slot.checksums
    return new
  }

  /// Overwrites the older of the two headers, which makes it the newer one.
  private mutating func write(_ slot: CommitLogSlot) throws(StoreError) {
    var new = slot
    new.serial = new.epoch == epoch ? self.slot.serial &+ 1 : 0
    try storage.write(new.bytes, at: (1 - slotIndex) * CommitLogFormat.slotSize)
    (self.slot, slotIndex) = (new, 1 - slotIndex)
  }

  /// Overwrites a torn tail, so that no batch in it is taken for a later one.
  mutating func clearTail() throws(StoreError) {
    try clear(upTo: size)
    roomStart = offset
    try storage.synchronize()
  }

  /// Overwrites all batches, so that the log holds nothing.
  mutating func clearAll() throws(StoreError) {
    (sequence, offset) = (0, CommitLogFormat.firstBatch)
    try clearTail()
  }

  /// Writes a header that names the logs before this one.
  mutating func setEarlier(_ earlier: CommitLogSlot.EarlierLogs) throws(StoreError) {
    var new = newSlot(size: slot.size, end: CommitLogFormat.firstBatch)
    new.earlier = earlier
    try write(new)
    try synchronize()
  }

  /// Rewrites everything except the batches: the bytes after them, and the area of the headers.
  ///
  /// - Throws: ``StoreError`` of the storage.
  mutating func renewRoom() throws(StoreError) {
    try checkHasNotFailed()
    try clear(upTo: size)
    roomStart = offset
    let slots = 2 * CommitLogFormat.slotSize
    let zeros = [UInt8](repeating: 0, count: CommitLogFormat.firstBatch - slots)
    try storage.write(zeros, at: slots)
    // This rewrites the older slot; closing rewrites the other one.
    try write(newSlot(size: slot.size, end: slot.end))
    try synchronize()
  }

  /// Syncs the content that an earlier process left in the log, before anything is added.
  ///
  /// That process may have died between writing and syncing. Or its sync failed: the system then
  /// returns what was written and treats it as synced, unless it is written again.
  func settle() throws(StoreError) {
    if durability != .none { try Self.settle(storage, upTo: offset) }
  }

  /// Does the same for any log.
  static func settle(_ storage: StoreFile, upTo end: Int) throws(StoreError) {
    for start in stride(from: 0, to: end, by: chunkSize) {
      let count = min(chunkSize, end - start)
      try storage.write(try storage.read(count, at: start), at: start)
    }
    try storage.synchronize()
  }

  /// Empties the log, once everything in it is safe in the files.
  ///
  /// - Throws: ``StoreError`` of the storage; the log can't be used any more then.
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
      """
      The disk failed in an earlier save, so its content is unknown. Close the backend and open it \
      again.
      """,
      underlying: failure.refusal ?? failure)
  }
}
