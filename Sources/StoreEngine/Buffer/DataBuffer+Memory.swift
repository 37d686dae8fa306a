// How the store moves bytes in and out of buffers. A record that is read is copied only once: here,
// from the bytes that a backend passes.

import Files

extension DataBuffer {
  /// The number of bytes written, including those of earlier records.
  @inlinable package var byteCount: Int { storage.count }

  /// Restarts the buffer, keeping its memory, to read what the closure appends.
  ///
  /// - Returns: The result of the closure.
  @inlinable @inline(__always)
  mutating func fill<Failure: Error>(
    _ append: (inout [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    removeAll()
    defer { end = storage.count }
    return try append(&storage)
  }

  /// Exchanges the buffer's bytes with the given ones.
  @inlinable package mutating func swapBytes(_ bytes: inout [UInt8]) { swap(&storage, &bytes) }

  /// Restarts the buffer as an empty one and keeps its memory.
  @usableFromInline package mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    (start, position, end, recordVersion) = (0, 0, 0, 0)
    forgetFailure()
  }

  /// Restarts the buffer to read one record out of bytes that hold many.
  @inlinable package mutating func window(_ range: Range<Int>, of bytes: [UInt8]) {
    storage = bytes
    (start, position, end, recordVersion) = (
      range.lowerBound, range.lowerBound, range.upperBound, 0
    )
  }

  /// Restarts reading at one record of the many that the buffer holds.
  ///
  /// - Returns: Whether the buffer holds the record.
  @inlinable package mutating func showWindow(_ first: Int, _ last: Int) -> Bool {
    guard last <= storage.count else { return false }
    (start, position, end, recordVersion) = (first, first, last, 0)
    return true
  }

  /// Reserves room for the given number of bytes, and a few more.
  @inlinable package mutating func reserveCapacity(_ count: Int) {
    storage.reserveCapacity(count + count / 64)
  }

  /// Begins a record after the existing bytes, and returns its start.
  @inlinable package mutating func beginRecord() -> Int {
    start = storage.count
    return start
  }

  /// Removes the bytes written after the first `byteCount`.
  package mutating func truncate(to byteCount: Int) {
    storage.removeLast(storage.count - byteCount)
  }

  /// The CRC-32C of the bytes of the record so far.
  var checksumOfRecord: UInt32 { checksum(start..<storage.count) }

  /// The CRC-32C of the bytes of the record read so far.
  var checksumOfBytesRead: UInt32 { checksum(start..<position) }

  private func checksum(_ range: Range<Int>) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(storage.span.extracting(range))
    return checksum.value
  }

  /// Ends the record with its checksum.
  @inlinable package mutating func writeChecksum(classID: UInt8, rowID: UInt32) {
    write(checksumOfRecord(classID, rowID))
  }

  @inlinable func checksumOfRecord(_ classID: UInt8, _ rowID: UInt32) -> UInt32 {
    let record = storage.span.extracting(start..<storage.count)
    return RecordChecksum.checksum(record, classID: classID, rowID: rowID)
  }

  /// Verifies the checksum at the end of a record, and excludes it from what is left to read.
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

  /// Writes bytes without a count.
  @inlinable package mutating func append(_ bytes: [UInt8]) { storage.append(contentsOf: bytes) }

  /// Appends a copy of the bytes of a span.
  package mutating func append(copying bytes: RawSpan) { storage.append(copying: bytes) }

  /// Returns all bytes written, and leaves the buffer empty.
  @inlinable package mutating func takeBytes() -> [UInt8] {
    defer { self = DataBuffer([], owner: owner) }
    return storage
  }
}
