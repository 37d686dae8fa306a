import Files
import StoreEngine

/// A sorted run of posting lists in a temporary file, in the order of the index.
///
///     entry    | attribute (1) | letters (8) | first row (4) | last row (4) | size (4) | places |
///
/// Blocks hold whole entries. Several entries of one attribute and trigram are in row order.
struct PostingRun {
  private static let blockSize = 64 << 10
  static let headSize = 21
  private var file: ScratchFile
  private var block: [UInt8] = []

  init(_ file: ScratchFile) { self.file = file }

  /// The number of bytes written.
  var byteCount: Int { file.byteCount + block.count }

  mutating func append(_ attribute: Int, _ list: PostingCollector.List) throws(StoreError) {
    try append(attribute, list.trigram, list.firstRow, list.lastRow, list.bytes)
  }

  mutating func append(
    _ attribute: Int, _ trigram: UInt64, _ first: UInt32, _ last: UInt32, _ bytes: [UInt8]
  ) throws(StoreError) {
    block.append(UInt8(attribute))
    block.append(littleEndian: trigram)
    block.append(littleEndian: first)
    block.append(littleEndian: last)
    block.append(littleEndian: UInt32(bytes.count))
    block += bytes
    if block.count >= Self.blockSize { try flush() }
  }

  /// Writes the current block.
  mutating func flush() throws(StoreError) {
    if block.isEmpty { return }
    try file.write(block)
    block.removeAll(keepingCapacity: true)
  }

  /// Finishes writing, and returns a cursor that reads the run.
  mutating func cursor() throws(StoreError) -> PostingRunCursor {
    try flush()
    block = []
    return try PostingRunCursor(file.reader())
  }

  func remove() { file.remove() }
}

/// A cursor through a run.
struct PostingRunCursor {
  /// The attribute and trigram of an entry, in the order of the index.
  struct Key: Comparable {
    let attribute: UInt8
    let trigram: UInt64

    static func < (left: Key, right: Key) -> Bool {
      (left.attribute, left.trigram) < (right.attribute, right.trigram)
    }
  }

  /// An entry: the positions of a trigram in a range of rows.
  struct Part {
    let firstRow: UInt32
    let lastRow: UInt32
    let bytes: [UInt8]
  }

  private var reader: ScratchFile.Reader
  private var block: [UInt8] = []
  private var offset = 0
  /// The key of the next entry, or nil at the end.
  private(set) var key: Key?
  /// The first row of the next entry.
  private(set) var firstRow: UInt32 = 0

  init(_ reader: ScratchFile.Reader) throws(StoreError) {
    self.reader = reader
    try findKey()
  }

  private mutating func findKey() throws(StoreError) {
    if offset == block.count {
      (block, offset) = (try reader.next() ?? [], 0)
    }
    guard offset < block.count else { return key = nil }
    key = block.lend { [offset] bytes in
      Key(
        attribute: bytes.loadByte(at: offset),
        trigram: bytes.loadUInt64(at: offset + 1, isBigEndian: false))
    }
    firstRow = block.lend { [offset] in $0.loadUInt32(at: offset + 9, isBigEndian: false) }
  }

  /// Returns the next entry, and advances.
  mutating func take() throws(StoreError) -> Part {
    let (part, end) = block.lend { [offset] bytes in
      let start = offset + PostingRun.headSize
      let end = start + Int(bytes.loadUInt32(at: offset + 17, isBigEndian: false))
      let part = Part(
        firstRow: bytes.loadUInt32(at: offset + 9, isBigEndian: false),
        lastRow: bytes.loadUInt32(at: offset + 13, isBigEndian: false),
        bytes: [UInt8](copying: bytes.extracting(start..<end)))
      return (part, end)
    }
    offset = end
    try findKey()
    return part
  }
}
