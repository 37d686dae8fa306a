package import Files

/// Finds the records of a hash file that may be wrecked, its header included.
///
///     var salvage = try HashFileSalvage("Song")
///     try salvage.run { key, value, record in print(record.offset) }
///     for gap in salvage.gaps { print("lost: \(gap)") }
///
/// Where a block should begin and none does, every later place is tried until one has a record: the
/// right mark, sizes that fit into the file, and a key whose hash is the one in the record. Without a
/// header the byte order and the width of offsets are those that give the most records.
public struct HashFileSalvage {
  /// What is known of a record that was found.
  public struct Record: Sendable, Hashable {
    /// Where it begins.
    public let offset: Int
    /// Whether it stands where the block before it ends.
    ///
    /// One that was found by looking may be one that was deleted or rewritten since.
    public let isCertain: Bool
  }

  /// The header; nil when it makes no sense, or is that of another kind of file.
  public let header: HashFileHeader?
  /// The parts of the file in which there was nothing, or nothing that should be there.
  public private(set) var gaps: [Range<Int>] = []
  /// How many records were found whose values could not be decompressed.
  public private(set) var unreadableCount = 0
  /// The size of the file as the system has it.
  public let size: Int

  private let file: MappedFile
  private let geometry: HashFileGeometry
  /// When looking, keys that are longer than this are not believed: so each place costs little.
  private static let longestKey = 1024

  /// Opens a file.
  ///
  /// Complexity: constant time; without a header, linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `noFile`, `noPermission` or `ioError`.
  public init(_ path: String) throws(HashFileError) { try self.init(path.place) }

  /// Opens a file, perhaps one in an open directory.
  package init(_ place: FilePlace) throws(HashFileError) {
    self.init(try hashFileErrors { () throws(SystemError) in try MappedFile(place) })
  }

  /// Reads bytes as if they were a file's.
  public init(bytes: [UInt8]) { self.init(MappedFile(copying: bytes)) }

  private init(_ file: MappedFile) {
    self.file = file
    size = file.count
    let start = file.withBytes { [UInt8](copying: $0.extracting(first: HashFileHeader.size)) }
    let header = HashFileHeader(bytes: start).flatMap { header in
      header.type == 0 && header.alignmentPower <= HashFileFormat.alignmentPowerLimit
        ? header : nil
    }
    self.header = header
    geometry =
      header.map { HashFileGeometry(salvaging: $0, size: file.count) } ?? Self.guess(file)
  }

  /// Whether the values are compressed in a way that only the C library can undo.
  public var isUnsupported: Bool {
    !(header?.options.isDisjoint(with: [.bzip, .tcbs, .ownCodec]) ?? true)
  }

  /// The number of bytes that the header speaks of and that are not there.
  public var missingCount: Int { max(0, Int(clamping: header?.fileSize ?? 0) - size) }

  /// The number of records that there should be; nil without a header.
  public var expectedCount: Int? { header.map { Int(clamping: $0.recordCount) } }

  /// Lends the records in the order of the file.
  ///
  /// Complexity: linear in the size of the file; where it is damaged, some hundred times that at worst.
  ///
  /// - Parameter body: Gets a key and a value, which are valid only inside, and what is known of them.
  /// - Throws: What the body throws.
  public mutating func run(
    _ body: (_ key: RawSpan, _ value: RawSpan, _ record: Record) throws -> Void
  ) throws {
    (gaps, unreadableCount) = ([], 0)
    try file.withBytes { bytes in
      var (offset, isCertain) = (geometry.first, header != nil)
      while offset < geometry.end {
        if let block = block(bytes, at: offset), leadsOn(block, bytes) {
          if block.isRecord { try lend(block, bytes, isCertain, body) }
          (offset, isCertain) = (block.end, header != nil)
        } else {
          (offset, isCertain) = (skip(from: offset, bytes), false)
        }
      }
    }
  }

  private mutating func lend(
    _ block: HashFileBlock, _ bytes: RawSpan, _ isCertain: Bool,
    _ body: (RawSpan, RawSpan, Record) throws -> Void
  ) throws {
    let record = Record(offset: block.offset, isCertain: isCertain)
    let (key, value) = (bytes.extracting(block.key), bytes.extracting(block.value))
    guard header?.options.contains(.deflate) == true else { return try body(key, value, record) }
    guard let plain = Deflate.inflated(value, limit: HashFileFormat.recordLimit) else {
      return unreadableCount += 1
    }
    try plain.lend { try body(key, $0, record) }
  }

  /// A free block, or a record whose key has the hash that stands in it.
  private func block(
    _ bytes: RawSpan, at offset: Int, longestKey: Int = .max
  ) -> HashFileBlock? {
    guard let block = try? geometry.block(in: bytes, at: offset) else { return nil }
    if !block.isRecord { return block }
    guard block.keyCount <= longestKey else { return nil }
    let hash = HashFileFormat.hashes(of: bytes.extracting(block.key)).second
    return hash == bytes.loadByte(at: offset + 1) ? block : nil
  }

  /// Whether a free block can be believed: it ends where another block begins, or at the end.
  private func leadsOn(_ block: HashFileBlock, _ bytes: RawSpan) -> Bool {
    block.isRecord || block.end == geometry.end || self.block(bytes, at: block.end) != nil
  }

  /// The next place where a record begins.
  private mutating func skip(from start: Int, _ bytes: RawSpan) -> Int {
    var offset = start + 1
    while offset < geometry.end {
      if bytes.loadByte(at: offset) == HashFileFormat.recordMark,
        block(bytes, at: offset, longestKey: Self.longestKey) != nil
      {
        break
      }
      offset += 1
    }
    gaps.append(start..<offset)
    return offset
  }

  // MARK: Without a header

  /// The geometry in which there are the most records.
  private static func guess(_ file: MappedFile) -> HashFileGeometry {
    let all = [true, false].flatMap { isBig in
      [false, true].map { HashFileGeometry(isBigEndian: isBig, isLarge: $0, size: file.count) }
    }
    let counts = all.map { geometry in
      var salvage = HashFileSalvage(file, geometry)
      var count = 0
      try? salvage.run { _, _, _ in count += 1 }
      return count
    }
    let best = counts.indices.max { counts[$0] < counts[$1] } ?? 0
    return counts[best] > counts[0] ? all[best] : all[0]
  }

  private init(_ file: MappedFile, _ geometry: HashFileGeometry) {
    self.file = file
    self.geometry = geometry
    size = file.count
    header = nil
  }
}

extension HashFileGeometry {
  /// What a header says, as far as the file goes.
  fileprivate init(salvaging header: HashFileHeader, size: Int) {
    isBigEndian = header.byteOrder == .big
    isLarge = header.options.contains(.large)
    alignmentPower = UInt64(header.alignmentPower)
    bucketCount = header.bucketCount
    end = min(size, Int(clamping: header.fileSize))
    first = Int(clamping: header.firstRecord)
  }

  /// A file of which nothing is known but that it begins with a header.
  fileprivate init(isBigEndian: Bool, isLarge: Bool, size: Int) {
    self.isBigEndian = isBigEndian
    self.isLarge = isLarge
    alignmentPower = 0
    bucketCount = 1
    first = HashFileHeader.size
    end = size
  }
}
