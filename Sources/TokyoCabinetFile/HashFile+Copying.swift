import Files

// Copying many records at once: a stretch of the file is copied as a whole, and the entries locate
// the values in the copy.

extension HashFile {
  /// The row ID of a record, which is its key of 4 bytes, and the range of its value in a copy.
  package typealias Entry = (rowID: UInt32, start: UInt32, end: UInt32)

  /// Copies records with keys of 4 bytes, least significant byte first.
  ///
  /// Complexity: linear in the copied part.
  ///
  /// - Parameters:
  ///   - position: The position at which an earlier call stopped; nil for the first record.
  ///   - copy: The bytes to append to.
  ///   - entries: The entries to append to.
  ///   - limits: The approximate maximum of bytes, and the maximum of records.
  /// - Returns: The position to continue at; nil at the end of the file.
  /// - Throws: ``HashFileError`` with `damaged`, also for a key of another size, or
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

  /// The part of the file that stays in memory after a scan has passed it.
  private static let window = 4 << 20

  /// Frees the memory of the part of the file that a scan has passed, one window at a time.
  ///
  /// So a scan of a file of any size needs no more memory than a window.
  private func release(_ before: Int, _ now: Int) {
    guard before / Self.window != now / Self.window else { return }
    let end = now / Self.window * Self.window
    file.release(before / Self.window * Self.window..<end)
  }

  /// Copies records up to the next large free block, and returns the position to continue at.
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

  /// The size up to which a free block is copied, too.
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
        "a key of \(block.keyCount) bytes is not a row ID: this is not a class file",
        block.offset)
    }
    return bytes.loadUInt32(at: block.keyStart, isBigEndian: false)
  }
}
