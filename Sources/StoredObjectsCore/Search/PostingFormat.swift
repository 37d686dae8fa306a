import Files
import StoreEngine

/// The layout of the ordered table of a full-text index; see <doc:FullTextSearch>.
///
///     0                                              the stamp: what the index was made by
///     0 1                                            counts of objects and letters
///     1 attribute letter letter letter row           a chunk of the places of three letters
///     2 attribute block                              the lengths of the texts of 128 rows
///
/// Letters take 3 bytes, rows and blocks 4, the most significant byte first.
enum PostingFormat {
  static let stampKey = IndexStamp.key
  static let countsKey: [UInt8] = [0, 1]
  static let postings: UInt8 = 1
  static let lengths: UInt8 = 2
  /// The size at which a chunk is split, unless it has the positions of only one row.
  static let chunkSize = 512
  /// The base-2 logarithm of the number of rows in a block of lengths.
  static let blockShift: UInt32 = 7

  /// Returns the prefix of the keys of some letters.
  static func key(_ attribute: Int, _ letters: some Sequence<UInt32>) -> [UInt8] {
    var key: [UInt8] = [postings, UInt8(attribute)]
    for letter in letters {
      for shift in [16, 8, 0] as [UInt32] { key.append(UInt8(truncatingIfNeeded: letter >> shift)) }
    }
    return key
  }

  /// Returns the key of a chunk; the trigram holds three letters in one number.
  static func key(_ attribute: Int, _ trigram: UInt64, row: UInt32) -> [UInt8] {
    key(attribute, letters(trigram)) + bytes(row)
  }

  static func letters(_ trigram: UInt64) -> [UInt32] {
    [42, 21, 0].map { UInt32(truncatingIfNeeded: trigram >> $0) & 0x1F_FFFF }
  }

  /// Returns the row at the end of a key.
  static func row(_ key: RawSpan) -> UInt32 {
    key.loadUInt32(at: key.byteCount - 4, isBigEndian: true)
  }

  static func lengthsKey(_ attribute: Int, block: UInt32) -> [UInt8] {
    [lengths, UInt8(attribute)] + bytes(block)
  }

  static func bytes(_ row: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: row)
    return bytes
  }

  // MARK: Lengths

  /// Returns a length as one byte.
  ///
  /// The byte is 0 for a row that does not exist. It is exact up to a length of 127; above that, it
  /// keeps the leading bit and the three bits after it.
  static func code(length: Int) -> UInt8 {
    if length < 128 { return UInt8(length + 1) }
    let size = min(length, (1 << 22) - 1)
    let exponent = Int.bitWidth - 1 - size.leadingZeroBitCount
    return UInt8(129 + (exponent - 7) * 8 + ((size >> (exponent - 3)) & 7))
  }

  /// Returns the approximate length of a text.
  static func length(code: UInt8) -> Int {
    if code <= 128 { return max(0, Int(code) - 1) }
    let rest = Int(code) - 129
    return (8 + rest % 8) << (rest / 8 + 4)
  }
}

/// The error for an invalid chunk.
struct PostingDamage: Error {}

/// Runs a closure that reads chunks; an invalid one throws an error of the store.
func readingPostings<Result>(
  _ body: () throws(PostingDamage) -> Result
) throws(StoreError) -> Result {
  do throws(PostingDamage) { return try body() } catch { throw .damagedPostings(error) }
}

extension StoreError {
  /// Returns the error for a full-text index with an invalid chunk.
  static func damagedPostings(_ cause: PostingDamage, at path: String? = nil) -> StoreError {
    StoreError(
      .damaged, "A chunk of the full-text index is damaged.", at: .init(path: path),
      underlying: cause)
  }

  /// Whether the cause is an invalid chunk of a full-text index.
  var isOfPostings: Bool { underlying is PostingDamage }
}

extension [UInt8] {
  /// Appends a number as a varint: seven bits in each byte, the least significant first.
  @inline(__always)
  mutating func append(varint number: UInt64) {
    var number = number
    while number >= 0x80 {
      append(UInt8(truncatingIfNeeded: number) | 0x80)
      number >>= 7
    }
    append(UInt8(truncatingIfNeeded: number))
  }
}

extension RawSpan {
  /// Reads a number written by `append(varint:)`, and advances the offset.
  @inline(__always)
  func readVarint(_ offset: inout Int) throws(PostingDamage) -> UInt64 {
    guard offset < byteCount else { throw PostingDamage() }
    var number = UInt64(loadByte(at: offset))
    offset += 1
    if number < 0x80 { return number }
    number &= 0x7F
    var shift: UInt64 = 7
    while true {
      guard offset < byteCount, shift < 42 else { throw PostingDamage() }
      let byte = UInt64(loadByte(at: offset))
      offset += 1
      number |= (byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }
}
