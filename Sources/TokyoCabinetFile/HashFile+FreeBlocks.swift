import Files

extension HashFile {
  /// A part of the file that holds no record, for a writer to use.
  public struct FreeBlock: Sendable, Hashable {
    /// Where it begins, in bytes from the beginning of the file.
    public let offset: Int
    /// Its size in bytes.
    public let size: Int
  }

  /// The free blocks between the records, in the order of the file.
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

  /// The free-block pool: the free blocks that the next writer is going to know of.
  ///
  /// It need not have them all, and one of its entries may stand for several that follow one
  /// another.
  ///
  /// Complexity: linear in the size of the pool.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  public func freeBlockPool() throws(HashFileError) -> [FreeBlock] {
    try file.withBytes { (bytes) throws(HashFileError) in
      var (cursor, last) = (geometry.pool, 0)
      var blocks: [FreeBlock] = []
      // Pairs of sizes, the distance from the block before and the size, up to a 0
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
  /// A number of the pool, in bytes; nil when it is not written as such, or larger than the file.
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
