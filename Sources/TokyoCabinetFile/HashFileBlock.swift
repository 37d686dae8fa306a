import Files

/// A record or a free block in a file; all its parts are inside of the file.
struct HashFileBlock {
  /// The offset of the block.
  let offset: Int
  /// The offset of the next block.
  let end: Int
  /// The offset of the key; 0 for a free block.
  let keyStart: Int
  let keyCount: Int
  let valueCount: Int

  @inline(__always) var isRecord: Bool { keyStart != 0 }
  @inline(__always) var key: Range<Int> { keyStart..<keyStart + keyCount }
  @inline(__always) var valueStart: Int { keyStart + keyCount }
  @inline(__always) var value: Range<Int> { valueStart..<valueStart + valueCount }

  /// The reason why there is no block at an offset.
  enum Fault: Error {
    case outOfFile, unknownMark, badSize, tooLong

    var message: String {
      switch self {
      case .outOfFile: "an offset leads out of the part of the file where records are"
      case .unknownMark: "there is no record or free block where one should be"
      case .badSize: "a size is not encoded as sizes are"
      case .tooLong: "a block extends beyond the end of the file"
      }
    }
  }
}

extension HashFileGeometry {
  /// Returns the block at an offset (`tchdbreadrec`).
  @inline(__always)
  func block(in bytes: RawSpan, at offset: Int) throws(HashFileBlock.Fault) -> HashFileBlock {
    // A free block has at least 5 bytes, a record more.
    guard offset >= first, offset <= end - 5 else { throw .outOfFile }
    let mark = bytes.loadByte(at: offset)
    if mark == HashFileFormat.recordMark { return try record(in: bytes, at: offset) }
    guard mark == HashFileFormat.freeBlockMark else { throw .unknownMark }
    let count = Int(bytes.loadUInt32(at: offset + 1, isBigEndian: isBigEndian))
    guard count >= 5 else { throw .badSize }
    guard count <= end - offset else { throw .tooLong }
    return HashFileBlock(
      offset: offset, end: offset + count, keyStart: 0, keyCount: 0, valueCount: 0)
  }

  @inline(__always)
  private func record(
    in bytes: RawSpan, at offset: Int
  ) throws(HashFileBlock.Fault) -> HashFileBlock {
    let sizes = offset + 4 + 2 * width
    guard sizes + 2 <= end else { throw .tooLong }
    let padding = Int(bytes.loadUInt16(at: sizes - 2, isBigEndian: isBigEndian))
    var cursor = sizes
    let keyCount = try size(in: bytes, at: &cursor)
    let valueCount = try size(in: bytes, at: &cursor)
    // Each is less than 2 to the 35th, so the sum can't overflow.
    let blockEnd = cursor + keyCount + valueCount + padding
    guard blockEnd <= end else { throw .tooLong }
    return HashFileBlock(
      offset: offset, end: blockEnd, keyStart: cursor, keyCount: keyCount, valueCount: valueCount)
  }

  /// Reads a size (`TCREADVNUMBUF`).
  ///
  /// It has seven bits per byte, least significant first; all bytes except the last are inverted.
  @inline(__always)
  private func size(in bytes: RawSpan, at cursor: inout Int) throws(HashFileBlock.Fault) -> Int {
    guard cursor < end else { throw .tooLong }
    let byte = bytes.loadByte(at: cursor)
    cursor += 1
    return byte < 0x80 ? Int(byte) : try longSize(in: bytes, at: &cursor, Int(~byte))
  }

  /// Reads the rest of a size with more than one byte.
  private func longSize(
    in bytes: RawSpan, at cursor: inout Int, _ start: Int
  ) throws(HashFileBlock.Fault) -> Int {
    var (count, shift) = (start, 7)
    while shift < 35 {
      guard cursor < end else { throw .tooLong }
      let byte = bytes.loadByte(at: cursor)
      cursor += 1
      if byte < 0x80 { return count + Int(byte) << shift }
      count += Int(~byte) << shift
      shift += 7
    }
    throw .badSize
  }

  /// Returns the offset of a record's link to greater keys.
  @inline(__always) func left(_ record: Int) -> Int { record + 2 }
  /// Returns the offset of a record's link to lesser keys.
  @inline(__always) func right(_ record: Int) -> Int { record + 2 + width }
}

extension HashFile {
  /// Returns the block at an offset.
  @inline(__always)
  func block(in bytes: RawSpan, at offset: Int) throws(HashFileError) -> HashFileBlock {
    do {
      return try geometry.block(in: bytes, at: offset)
    } catch {
      throw damaged(error.message, offset)
    }
  }
}
