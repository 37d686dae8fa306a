import Files

/// The file of an ordered table.
///
/// All integers are little-endian; <doc:OrderedFileFormat> has an example.
///
///     0      header   | "SOKeys" 0 1 |
///            pages    | size of the page (4) | checksum (4) | page |
///     -64    footer   | "SOKeyEnd" | version (4) | depth (4) | root (8) | size of the root (4) |
///                       zero (4) | keys (8) | size of the file (8) | mark (12) | checksum (4)
///
///     page             | count (2) | level (1) | zero (1) | size of the prefix (4) |
///                        offset of each entry (2 each, 4 above level 0) | prefix | entries |
///     entry            | size of the key without prefix (varint) | that key | value |
///
/// Pages of level 0 hold the keys; those of a level above have an entry for each page of the level
/// below: a key that is not behind the first one there and behind all before it, and where the page
/// is: offset (8), size (4), number of the keys before it (8). The last page is the root. The
/// checksum of a page (CRC-32C) covers the page's offset and its bytes, as they are stored.
package enum OrderedFileFormat {
  /// What a file begins with.
  package static let magic = Array("SOKeys".utf8) + [0, 1]
  /// How many bytes these are; a number costs nothing to ask for.
  static let magicSize = 8
  static let endMagic = Array("SOKeyEnd".utf8)
  static let version: UInt32 = 1
  /// The size of the end of a file.
  package static let footerSize = 64
  /// Size and checksum in front of a page.
  package static let pageHeadSize = 8
  /// What a page has before its offsets.
  static let fieldsSize = 8
  /// The value of an entry above level 0.
  static let childSize = 20
  /// A page that has reached this size gets no more entries; one with a long key is larger.
  static let pageSize = 4096
  /// But above level 0 a page gets so many, or there would be no end of levels.
  static func leastCount(_ level: Int) -> Int { level == 0 ? 1 : 8 }
  /// The size of the offset of an entry.
  static func slotSize(_ level: Int) -> Int { level == 0 ? 2 : 4 }
  /// A file has no more levels than this, or it is damaged.
  static let maximumDepth: UInt32 = 16

  /// Where the footer has the file's mark, see ``FileMark``; zeros in a file without one.
  static let markOffset = 48..<60

  /// The mark in a file; nil where there is none, ``FileMark/unreadable`` where the end is damaged.
  static func mark(_ file: MappedFile) -> FileMark? {
    file.withBytes { bytes in
      guard bytes.byteCount >= magicSize + footerSize else { return .unreadable }
      let footer = [UInt8](
        copying: bytes.extracting(bytes.byteCount - footerSize..<bytes.byteCount))
      guard Footer(footer, fileSize: bytes.byteCount) != nil else { return .unreadable }
      return FileMark(footer[markOffset])
    }
  }

  /// Where a page is, and what is before it.
  struct Child: Sendable {
    var offset: Int
    /// The size with head.
    var size: Int
    /// The number of keys before its first.
    var rank: Int
  }

  /// The end of a file.
  struct Footer: Sendable {
    var depth: UInt32
    /// An empty table has no root, but a size of 0.
    var root: Child
    var count: Int

    /// The bytes of the footer of a file that has a size so far.
    func bytes(at offset: Int, mark: FileMark?) -> [UInt8] {
      var buffer = DataBuffer(endMagic)
      buffer.write(version)
      buffer.write(depth)
      buffer.write(UInt64(root.offset))
      buffer.write(UInt32(root.size))
      buffer.write(UInt32(0))
      buffer.write(UInt64(count))
      buffer.write(UInt64(offset + footerSize))
      buffer.append(mark?.bytes ?? [UInt8](repeating: 0, count: FileMark.byteCount))
      buffer.write(CommitLogFormat.checksum(buffer.bytes))
      return buffer.bytes
    }

    /// Reads a footer; nil when it makes no sense for a file of this size.
    init?(_ bytes: [UInt8], fileSize: Int) {
      guard bytes.count == footerSize, bytes.starts(with: endMagic),
        let footer = try? Self(checked: bytes, fileSize)
      else { return nil }
      self = footer
    }

    init(depth: UInt32, root: Child, count: Int) {
      (self.depth, self.root, self.count) = (depth, root, count)
    }

    private init?(checked bytes: [UInt8], _ fileSize: Int) throws(DataBufferError) {
      var buffer = DataBuffer(bytes)
      try buffer.skip(endMagic.count)
      guard try buffer.readUInt32() == version else { return nil }
      depth = try buffer.readUInt32()
      let (offset, size) = (try buffer.readUInt64(), try buffer.readUInt32())
      try buffer.skip(4)
      let keys = try buffer.readUInt64()
      guard try buffer.readUInt64() == UInt64(fileSize), depth <= maximumDepth,
        let offset = Int(exactly: offset), let count = Int(exactly: keys),
        // A key takes two bytes and more, so that no sum of ranks overflows.
        count <= fileSize / 2
      else { return nil }
      (root, self.count) = (Child(offset: offset, size: Int(size), rank: 0), count)
      let expected = CommitLogFormat.checksum(Array(bytes[..<(footerSize - 4)]))
      try buffer.skip(footerSize - 4 - buffer.offset)
      guard try buffer.readUInt32() == expected else { return nil }
    }
  }

  /// The checksum of a page as it is stored.
  package static func checksum(_ page: Span<UInt8>, at offset: Int) -> UInt32 {
    var checksum = CRC32C()
    var location: [UInt8] = []
    location.append(littleEndian: UInt64(offset))
    checksum.update(location.span)
    checksum.update(page)
    return checksum.value
  }
}

/// What is between the pages of an ordered table and their file: nothing, or encryption.
///
/// A page may become longer or shorter; its offset is given to both, so that it can be bound to its
/// place.
package protocol OrderedPageCodec: Sendable {
  /// The bytes that are stored of a page that is going to stand at an offset.
  func seal(_ page: [UInt8], at offset: Int) throws(StoreError) -> [UInt8]
  /// The page of which bytes are stored.
  func open(_ stored: RawSpan, at offset: Int) throws(StoreError) -> [UInt8]
}
