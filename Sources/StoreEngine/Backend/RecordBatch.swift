import Files

/// Records that a scan has copied: the bytes, and the position of each record in them.
///
///     bytes:    | block of a file ...  | record | ... | record | ...  |
///     records:            row 2, start, end ^   row 3 ^
///
/// There may be other bytes between records, so that a backend can copy a section of its file at
/// once.
public struct RecordBatch: Sendable {
  /// The limits of a batch: the approximate number of bytes, and the maximum number of records.
  package struct Limits: Sendable {
    package var bytes = 64 << 10
    package var records = 1024
    /// The limits for a background thread, which should not be woken too often.
    package static let large = Limits(bytes: 256 << 10, records: 8192)
    /// The limits for objects that a caller iterates over, read from a server.
    package static let walk = Limits(bytes: 1 << 20, records: 1024)
  }

  package let limits: Limits
  /// The row of a record, with its start and end in the bytes.
  package typealias Entry = (rowID: UInt32, start: UInt32, end: UInt32)

  /// The copied bytes.
  package var bytes: [UInt8] = []
  /// The records, in the order of the scan.
  package var entries: [Entry] = []
  /// Whether a scan skips records of an encrypted store that can't be opened, and keeps the error
  /// of each, instead of ending.
  package var keepsFailures = false
  /// The errors of the skipped records.
  package var failures: [StoreError] = []
  /// Whether copying the records of rows ends when the batch is full, and skips the rest.
  package var stopsWhenFull = false

  /// Creates an empty batch.
  public init() { self.init(limits: Limits()) }

  package init(limits: Limits) { self.limits = limits }

  /// The number of records.
  public var count: Int { entries.count }

  /// The rows with copies of their records.
  ///
  /// Complexity: linear in the bytes.
  public var records: [(rowID: UInt32, bytes: [UInt8])] {
    entries.map { ($0.rowID, Array(bytes[Int($0.start)..<Int($0.end)])) }
  }

  /// Whether a scan should stop here and continue with another batch.
  public var isFull: Bool {
    bytes.count >= limits.bytes || entries.count >= limits.records
  }

  /// Adds a copy of a record.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Precondition: The batch and the record together are smaller than 4 GiB.
  public mutating func append(_ rowID: UInt32, _ record: RawSpan) {
    let start = UInt32(bytes.count)
    bytes.append(copying: record)
    entries.append((rowID, start, UInt32(bytes.count)))
  }

  /// Adds copies of the records of some rows; a closure appends each record that exists.
  mutating func append<Failure: Error>(
    _ rows: some Sequence<UInt32>, copying copy: (UInt32, inout [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) {
    for row in rows {
      if stopsWhenFull, isFull { return }
      let start = UInt32(bytes.count)
      if try copy(row, &bytes) { entries.append((row, start, UInt32(bytes.count))) }
    }
  }

  /// Removes the records of some rows.
  ///
  /// Complexity: linear in the number of records.
  mutating func removeAll(where isUnwanted: (_ rowID: UInt32) -> Bool) {
    entries.removeAll { isUnwanted($0.rowID) }
  }

  /// Reserves memory for everything that is read at a time.
  package mutating func reserveCapacity() {
    bytes.reserveCapacity(limits.bytes + limits.bytes / 16)
    entries.reserveCapacity(limits.records)
  }

  /// Removes all records, and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    failures.removeAll()
  }
}
