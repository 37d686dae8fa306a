import Locks
import StoreEngine

/// Records that a cursor has read ahead.
struct ReadAhead {
  private var batch = RecordBatch()
  /// The objects made from the batch, if any.
  private var objects: MadeObjects?
  /// Holds the bytes of the batch, and reads the records in place.
  private var buffer: DataBuffer
  private var nextIndex = 0
  /// The number of commits of the table before the batch was read.
  private(set) var commitCount: UInt64 = 0
  /// Whether the checksums were verified when the batch was read.
  private var isVerified = false
  /// Reads the following batches, in a large table.
  private var prefetch: RecordPrefetch?
  private var filledCount = 0
  /// The number of batches after which a thread is worth its cost.
  private static let prefetchedFrom = 4
  /// Whether this is the last batch.
  var isLast = false

  /// Whether the caller keeps the objects, so that the other thread may make them.
  private let keepsObjects: Bool

  /// Creates an empty batch; references in its records lead to objects of the store.
  init(_ store: Store, keepsObjects: Bool) {
    buffer = DataBuffer([], store: store)
    self.keepsObjects = keepsObjects
  }

  /// Whether no record is left.
  @inline(__always)
  var isEmpty: Bool { nextIndex >= batch.entries.count }

  /// Removes the first record and returns it, with the object that the other thread made from it.
  @inline(__always)
  mutating func popFirst() -> (RecordBatch.Entry, StoredObject?)? {
    guard nextIndex < batch.entries.count else { return nil }
    defer { nextIndex += 1 }
    return (batch.entries[nextIndex], objects?.take(nextIndex))
  }

  /// Forgets the remaining records.
  mutating func removeAll() { nextIndex = batch.entries.count }

  /// Reads the next batch of a class.
  mutating func fill(
    from position: ScanPosition?, _ entry: RegisteredClass, _ backend: any StoreBackend
  ) throws -> ScanEnd {
    if let reading = prefetch?.next() { return try take(reading) }
    commitCount = entry.shared.commitCount
    isVerified = false
    buffer.swapBytes(&batch.bytes)
    defer { buffer.swapBytes(&batch.bytes) }
    batch.removeAll()
    nextIndex = 0
    let end = try backend.copyRecords(of: entry.table, from: position, to: &batch)
    filledCount += 1
    if case .paused(let next) = end, filledCount == Self.prefetchedFrom, TwoThreads.areUseful {
      prefetch = RecordPrefetch(
        .init(entry, backend, makesObjects: keepsObjects), from: next)
    }
    return end
  }

  /// Uses a batch that the other thread has read.
  private mutating func take(_ reading: RecordPrefetch.Reading) throws -> ScanEnd {
    batch = reading.batch
    objects = reading.objects
    (commitCount, isVerified, nextIndex) = (reading.commitCount, reading.isVerified, 0)
    buffer.swapBytes(&batch.bytes)
    return try reading.end.get()
  }

  /// Sets the content of a fault from a record.
  @inline(__always)
  mutating func decode(
    _ object: StoredObject, at record: RecordBatch.Entry, _ entry: RegisteredClass,
    _ store: Store
  ) throws(StoreError) {
    guard buffer.showWindow(Int(record.start), Int(record.end)) else {
      throw StoreError(
        .damaged, "readContent(from:) has replaced its buffer with another one.",
        at: entry.location(record.rowID))
    }
    try store.decode(object, entry, from: &buffer, isVerified: isVerified)
  }
}
