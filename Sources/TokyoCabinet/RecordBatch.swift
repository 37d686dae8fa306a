import Files

/// Records copied out of a file, in its order, to be passed to closures without a lock.
struct RecordBatch: Sendable {
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// Whether the file has no further records.
  var isLast = false

  private struct Entry {
    var start: Int
    var keySize: Int
    var valueSize: Int
    /// The offset in the file after this record.
    var next: UInt64
  }

  var byteCount: Int { bytes.count + entries.count * 16 }
  /// The offset in the file after the last record of the batch.
  var end: UInt64? { entries.last?.next }

  /// Returns the offset in the file after a record.
  func end(of index: Int) -> UInt64 { entries[index].next }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    isLast = false
  }

  @unsafe mutating func append(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, next: UInt64
  ) {
    entries.append(
      Entry(start: bytes.count, keySize: key.count, valueSize: value.count, next: next))
    unsafe bytes.append(contentsOf: key)
    unsafe bytes.append(contentsOf: value)
  }

  /// Calls a closure with the records in order until it returns false.
  ///
  /// - Returns: The index of the record at which it stopped, or nil.
  func firstStop(
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) rethrows -> Int? {
    for (index, entry) in entries.enumerated() {
      let middle = entry.start + entry.keySize
      let goesOn = try bytes.lend(entry.start..<middle) { key in
        try bytes.lend(middle..<middle + entry.valueSize) { value in try body(key, value) }
      }
      if !goesOn { return index }
    }
    return nil
  }
}
