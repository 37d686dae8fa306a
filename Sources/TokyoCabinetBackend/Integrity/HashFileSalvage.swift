import StoredObjectsCore
import TokyoCabinet

/// Finds the records of a hash file that may be wrecked, without the C library.
///
/// Where a block should begin and none does, every later place is tried until one has a record: the
/// right mark, sizes that fit into the file, and a key whose hash is the one in the record.
struct HashFileSalvage {
  /// A record that was found.
  struct Record {
    let key: [UInt8]
    let value: [UInt8]
    let offset: Int
    /// Whether it stands where the block before it ends.
    ///
    /// One that was found by looking may be one that was deleted or rewritten since.
    let isCertain: Bool
  }

  private let reader: HashFileReader
  /// The parts of the file in which there was nothing, or nothing that should be there.
  private(set) var gaps: [Range<Int>] = []

  init(_ path: String) throws { reader = try HashFileReader(path) }

  /// Whether the values are compressed, which only the C library can undo.
  var isCompressed: Bool {
    !(reader.header?.options.isDisjoint(with: [.deflate, .bzip, .tcbs]) ?? true)
  }

  var hasHeader: Bool { reader.header?.type == 0 }
  var size: Int { reader.size }

  /// The number of bytes that the header speaks of and that are not there.
  var missingCount: Int { max(0, Int(clamping: reader.header?.fileSize ?? 0) - reader.size) }

  /// The number of records that there should be; nil without a header.
  var expectedCount: Int? { reader.header.map { Int(clamping: $0.recordCount) } }

  /// Lends the records in the order of the file.
  mutating func run(_ body: (Record) throws -> Void) throws {
    let end = min(reader.size, reader.header.map { Int(clamping: $0.fileSize) } ?? reader.size)
    var offset = reader.header.map { Int(clamping: $0.firstRecord) } ?? HashFileHeader.size
    var isCertain = hasHeader
    while offset < end {
      if let block = try reader.block(at: offset), try leadsOn(block, end) {
        if block.content != nil { try lend(block, isCertain, body) }
        offset = block.end
        isCertain = hasHeader
      } else {
        offset = try skip(from: offset, to: end)
        isCertain = false
      }
    }
  }

  /// Whether a block can be believed: it ends where another begins, or at the end.
  private func leadsOn(_ block: HashFileBlock, _ end: Int) throws -> Bool {
    if block.content != nil { return true }
    if block.end == end { return true }
    return try reader.block(at: block.end) != nil
  }

  /// The next place where a record begins.
  private mutating func skip(from start: Int, to end: Int) throws -> Int {
    var offset = start + 1
    while offset < end {
      let isMark = try reader.bytes(1, at: offset)?.first == HashFileReader.recordMagic
      if isMark, try reader.block(at: offset) != nil { break }
      offset += 1
    }
    gaps.append(start..<min(offset, end))
    return offset
  }

  private func lend(
    _ block: HashFileBlock, _ isCertain: Bool, _ body: (Record) throws -> Void
  ) throws {
    guard let content = block.content,
      let key = try reader.bytes(content.key.count, at: content.key.lowerBound).map({ Array($0) }),
      let value = try reader.bytes(content.value.count, at: content.value.lowerBound)
    else { return }
    try body(
      Record(key: key, value: Array(value), offset: block.offset, isCertain: isCertain))
  }
}
