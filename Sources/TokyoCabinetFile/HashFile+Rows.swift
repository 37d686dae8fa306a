import Files

// Reading the records of rows, whose keys have 4 bytes, the least significant first.

extension HashFile {
  /// Appends a copy of the record of a row to bytes; false when there is no such row.
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

  /// Copies the records of some rows, in their order; those that are not there are left out.
  ///
  /// Give the rows in ascending order. A row that is not far behind the one before it often has its
  /// record a few records further on, where it is found without a look-up. That record is in the
  /// chain of blocks, as a scan finds it.
  ///
  /// Complexity: linear in the number of rows, and in the size of their records.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - copy: Gets the bytes; what is there stays.
  ///   - entries: Gets the records.
  ///   - byteLimit: With so many bytes the call ends, and leaves out the rest of the rows.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`.
  package func copyRecords(
    of rows: [UInt32], to copy: inout [UInt8], _ entries: inout [Entry], byteLimit: Int
  ) throws(HashFileError) {
    try file.withBytes { (bytes) throws(HashFileError) in
      var previous: (row: UInt32, end: Int)?
      for start in stride(from: 0, to: rows.count, by: Self.groupSize) {
        let group = rows[start..<min(start + Self.groupSize, rows.count)]
        // Rows that are far from each other are looked up side by side, all others one by one.
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

  /// Whether few of some rows can be near each other.
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

  /// A look-up takes as long as going past so many records.
  private static let nearRows: UInt32 = 16

  /// The record of a row that is so many rows behind the one whose record ends at an offset, if it
  /// is one of the next.
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
