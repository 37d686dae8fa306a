package import Files

/// A search for the records of a hash file that may be damaged, including its header.
///
///     var salvage = try HashFileSalvage("Song")
///     salvage.run { key, value, record in print(record.offset) }
///     for gap in salvage.gaps { print("lost: \(gap)") }
///
/// If there is no block where one should begin, every later offset is tried until one has a record.
/// A record has the right mark, sizes that fit into the file, a key whose hash is the one in the
/// record, and another block at its end. No size is trusted without such a second sign: records
/// that a wrong size would skip are found inside the block. Without a header, the byte order and
/// the width of offsets are those that give the most records.
public struct HashFileSalvage {
  /// Information about a record that was found.
  public struct Record: Sendable, Hashable {
    /// The offset of the record.
    public let offset: Int
    /// Whether it begins where the block before it ends.
    ///
    /// A record that was found by searching may have been deleted or rewritten since.
    public let isCertain: Bool
  }

  /// The header; nil if it is not valid, or that of another kind of file.
  public let header: HashFileHeader?
  /// The parts of the file without records or free blocks, or with unexpected content.
  public private(set) var gaps: [Range<Int>] = []
  /// The number of records whose values could not be decompressed.
  public private(set) var unreadableCount = 0
  /// The size of the file according to the system.
  public let size: Int

  private let file: MappedFile
  private let geometry: HashFileGeometry

  /// Opens a file.
  ///
  /// Complexity: constant time; without a header, linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `noFile`, `noPermission` or `ioError`.
  public init(_ path: String) throws(HashFileError) { try self.init(path.location) }

  /// Opens a file, which may be in an open directory.
  package init(_ location: FileLocation) throws(HashFileError) {
    self.init(try hashFileErrors { () throws(SystemError) in try MappedFile(location) })
  }

  /// Reads bytes like a file.
  ///
  /// Complexity: linear in the number of bytes, which are copied.
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
    // If that leads to no records, the header is wrong about the kind of file.
    geometry =
      said.flatMap { header?.recordCount == 0 || $0.hasRecords(file) ? $0 : nil }
      ?? Self.guess(file) ?? said
      ?? HashFileGeometry(isBigEndian: true, isLarge: false, size: file.count)
  }

  /// Whether the values are compressed by a method that only the C library supports.
  public var isUnsupported: Bool {
    !(header?.options.isDisjoint(with: [.bzip, .tcbs, .ownCodec]) ?? true)
  }

  /// The number of bytes that the file lacks according to the header.
  public var missingCount: Int { max(0, Int(clamping: header?.fileSize ?? 0) - size) }

  /// The number of records according to the header; nil without a header.
  public var expectedCount: Int? { header.map { Int(clamping: $0.recordCount) } }

  /// Calls a closure with the records in the order of the file.
  ///
  /// Complexity: linear in the size of the file; if it is damaged, at worst some hundred times
  /// that.
  ///
  /// - Parameter body: Called with a key and a value, which are valid only during the call, and
  ///   with information about the record.
  /// - Throws: An error of the closure.
  public mutating func run<Failure: Error>(
    _ body: (_ key: RawSpan, _ value: RawSpan, _ record: Record) throws(Failure) -> Void
  ) throws(Failure) {
    try run(isValid: nil, body)
  }

  /// Calls a closure with the records, using a function that recognizes valid ones.
  ///
  /// - Parameters:
  ///   - isValid: Whether a key and a value are what was saved, by a checksum. Where the chain of
  ///     blocks is broken, the size of a record is trusted only if its content is valid.
  ///   - body: Called with a key and a value, as in ``run(_:)``; also for invalid records.
  /// - Throws: An error of the closure.
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
    // A file that was not closed may have unused room after its last block.
    let isRoom = gap.upperBound == geometry.end && gap.lowerBound >= header?.fileSize ?? .max
    if !gap.isEmpty, !isRoom { gaps.append(gap) }
  }

  /// Whether the chain of blocks is intact, with as many records as the header counts.
  ///
  /// Then nothing is hidden between the blocks.
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
    // A value that is valid without decompression was never compressed, whatever the header says.
    guard isDeflated, isValid?(key, value) != true else { return try body(key, value, record) }
    guard let plain = Deflate.inflated(value, limit: HashFileFormat.recordLimit) else {
      return unreadableCount += 1
    }
    try plain.lend { (value) throws(Failure) in try body(key, value, record) }
  }

  // MARK: Without a header

  /// Returns the geometry with the most records; nil if none has any.
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
  /// Creates the geometry of a header, with the actual size of the file.
  ///
  /// The size in an outdated header is too small.
  fileprivate init(salvaging header: HashFileHeader, _ file: MappedFile) {
    // The offset of the first block is stored, and also follows from other numbers: either may be
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

  /// Whether there is any record.
  fileprivate func hasRecords(_ file: MappedFile) -> Bool {
    file.withBytes { bytes in
      var search = HashFileSearch(
        self, headerEnd: nil, isDeflated: false, size: file.count, isValid: nil)
      if search.block(at: first, bytes)?.block.isRecord == true { return true }
      return search.next(from: first, bytes) < end
    }
  }

  /// Creates the geometry of a file of which only the presence of a header is known.
  fileprivate init(isBigEndian: Bool, isLarge: Bool, size: Int) {
    self.isBigEndian = isBigEndian
    self.isLarge = isLarge
    alignmentPower = 0
    bucketCount = 1
    first = HashFileHeader.size
    end = size
  }
}
