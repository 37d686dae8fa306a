import StoredObjectsCore
import TokyoCabinet

/// Reads the bytes of a hash file without the C library, which trusts what it reads.
///
/// A wrecked file ends in an error here, or in nil, whatever its bytes.
final class HashFileReader {
  static let recordMagic: UInt8 = 0xC8
  static let freeBlockMagic: UInt8 = 0xB0
  private static let windowSize = 1 << 20

  let path: String
  /// The size of the file as the system has it.
  let size: Int
  /// The header; nil when it makes no sense.
  let header: HashFileHeader?
  private let storage: FileStorage
  private var window: [UInt8] = []
  private var windowStart = 0

  init(_ path: String) throws {
    self.path = path
    storage = try storeErrors(at: path) { try FileStorage(path, writable: false) }
    size = try storeErrors(at: path) { [storage] in try storage.size() }
    let first = try storeErrors(at: path) { [storage] in
      try storage.read(HashFileHeader.size, at: 0)
    }
    header = HashFileHeader(bytes: first)
  }

  deinit { storage.close() }

  /// Whether offsets take 8 bytes.
  var isLarge: Bool { header?.options.contains(.large) ?? false }
  /// Whether numbers have their most significant byte first.
  private var isBigEndian: Bool { header?.byteOrder != .little }

  /// So many bytes, or nil where the file ends before.
  func bytes(_ count: Int, at offset: Int) throws -> ArraySlice<UInt8>? {
    guard count >= 0, offset >= 0, offset <= size, count <= size - offset else { return nil }
    if offset < windowStart || offset + count > windowStart + window.count {
      window = try storeErrors(at: path) {
        try storage.read(max(count, min(Self.windowSize, size - offset)), at: offset)
      }
      windowStart = offset
    }
    let start = offset - windowStart
    return start + count <= window.count ? window[start..<start + count] : nil
  }

  /// A number in the byte order of the file.
  func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    if isBigEndian { return bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The hash of a key that tells its bucket.
  static func firstHash(_ key: ArraySlice<UInt8>) -> UInt64 {
    var hash: UInt64 = 19_780_211
    for byte in key { hash = hash &* 37 &+ UInt64(byte) }
    return hash
  }

  /// The second hash of a key, which each record has in its second byte.
  static func secondHash(_ key: ArraySlice<UInt8>) -> UInt8 {
    var hash: UInt32 = 751
    for byte in key.reversed() { hash = (hash &* 31) ^ UInt32(byte) }
    return UInt8(truncatingIfNeeded: hash)
  }
}

/// A record, or a free block, in a hash file.
struct HashFileBlock {
  /// Where it begins.
  let offset: Int
  /// Where the next one begins.
  let end: Int
  /// Where the value ends, and the padding begins.
  var valueEnd: Int
  /// Where the key and the value stand; nil for a free block.
  var content: (key: Range<Int>, value: Range<Int>)?
  /// The records that hang from this one, as offsets; 0 for none.
  var links: (left: UInt64, right: UInt64) = (0, 0)
}

extension HashFileReader {
  /// The block at an offset; nil when there is none that makes sense.
  func block(at offset: Int) throws -> HashFileBlock? {
    switch try bytes(1, at: offset)?.first {
    case Self.recordMagic: try record(at: offset)
    case Self.freeBlockMagic: try freeBlock(at: offset)
    default: nil
    }
  }

  private func freeBlock(at offset: Int) throws -> HashFileBlock? {
    guard let bytes = try bytes(5, at: offset) else { return nil }
    let count = Int(number(bytes.dropFirst()))
    guard count > 5, count <= size - offset else { return nil }
    return HashFileBlock(offset: offset, end: offset + count, valueEnd: offset + count)
  }

  /// Magic, second hash, two links, size of the padding, sizes of key and value, key, value.
  private func record(at offset: Int) throws -> HashFileBlock? {
    let width = isLarge ? 8 : 4
    guard let head = try bytes(2 + 2 * width + 2, at: offset) else { return nil }
    let start = head.startIndex
    let links = head[(start + 2)..<(start + 2 + 2 * width)]
    let power = UInt64(header?.alignmentPower ?? 0)
    let (left, right) = (number(links.prefix(width)) << power, number(links.suffix(width)) << power)
    let padding = Int(number(head.suffix(2)))
    let hash = head[start + 1]
    guard let key = try count(at: offset + head.count),
      let value = try count(at: key.end),
      let keyBytes = try bytes(key.count, at: value.end), Self.secondHash(keyBytes) == hash
    else { return nil }
    let keyEnd = value.end + key.count
    guard value.count <= size - keyEnd, padding <= size - keyEnd - value.count else { return nil }
    let valueEnd = keyEnd + value.count
    return HashFileBlock(
      offset: offset, end: valueEnd + padding, valueEnd: valueEnd,
      content: (value.end..<keyEnd, keyEnd..<valueEnd), links: (left, right))
  }

  /// A size: seven bits a byte, the low ones first; all bytes but the last are inverted.
  private func count(at offset: Int) throws -> (count: Int, end: Int)? {
    var (count, shift) = (0, 0)
    for place in offset..<offset + 5 {
      guard let byte = try bytes(1, at: place)?.first else { return nil }
      if byte < 0x80 { return (count + Int(byte) << shift, place + 1) }
      count += Int(~byte) << shift
      shift += 7
    }
    return nil
  }
}
