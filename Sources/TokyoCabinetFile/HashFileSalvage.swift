package import Files

/// Finds the records of a hash file that may be wrecked, its header included.
///
///     var salvage = try HashFileSalvage("Song")
///     try salvage.run { key, value, record in print(record.offset) }
///     for gap in salvage.gaps { print("lost: \(gap)") }
///
/// Where a block should begin and none does, every later place is tried until one has a record: the
/// right mark, sizes that fit into the file, a key whose hash is the one in the record, and another
/// block where it ends. No size is believed without such a second sign: records that a wrong size
/// would skip are found inside the block. Without a header the byte order and the width of offsets
/// are those that give the most records.
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

  /// Opens a file.
  ///
  /// Complexity: constant time; without a header, linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `noFile`, `noPermission` or `ioError`.
  public init(_ path: String) throws(HashFileError) { try self.init(path.location) }

  /// Opens a file, perhaps one in an open directory.
  package init(_ location: FileLocation) throws(HashFileError) {
    self.init(try hashFileErrors { () throws(SystemError) in try MappedFile(location) })
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
    let said = header.map { HashFileGeometry(salvaging: $0, file) }
    // Where it leads to nothing, the header is wrong about the kind of file.
    geometry =
      said.flatMap { header?.recordCount == 0 || $0.hasRecords(file) ? $0 : nil }
      ?? Self.guess(file) ?? said
      ?? HashFileGeometry(isBigEndian: true, isLarge: false, size: file.count)
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
  /// Complexity: linear in the size of the file; where it is damaged, some hundred times that at
  /// worst.
  ///
  /// - Parameter body: Gets a key and a value, which are valid only inside, and what is known of
  ///   them.
  /// - Throws: What the body throws.
  public mutating func run<Failure: Error>(
    _ body: (_ key: RawSpan, _ value: RawSpan, _ record: Record) throws(Failure) -> Void
  ) throws(Failure) {
    try run(isValid: nil, body)
  }

  /// Lends the records, where each can be told from what only looks like one.
  ///
  /// - Parameters:
  ///   - isValid: Whether a key and a value are what was saved: by a checksum. Where the chain of
  ///     blocks is broken, the size of a record is believed only if its content is valid.
  ///   - body: Gets a key and a value, as in ``run(_:)``; also records that are not valid.
  /// - Throws: What the body throws.
  package mutating func run<Failure: Error>(
    isValid: ((_ key: RawSpan, _ value: RawSpan) -> Bool)?,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ record: Record) throws(Failure) -> Void
  ) throws(Failure) {
    (gaps, unreadableCount) = ([], 0)
    try file.withBytes { (bytes) throws(Failure) in
      if isWhole(bytes) { return try runWhole(bytes, isValid, body) }
      var search = HashFileSearch(
        geometry, headerEnd: header.map { Int(clamping: $0.fileSize) }, isDeflated: isDeflated,
        size: size, isValid: isValid)
      var (offset, isCertain) = (geometry.first, header != nil)
      while offset < geometry.end {
        if let found = search.block(at: offset, bytes) {
          if found.block.isRecord {
            try lend(found.block, bytes, isCertain && found.isSound, isValid, body)
          }
          if let gap = found.gap { note(gap, bytes) }
          (offset, isCertain) = (found.next, found.isNextCertain && header != nil)
        } else {
          let next = search.next(from: offset + 1, bytes)
          note(offset..<next, bytes)
          (offset, isCertain) = (next, false)
        }
      }
    }
  }

  private mutating func note(_ gap: Range<Int>, _ bytes: RawSpan) {
    // A file that was not closed may have room behind its last block.
    let isRoom = gap.upperBound == geometry.end && gap.lowerBound >= header?.fileSize ?? .max
    if !gap.isEmpty, !isRoom { gaps.append(gap) }
  }

  /// Whether the blocks follow one another from the first to the last, with as many records as the
  /// header counts: then nothing is hidden between them.
  private func isWhole(_ bytes: RawSpan) -> Bool {
    guard let header, !header.isMarkedOpen, header.fileSize <= UInt64(size),
      header.firstRecord == UInt64(clamping: geometry.first)
    else { return false }
    let end = Int(header.fileSize)
    var (offset, count) = (geometry.first, UInt64(0))
    while offset < end {
      guard let block = try? geometry.block(in: bytes, at: offset), block.end <= end else {
        return false
      }
      if block.isRecord {
        let hash = HashFileFormat.hashes(of: bytes.extracting(block.key)).second
        guard hash == bytes.loadByte(at: offset + 1) else { return false }
        count += 1
      }
      offset = block.end
    }
    return count == header.recordCount
  }

  private mutating func runWhole<Failure: Error>(
    _ bytes: RawSpan, _ isValid: HashFileSearch.Check?,
    _ body: (RawSpan, RawSpan, Record) throws(Failure) -> Void
  ) throws(Failure) {
    let end = Int(clamping: header?.fileSize ?? 0)
    var offset = geometry.first
    while offset < end, let block = try? geometry.block(in: bytes, at: offset) {
      if block.isRecord { try lend(block, bytes, true, isValid, body) }
      offset = block.end
    }
  }

  private var isDeflated: Bool { header?.options.contains(.deflate) == true }

  private mutating func lend<Failure: Error>(
    _ block: HashFileBlock, _ bytes: RawSpan, _ isCertain: Bool, _ isValid: HashFileSearch.Check?,
    _ body: (RawSpan, RawSpan, Record) throws(Failure) -> Void
  ) throws(Failure) {
    let record = Record(offset: block.offset, isCertain: isCertain)
    let (key, value) = (bytes.extracting(block.key), bytes.extracting(block.value))
    // What is valid as it is was never compressed, whatever the header says.
    guard isDeflated, isValid?(key, value) != true else { return try body(key, value, record) }
    guard let plain = Deflate.inflated(value, limit: HashFileFormat.recordLimit) else {
      return unreadableCount += 1
    }
    try plain.lend { (value) throws(Failure) in try body(key, value, record) }
  }

  // MARK: Without a header

  /// The geometry in which there are the most records; nil if there are none in any.
  private static func guess(_ file: MappedFile) -> HashFileGeometry? {
    let all = [true, false].flatMap { isBig in
      [false, true].map { HashFileGeometry(isBigEndian: isBig, isLarge: $0, size: file.count) }
    }
    let counts = all.map { geometry in
      var salvage = HashFileSalvage(file, geometry)
      var count = 0
      salvage.run { _, _, _ in count += 1 }
      return count
    }
    let best = counts.indices.max { counts[$0] < counts[$1] } ?? 0
    guard counts[best] > 0 else { return nil }
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
  /// The fields of a header, and the size of the file: a header that is not up to date counts too
  /// little.
  fileprivate init(salvaging header: HashFileHeader, _ file: MappedFile) {
    // The place of the first block is written down, and follows from other numbers: one may be
    // wrong.
    let starts = [Int(clamping: header.firstRecord), HashFileLayout(of: header).first].sorted()
    let all = starts.map { HashFileGeometry(header, first: $0, end: file.count) }
    self = file.withBytes { bytes in all.first { $0.hasBlock(at: $0.first, bytes) } } ?? all[0]
  }

  private init(_ header: HashFileHeader, first: Int, end: Int) {
    isBigEndian = header.byteOrder == .big
    isLarge = header.options.contains(.large)
    alignmentPower = UInt64(header.alignmentPower)
    bucketCount = header.bucketCount
    (self.first, self.end) = (first, end)
  }

  private func hasBlock(at offset: Int, _ bytes: RawSpan) -> Bool {
    guard let block = try? self.block(in: bytes, at: offset) else { return false }
    guard block.isRecord else { return true }
    let hash = HashFileFormat.hashes(of: bytes.extracting(block.key)).second
    return hash == bytes.loadByte(at: offset + 1)
  }

  /// Whether there is a record somewhere.
  fileprivate func hasRecords(_ file: MappedFile) -> Bool {
    file.withBytes { bytes in
      var search = HashFileSearch(
        self, headerEnd: nil, isDeflated: false, size: file.count, isValid: nil)
      if search.block(at: first, bytes)?.block.isRecord == true { return true }
      return search.next(from: first, bytes) < end
    }
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
