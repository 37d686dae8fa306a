// How the store hands bytes to buffers and takes them back. The only copy of a record that is read
// is the one made here, out of bytes that a backend lends.

import Files

extension DataBuffer {
  /// The number of bytes written, those of earlier records included.
  @inlinable package var byteCount: Int { storage.count }

  /// Starts over as a buffer that reads what the closure appends, and keeps its memory.
  ///
  /// - Returns: what the closure returns.
  @inlinable @inline(__always)
  mutating func fill<Failure: Error>(
    _ append: (inout [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    removeAll()
    defer { end = storage.count }
    return try append(&storage)
  }

  /// Takes other bytes, and gives its own away.
  @inlinable package mutating func swapBytes(_ bytes: inout [UInt8]) { swap(&storage, &bytes) }

  /// Starts over as an empty buffer, and keeps its memory.
  @usableFromInline package mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    (start, position, end, recordVersion) = (0, 0, 0, 0)
    forgetFailure()
  }

  /// Reads one record out of bytes that hold many.
  @inlinable package mutating func window(_ range: Range<Int>, of bytes: [UInt8]) {
    storage = bytes
    (start, position, end, recordVersion) = (
      range.lowerBound, range.lowerBound, range.upperBound, 0
    )
  }

  /// Reads one record out of the many that the buffer holds.
  ///
  /// - Returns: false if the record is not there.
  @inlinable package mutating func showWindow(_ first: Int, _ last: Int) -> Bool {
    guard last <= storage.count else { return false }
    (start, position, end, recordVersion) = (first, first, last, 0)
    return true
  }

  /// Makes room for so many bytes, and a few more.
  @inlinable package mutating func reserveCapacity(_ count: Int) {
    storage.reserveCapacity(count + count / 64)
  }

  /// Begins a record behind what is there, and returns where it begins.
  @inlinable package mutating func beginRecord() -> Int {
    start = storage.count
    return start
  }

  /// Takes back what was written behind some bytes.
  package mutating func truncate(to byteCount: Int) {
    storage.removeLast(storage.count - byteCount)
  }

  /// The CRC-32C of what the record has so far.
  var checksumOfRecord: UInt32 { checksum(start..<storage.count) }

  /// The CRC-32C of what has been read of the record.
  var checksumOfBytesRead: UInt32 { checksum(start..<position) }

  private func checksum(_ range: Range<Int>) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(storage.span.extracting(range))
    return checksum.value
  }

  /// Ends a record with its checksum.
  @inlinable package mutating func writeChecksum(classID: UInt8, rowID: UInt32) {
    write(checksumOfRecord(classID, rowID))
  }

  @inlinable func checksumOfRecord(_ classID: UInt8, _ rowID: UInt32) -> UInt32 {
    let record = storage.span.extracting(start..<storage.count)
    return RecordChecksum.checksum(record, classID: classID, rowID: rowID)
  }

  /// Checks the checksum at the end of a record, and leaves the rest to read.
  package mutating func verifyChecksum(classID: UInt8, rowID: UInt32) throws(DataBufferError) {
    guard hasValidChecksum(classID, rowID) else {
      throw DataBufferError(
        .invalidValue, at: 0, "the checksum is wrong: the record is not what was saved in this row")
    }
    end -= RecordChecksum.byteCount
  }

  private func hasValidChecksum(_ classID: UInt8, _ rowID: UInt32) -> Bool {
    let record = storage.span.extracting(start..<end)
    return RecordChecksum.isValid(record, classID: classID, rowID: rowID)
  }

  /// Writes bytes as they are, without a count.
  @inlinable package mutating func append(_ bytes: [UInt8]) { storage.append(contentsOf: bytes) }

  /// All bytes written.
  ///
  /// The buffer is empty afterwards.
  @inlinable package mutating func takeBytes() -> [UInt8] {
    defer { self = DataBuffer([], owner: owner) }
    return storage
  }
}
