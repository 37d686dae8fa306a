import Files

extension HashFile {
  /// A part of the file without records, which a writer can use.
  public struct FreeBlock: Sendable, Hashable {
    /// The offset in the file.
    public let offset: Int
    /// Its size in bytes.
    public let size: Int
  }

  /// Returns the free blocks between the records, in the order of the file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  public func freeBlocks() throws(HashFileError) -> [FreeBlock] {
    try file.withBytes { (bytes) throws(HashFileError) in
      var blocks: [FreeBlock] = []
      var offset = geometry.first
      while offset < geometry.end {
        let block = try block(in: bytes, at: offset)
        if !block.isRecord { blocks.append(FreeBlock(offset: offset, size: block.end - offset)) }
        offset = block.end
      }
      return blocks
    }
  }

  /// Returns the free-block pool: the free blocks that the next writer will know.
  ///
  /// It may be incomplete, and one entry may cover several adjacent blocks.
  ///
  /// Complexity: linear in the size of the pool.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  public func freeBlockPool() throws(HashFileError) -> [FreeBlock] {
    try file.withBytes { (bytes) throws(HashFileError) in
      var (cursor, last) = (geometry.pool, 0)
      var blocks: [FreeBlock] = []
      // The pool has pairs of numbers, the distance from the previous block and the size, up to a 0
      // (`tchdbsavefbp`).
      while cursor < geometry.first, bytes.loadByte(at: cursor) != 0 {
        let start = cursor
        guard let distance = geometry.poolNumber(in: bytes, at: &cursor),
          let size = geometry.poolNumber(in: bytes, at: &cursor)
        else { throw damaged("the free-block pool is damaged", start) }
        last += distance
        guard last < geometry.end, size <= geometry.end - last else {
          throw damaged("the free-block pool leads out of the file", start)
        }
        blocks.append(FreeBlock(offset: last, size: size))
      }
      return blocks
    }
  }
}

extension HashFileGeometry {
  /// Reads a number of the pool, in bytes; nil if it is not valid, or larger than the file.
  fileprivate func poolNumber(in bytes: RawSpan, at cursor: inout Int) -> Int? {
    var (number, shift) = (0, 0)
    while cursor < first, shift < 49 {
      let byte = bytes.loadByte(at: cursor)
      cursor += 1
      number += Int(byte < 0x80 ? byte : ~byte) << shift
      shift += 7
      if byte < 0x80 {
        return number <= end >> Int(alignmentPower) ? number << Int(alignmentPower) : nil
      }
    }
    return nil
  }
}
