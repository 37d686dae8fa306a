// The constants of the format, and what is computed from keys. See the page HashFileFormat; the
// names in tchdb.c are given beside them.
//
//     0          header, 256 bytes
//     256        bucket array: where each bucket's tree begins
//     then       free-block pool: where free blocks are, for the next writer
//     first      blocks, one after the other up to the end of the file
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
  /// The alignment power has an upper limit (`HDBMAXAPOW`).
  static let alignmentPowerLimit: UInt8 = 16
  /// So has that of the free-block pool (`HDBMAXFPOW`).
  static let freeBlockPowerLimit: UInt8 = 20
  /// What the program may keep in the header (`HDBOPAQUEOFF`).
  static let opaque = 128..<256
  /// The free-block pool takes so much (`HDBFBPBSIZ`).
  static let poolBase = 64
  /// It takes so much more for each block that it is to hold (`HDBFBPESIZ`).
  static let poolEntry = 4
  /// The most that a key and a value may have together: the library counts in 32 bits.
  static let recordLimit = 512 << 20

  /// The bucket of a key, before the division by the number of buckets, and its second hash
  /// (`tchdbbidx`).
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

  /// The same for a key of 4 bytes, of which the first is the most significant.
  @inline(__always)
  static func hashes(ofBigEndian word: UInt32) -> (first: UInt64, second: UInt8) {
    let (a, b, c, d) = (word >> 24, word >> 16 & 0xFF, word >> 8 & 0xFF, word & 0xFF)
    // The start times 37 to the 4th, and the bytes times its powers: no more than 46 bits.
    let sum = (a &* 37 &+ b) &* 1369 &+ c &* 37 &+ d
    let second = ((((751 &* 31 ^ d) &* 31 ^ c) &* 31 ^ b) &* 31 ^ a)
    return (19_780_211 &* 1_874_161 &+ UInt64(sum), UInt8(truncatingIfNeeded: second))
  }

  /// The order of keys: the longer one is greater, then the first byte that differs decides
  /// (`tcreckeycmp`).
  ///
  /// The result is negative, zero or positive.
  @inline(__always)
  static func compare(_ a: RawSpan, _ b: RawSpan) -> Int {
    if a.byteCount != b.byteCount { return a.byteCount - b.byteCount }
    for index in 0..<a.byteCount {
      let (x, y) = (a.loadByte(at: index), b.loadByte(at: index))
      if x != y { return Int(x) - Int(y) }
    }
    return 0
  }

  /// The number of bytes that a size takes (`TCSETVNUMBUF`): seven bits each.
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
  /// Replaces bytes by a number in a byte order.
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
