import Files

/// The file format of an ordered table.
///
/// All integers are little-endian; <doc:OrderedFileFormat> has an example.
///
///     0      header   | "SOKeys" 0 1 |
///            pages    | size of the page (4) | checksum (4) | page |
///            filter   | size of the filter (4) | checksum (4) | filter |, only in runs
///     -64    footer   | "SOKeyEnd" | version (4) | depth (4) | root (8) | size of the root (4) |
///                       size of the filter (4) | keys (8) | size of the file (8) | mark (12) |
///                       checksum (4)
///
///     page             | count (2) | level (1) | zero (1) | size of the prefix (4) |
///                        offset of each entry (2 each, 4 above level 0) | prefix | entries |
///     entry            | size of the key without prefix (varint) | that key | value |
///
/// Pages of level 0 contain the keys. Pages of higher levels have an entry for each page of the
/// level below. The key of such an entry is a separator: not greater than the first key of that
/// page, and greater than all keys before it. Its value locates the page: offset (8), size (4),
/// number of the keys before it (8). The last page is the root. The checksum of a page (CRC-32C)
/// covers the page's offset and its stored bytes.
///
/// The version says what the entries are, see ``Content``. In a run, a page is located by eight more
/// bytes: the growth of the table by the entries before it. The checksum of a filter covers its offset
/// plus 2^62, so that it is never taken for a page.
package enum OrderedFileFormat {
  /// The first bytes of a file.
  package static let magic = Array("SOKeys".utf8) + [0, 1]
  /// The number of these bytes, as a constant.
  static let magicSize = 8
  static let endMagic = Array("SOKeyEnd".utf8)
  /// The meaning of a file's entries, which the version in the footer names.
  package enum Content: UInt32, Sendable {
    /// The keys of a table, or of a part of it, with their values.
    case keys = 1
    /// The list of the segments of a large table, see ``SegmentList``.
    case segments = 2
    /// A sorted run: changes of keys, see ``RunEntry``.
    case run = 3
  }
  /// The size of the footer.
  package static let footerSize = 64
  /// The size of the head before a page, with its size and checksum.
  package static let pageHeadSize = 8
  /// The size of the fields before the offsets of a page.
  static let fieldsSize = 8
  /// The size of the value of an entry above level 0.
  static let childSize = 20
  /// The same in a run.
  static let runChildSize = 28
  /// The size at which a page gets no more entries; a page with a long key is larger.
  static let pageSize = 4096
  /// Returns the minimum number of entries; above level 0 it limits the number of levels.
  static func leastCount(_ level: Int) -> Int { level == 0 ? 1 : 8 }
  /// Returns the size of an entry's offset.
  static func slotSize(_ level: Int) -> Int { level == 0 ? 2 : 4 }
  /// The maximum number of levels; a file with more is damaged.
  static let maximumDepth: UInt32 = 16

  /// The range of the file's mark in the footer, see ``FileMark``; zeros if there is no mark.
  static let markOffset = 48..<60

  /// Returns the mark in a file, nil for none, or ``FileMark/unreadable`` if the footer is damaged.
  static func mark(_ file: MappedFile) -> FileMark? {
    file.withBytes { bytes in
      guard bytes.byteCount >= magicSize + footerSize else { return .unreadable }
      let footer = [UInt8](
        copying: bytes.extracting(bytes.byteCount - footerSize..<bytes.byteCount))
      guard Footer(footer, fileSize: bytes.byteCount) != nil else { return .unreadable }
      return FileMark(footer[markOffset])
    }
  }

  /// The location of a page, and the number of keys before it.
  struct Child: Sendable {
    var offset: Int
    /// The size including the head.
    var size: Int
    /// The number of keys before its first key.
    var rank: Int
    /// The number of keys by which the entries before it make the table larger; 0 except in a run.
    var growth = 0
  }

  /// The footer of a file.
  struct Footer: Sendable {
    var depth: UInt32
    /// The root page; its size is 0 in an empty table.
    var root: Child
    var count: Int
    var content = Content.keys
    /// The size of the filter with its head; 0 if there is none.
    var filterSize = 0

    /// Returns the bytes of the footer at an offset.
    func bytes(at offset: Int, mark: FileMark?) -> [UInt8] {
      var buffer = DataBuffer(endMagic)
      buffer.write(content.rawValue)
      buffer.write(depth)
      buffer.write(UInt64(root.offset))
      buffer.write(UInt32(root.size))
      buffer.write(UInt32(filterSize))
      buffer.write(UInt64(count))
      buffer.write(UInt64(offset + footerSize))
      buffer.append(mark?.bytes ?? [UInt8](repeating: 0, count: FileMark.byteCount))
      buffer.write(CommitLogFormat.checksum(buffer.bytes))
      return buffer.bytes
    }

    /// Reads a footer; nil if it is not valid for a file of this size.
    init?(_ bytes: [UInt8], fileSize: Int) {
      guard bytes.count == footerSize, bytes.starts(with: endMagic),
        let footer = try? Self(checked: bytes, fileSize)
      else { return nil }
      self = footer
    }

    init(depth: UInt32, root: Child, count: Int, content: Content = .keys, filterSize: Int = 0) {
      (self.depth, self.root, self.count) = (depth, root, count)
      (self.content, self.filterSize) = (content, filterSize)
    }

    private init?(checked bytes: [UInt8], _ fileSize: Int) throws(DataBufferError) {
      var buffer = DataBuffer(bytes)
      try buffer.skip(endMagic.count)
      guard let content = Content(rawValue: try buffer.readUInt32()) else { return nil }
      self.content = content
      depth = try buffer.readUInt32()
      let (offset, size) = (try buffer.readUInt64(), try buffer.readUInt32())
      let filterSize = Int(try buffer.readUInt32())
      self.filterSize = content == .run ? filterSize : 0
      let keys = try buffer.readUInt64()
      guard try buffer.readUInt64() == UInt64(fileSize), depth <= maximumDepth,
        let offset = Int(exactly: offset), let count = Int(exactly: keys),
        // A key takes at least two bytes, so that no sum of ranks overflows.
        count <= fileSize / 2, self.filterSize <= fileSize - footerSize - magicSize
      else { return nil }
      (root, self.count) = (Child(offset: offset, size: Int(size), rank: 0), count)
      let expected = CommitLogFormat.checksum(Array(bytes[..<(footerSize - 4)]))
      try buffer.skip(footerSize - 4 - buffer.offset)
      guard try buffer.readUInt32() == expected else { return nil }
    }
  }

  /// Returns the offset with which the checksum of a filter is computed, so that a filter is never
  /// taken for a page.
  static func filterPlace(_ offset: Int) -> Int { offset | 1 << 62 }

  /// Returns the checksum of a page in its stored form.
  package static func checksum(_ page: Span<UInt8>, at offset: Int) -> UInt32 {
    var checksum = CRC32C()
    var location: [UInt8] = []
    location.append(littleEndian: UInt64(offset))
    checksum.update(location.span)
    checksum.update(page)
    return checksum.value
  }
}

/// A transformation between the pages of an ordered table and their stored form: encryption.
///
/// The stored form may be longer or shorter. Both directions get the offset of the page, so that
/// the stored form can be bound to its place.
package protocol OrderedPageCodec: Sendable {
  /// Returns the stored form of a page at an offset.
  func seal(_ page: [UInt8], at offset: Int) throws(StoreError) -> [UInt8]
  /// Returns the page of a stored form.
  func open(_ stored: RawSpan, at offset: Int) throws(StoreError) -> [UInt8]
}
