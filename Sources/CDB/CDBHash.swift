internal import Files

/// The hash of the format: from 5381, times 33 for each byte of a key, and the byte XORed in.
///
/// The lowest 8 bits choose the table, the others the slot where the search begins. A hash of 0 is
/// as good as any: `aasewiriv` is a key that has it.
enum CDBHash {
  static let start = 5381

  /// The hash of a key, in the width of the format.
  @inline(__always)
  static func hash(_ key: RawSpan, _ format: CDBFormat) -> UInt64 {
    format == .wide ? fold(key, UInt64(start)) : UInt64(fold(key, UInt32(start)))
  }

  @inline(__always)
  private static func fold<Word: FixedWidthInteger & UnsignedInteger>(
    _ key: RawSpan, _ start: Word
  ) -> Word {
    var (hash, offset) = (start, 0)
    while offset + 8 <= key.byteCount {
      var eight = key.loadUInt64(at: offset, isBigEndian: false)
      for _ in 0..<8 {
        hash = (hash &* 33) ^ Word(truncatingIfNeeded: eight & 255)
        eight >>= 8
      }
      offset += 8
    }
    while offset < key.byteCount {
      hash = (hash &* 33) ^ Word(key.loadByte(at: offset))
      offset += 1
    }
    return hash
  }
}
