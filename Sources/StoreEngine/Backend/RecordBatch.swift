import Files

/// Records that a scan has copied: the bytes, and where each record stands in them.
///
///     bytes:    | block of a file ...  | record | ... | record | ...  |
///     records:            row 2, start, end ^   row 3 ^
///
/// There may be other bytes between records, so that a backend can copy a stretch of its file at
/// once.
public struct RecordBatch: Sendable {
  /// How much is read at a time: about so many bytes, and at most so many records.
  package struct Limits: Sendable {
    package var bytes = 64 << 10
    package var records = 1024
    /// For a thread of its own, which is not to be woken too often.
    package static let large = Limits(bytes: 256 << 10, records: 8192)
    /// For the objects that somebody walks, from a server.
    package static let walk = Limits(bytes: 1 << 20, records: 512)
  }

  package let limits: Limits
  /// The row of a record, and where it begins and ends in the bytes.
  package typealias Entry = (rowID: UInt32, start: UInt32, end: UInt32)

  /// The copied bytes.
  package var bytes: [UInt8] = []
  /// The records, in the order of the scan.
  package var entries: [Entry] = []
  /// Whether records of an encrypted store that can't be opened are left out, each with its error,
  /// instead of ending the scan.
  package var keepsFailures = false
  /// Their errors.
  package var failures: [StoreError] = []
  /// Whether copying the records of rows ends when the batch is full, and leaves out the rest.
  package var stopsWhenFull = false

  /// Makes an empty batch.
  public init() { self.init(limits: Limits()) }

  package init(limits: Limits) { self.limits = limits }

  /// The number of records.
  public var count: Int { entries.count }

  /// Copies of the records, with their rows.
  ///
  /// Complexity: linear in the bytes.
  public var records: [(rowID: UInt32, bytes: [UInt8])] {
    entries.map { ($0.rowID, Array(bytes[Int($0.start)..<Int($0.end)])) }
  }

  /// Whether a scan should stop here, and go on with another batch.
  public var isFull: Bool {
    bytes.count >= limits.bytes || entries.count >= limits.records
  }

  /// Adds a copy of a record.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Precondition: the batch and the record together are smaller than 4 GiB.
  public mutating func append(_ rowID: UInt32, _ record: RawSpan) {
    let start = UInt32(bytes.count)
    bytes.append(copying: record)
    entries.append((rowID, start, UInt32(bytes.count)))
  }

  /// Adds copies of the records of some rows, which a closure appends if they are there.
  mutating func append<Failure: Error>(
    _ rows: some Sequence<UInt32>, copying copy: (UInt32, inout [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) {
    for row in rows {
      if stopsWhenFull, isFull { return }
      let start = UInt32(bytes.count)
      if try copy(row, &bytes) { entries.append((row, start, UInt32(bytes.count))) }
    }
  }

  /// Leaves out the records of some rows.
  ///
  /// Complexity: linear in the number of records.
  mutating func removeAll(where isUnwanted: (_ rowID: UInt32) -> Bool) {
    entries.removeAll { isUnwanted($0.rowID) }
  }

  /// Makes room for all that is read at a time.
  package mutating func reserveCapacity() {
    bytes.reserveCapacity(limits.bytes + limits.bytes / 16)
    entries.reserveCapacity(limits.records)
  }

  /// Leaves out all records, and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    failures.removeAll()
  }
}
