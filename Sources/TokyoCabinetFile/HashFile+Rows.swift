import Files

// Reading the records of rows, whose keys have 4 bytes, least significant first.

extension HashFile {
  /// Appends a copy of the record of a row to bytes; returns false if there is no such row.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`.
  package func copyRecord(
    of row: UInt32, to copy: inout [UInt8]
  ) throws(HashFileError) -> Bool {
    try file.withBytes { (bytes) throws(HashFileError) in
      guard let record = try find(row: row, in: bytes) else { return false }
      try append(record, bytes, to: &copy)
      return true
    }
  }

  /// Copies the records of the given rows, in their order; rows without a record are left out.
  ///
  /// Pass the rows in ascending order. The record of a row that follows the previous row closely is
  /// often a few records further in the file, where it is found without a look-up. That record
  /// belongs to the chain of blocks, as in a scan.
  ///
  /// Complexity: linear in the number of rows, and in the size of their records.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - copy: The bytes to append to.
  ///   - entries: The entries to append to.
  ///   - byteLimit: The size at which the call ends, and leaves out the remaining rows.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`.
  package func copyRecords(
    of rows: [UInt32], to copy: inout [UInt8], _ entries: inout [Entry], byteLimit: Int
  ) throws(HashFileError) {
    if entries.isEmpty {
      let count = min(rows.count, Self.reservedRows)
      entries.reserveCapacity(count)
      copy.reserveCapacity(min(count * Self.usualByteCount, byteLimit))
    }
    try file.withBytes { (bytes) throws(HashFileError) in
      var previous: (row: UInt32, end: Int)?
      for start in stride(from: 0, to: rows.count, by: Self.groupSize) {
        let group = rows[start..<min(start + Self.groupSize, rows.count)]
        // Rows that are far apart are looked up in parallel, all others one by one.
        let records = Self.areFar(group) ? try find(rows: group, in: bytes) : nil
        for (index, row) in group.enumerated() {
          if copy.count >= byteLimit { return }
          let record =
            if let records { records[index] } else { try find(row, behind: previous, in: bytes) }
          guard let record else { continue }
          let first = UInt32(copy.count)
          try append(record, bytes, to: &copy)
          entries.append((row, first, UInt32(copy.count)))
          previous = (row, record.end)
        }
      }
    }
  }

  /// The maximum of rows for which room is reserved, and the usual size of a record.
  private static let (reservedRows, usualByteCount) = (256, 48)

  /// Whether few of the rows can be close to each other.
  private static func areFar(_ rows: ArraySlice<UInt32>) -> Bool {
    guard let first = rows.first, let last = rows.last, last > first else { return false }
    return last - first > nearRows * UInt32(rows.count)
  }

  private func find(
    _ row: UInt32, behind previous: (row: UInt32, end: Int)?, in bytes: RawSpan
  ) throws(HashFileError) -> HashFileBlock? {
    if let previous, row > previous.row,
      let near = block(of: row, row - previous.row, from: previous.end, in: bytes)
    {
      return near
    }
    return try find(row: row, in: bytes)
  }

  /// The number of records that can be passed in the time of a look-up.
  private static let nearRows: UInt32 = 16

  /// Returns the record of a row if it is among the next records after an offset.
  ///
  /// The record of the previous row ends at the offset, and the row is `distance` rows further.
  @inline(__always)
  private func block(
    of row: UInt32, _ distance: UInt32, from end: Int, in bytes: RawSpan
  ) -> HashFileBlock? {
    guard distance <= Self.nearRows else { return nil }
    var offset = end
    for _ in 0..<distance {
      guard offset < geometry.end, let block = try? geometry.block(in: bytes, at: offset) else {
        return nil
      }
      if block.isRecord {
        guard block.keyCount == 4 else { return nil }
        let found = bytes.loadUInt32(at: block.keyStart, isBigEndian: false)
        if found >= row { return found == row ? block : nil }
      }
      offset = block.end
    }
    return nil
  }

  @inline(__always)
  private func append(
    _ record: HashFileBlock, _ bytes: RawSpan, to copy: inout [UInt8]
  ) throws(HashFileError) {
    if isCompressed {
      copy.append(contentsOf: try plainValue(record, bytes))
    } else {
      copy.append(copying: bytes.extracting(record.value))
    }
    file.releaseIfLarge(record.value)
  }
}
