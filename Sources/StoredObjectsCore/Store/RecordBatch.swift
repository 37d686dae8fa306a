/// Records that a cursor has read ahead: one copy of the bytes, and where each record is.
struct RecordBatch {
  /// About how many bytes, and how many records, are read at a time.
  private static let byteLimit = 64 << 10
  private static let recordLimit = 1024

  /// Reads the records where they are.
  private var buffer: DataBuffer
  private var records: [(rowID: UInt32, range: Range<Int>)] = []
  private var nextIndex = 0
  /// How many commits the table had seen before the batch was read.
  private(set) var commitCount: UInt64 = 0
  /// Whether there is nothing behind this batch.
  var isLast = false

  /// Makes an empty batch, whose references lead to objects of a store.
  init(store: Store? = nil) { buffer = DataBuffer([], store: store) }

  /// The bytes of all records.
  var bytes: [UInt8] { buffer.bytes }

  /// Lends a buffer that reads one record.
  mutating func withWindow(
    _ range: Range<Int>, _ body: (inout DataBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard buffer.showWindow(range) else {
      throw StoreError(
        .damaged, "readContent(from:) has put another buffer in the place of its own.")
    }
    try body(&buffer)
  }

  /// Takes the first record that is left.
  mutating func popFirst() -> (rowID: UInt32, range: Range<Int>)? {
    guard nextIndex < records.count else { return nil }
    defer { nextIndex += 1 }
    return records[nextIndex]
  }

  /// Forgets the records that are left.
  mutating func removeAll() { nextIndex = records.count }

  /// Reads the next batch of a class.
  mutating func fill(
    from position: ScanPosition?, _ entry: RegisteredClass, _ store: Store
  ) throws -> ScanEnd {
    try fill(
      from: position, entry.table, store.backend, commitCount: entry.shared.commitCount)
  }

  /// Reads the next batch of a table.
  mutating func fill(
    from position: ScanPosition?, _ table: TableID, _ backend: any StoreBackend,
    commitCount: UInt64
  ) throws -> ScanEnd {
    self.commitCount = commitCount
    buffer.removeAll()
    records.removeAll(keepingCapacity: true)
    nextIndex = 0
    return try backend.scan(table, from: position) { rowID, record in
      let range = buffer.append(record)
      records.append((rowID, range))
      let isFull = range.upperBound >= Self.byteLimit || records.count >= Self.recordLimit
      return isFull ? .pause : .next
    }
  }
}
