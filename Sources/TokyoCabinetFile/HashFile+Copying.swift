import Files

// Reading many records at once, for who wants copies: a stretch of the file is copied as a whole,
// and then it is said where in the copy the values are.

extension HashFile {
  /// The row of a record, which is its key of 4 bytes, and where its value begins and ends in a
  /// copy.
  package typealias Entry = (rowID: UInt32, start: UInt32, end: UInt32)

  /// Copies records whose keys are of 4 bytes, the least significant first.
  ///
  /// Complexity: linear in what is copied.
  ///
  /// - Parameters:
  ///   - position: Where an earlier call has stopped; nil is the first record.
  ///   - copy: Gets the bytes; what is there stays.
  ///   - entries: Gets the records.
  ///   - limits: About how many bytes, and how many records at most.
  /// - Returns: where to go on; nil at the end of the file.
  /// - Throws: ``HashFileError`` with `damaged`, for a key that is not of 4 bytes, too, or
  ///   `unsupportedCompression`.
  package func copyRecords(
    from position: Int?, to copy: inout [UInt8], _ entries: inout [Entry],
    limits: (bytes: Int, records: Int)
  ) throws(HashFileError) -> Int? {
    try file.withBytes { (bytes) throws(HashFileError) in
      var next = position ?? geometry.first
      while next < geometry.end, copy.count < limits.bytes, entries.count < limits.records {
        next =
          isCompressed
          ? try copyRecord(bytes, at: next, to: &copy, &entries)
          : try copyStretch(bytes, from: next, to: &copy, &entries, limits)
      }
      release(position ?? geometry.first, next)
      return next < geometry.end ? next : nil
    }
  }

  /// So much of the file stays in memory behind a scan.
  private static let window = 4 << 20

  /// Lets go of the part of the file that a scan has left behind, a window at a time.
  ///
  /// A walk over a file of any size takes no more memory than a window so.
  private func release(_ before: Int, _ now: Int) {
    guard before / Self.window != now / Self.window else { return }
    let end = now / Self.window * Self.window
    file.release(before / Self.window * Self.window..<end)
  }

  /// Copies records up to the next large free block, and returns where to go on.
  private func copyStretch(
    _ bytes: RawSpan, from start: Int, to copy: inout [UInt8], _ entries: inout [Entry],
    _ limits: (bytes: Int, records: Int)
  ) throws(HashFileError) -> Int {
    let (shift, limit) = (copy.count - start, start + limits.bytes - copy.count)
    var next = start
    while next < min(limit, geometry.end), entries.count < limits.records {
      let block = try block(in: bytes, at: next)
      if block.isRecord {
        entries.append(
          (
            try rowID(of: block, bytes), UInt32(block.valueStart + shift),
            UInt32(block.value.upperBound + shift)
          ))
      } else if block.end - next > Self.copiedGap {
        copy.append(copying: bytes.extracting(start..<next))
        return block.end
      }
      next = block.end
    }
    copy.append(copying: bytes.extracting(start..<next))
    return next
  }

  /// A smaller free block is copied along.
  private static let copiedGap = 512

  private func copyRecord(
    _ bytes: RawSpan, at offset: Int, to copy: inout [UInt8], _ entries: inout [Entry]
  ) throws(HashFileError) -> Int {
    let block = try block(in: bytes, at: offset)
    if block.isRecord {
      let start = UInt32(copy.count)
      copy.append(contentsOf: try plainValue(block, bytes))
      entries.append((try rowID(of: block, bytes), start, UInt32(copy.count)))
    }
    return block.end
  }

  @inline(__always)
  private func rowID(
    of block: HashFileBlock, _ bytes: RawSpan
  ) throws(HashFileError) -> UInt32 {
    guard block.keyCount == 4 else {
      throw damaged(
        "a key of \(block.keyCount) bytes is no row ID: this is not the file of a class",
        block.offset)
    }
    return bytes.loadUInt32(at: block.keyStart, isBigEndian: false)
  }
}
