// The constants of the format, and functions of keys. See the page HashFileFormat; the names in
// tchdb.c are given in parentheses.
//
//     0          header, 256 bytes
//     256        bucket array: the root of each bucket's tree
//     then       free-block pool: the offsets of free blocks, for the next writer
//     first      blocks, one after another up to the end of the file
//
//     record     C8 | second hash | left | right | padding size | key size | value size | key | value
//                | padding
//     free block B0 | size | anything

import Files

enum HashFileFormat {
  /// The first byte of a record (`HDBMAGICREC`).
  static let recordMark: UInt8 = 0xC8
  /// The first byte of a free block (`HDBMAGICFB`).
  static let freeBlockMark: UInt8 = 0xB0
  /// The maximum alignment power (`HDBMAXAPOW`).
  static let alignmentPowerLimit: UInt8 = 16
  /// The maximum power of the free-block pool (`HDBMAXFPOW`).
  static let freeBlockPowerLimit: UInt8 = 20
  /// The part of the header that is reserved for programs (`HDBOPAQUEOFF`).
  static let opaque = 128..<256
  /// The fixed size of the free-block pool (`HDBFBPBSIZ`).
  static let poolBase = 64
  /// The additional size for each block in the free-block pool (`HDBFBPESIZ`).
  static let poolEntry = 4
  /// The maximum size of a key and a value together, because the library counts in 32 bits.
  static let recordLimit = 512 << 20

  /// Returns the hashes of a key (`tchdbbidx`).
  ///
  /// The first one, modulo the number of buckets, is the bucket of the key.
  @inline(__always)
  static func hashes(of key: RawSpan) -> (first: UInt64, second: UInt8) {
    var first: UInt64 = 19_780_211
    var second: UInt32 = 751
    let count = key.byteCount
    for index in 0..<count {
      first = first &* 37 &+ UInt64(key.loadByte(at: index))
      second = (second &* 31) ^ UInt32(key.loadByte(at: count &- 1 &- index))
    }
    return (first, UInt8(truncatingIfNeeded: second))
  }

  /// Returns the hashes of a key of 4 bytes, given as a big-endian number.
  @inline(__always)
  static func hashes(ofBigEndian word: UInt32) -> (first: UInt64, second: UInt8) {
    let (a, b, c, d) = (word >> 24, word >> 16 & 0xFF, word >> 8 & 0xFF, word & 0xFF)
    // The start times 37 to the 4th, and the bytes times its powers: at most 46 bits.
    let sum = (a &* 37 &+ b) &* 1369 &+ c &* 37 &+ d
    let second = ((((751 &* 31 ^ d) &* 31 ^ c) &* 31 ^ b) &* 31 ^ a)
    return (19_780_211 &* 1_874_161 &+ UInt64(sum), UInt8(truncatingIfNeeded: second))
  }

  /// Compares keys: the longer key is greater, otherwise the first different byte decides.
  ///
  /// The result is negative, zero or positive (`tcreckeycmp`).
  @inline(__always)
  static func compare(_ a: RawSpan, _ b: RawSpan) -> Int {
    if a.byteCount != b.byteCount { return a.byteCount - b.byteCount }
    for index in 0..<a.byteCount {
      let (x, y) = (a.loadByte(at: index), b.loadByte(at: index))
      if x != y { return Int(x) - Int(y) }
    }
    return 0
  }

  /// Returns the number of bytes of a size (`TCSETVNUMBUF`), with seven bits each.
  @inline(__always)
  static func width(ofSize size: Int) -> Int {
    if size < 0x80 { return 1 }
    var (width, rest) = (1, size >> 7)
    while rest > 0 {
      width += 1
      rest >>= 7
    }
    return width
  }
}

extension [UInt8] {
  /// Replaces bytes by a number in the given byte order.
  @inline(__always)
  mutating func store(
    _ number: UInt64, width: Int, at offset: Int, _ order: HashFileHeader.ByteOrder
  ) {
    for index in 0..<width {
      let shift = order == .big ? 8 * (width - 1 - index) : 8 * index
      self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(shift))
    }
  }
}
