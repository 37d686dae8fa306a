internal import Files

/// The hash of the format.
///
/// It starts with 5381. Each byte of a key multiplies it by 33 and is then XORed into it.
///
/// The lowest 8 bits select the table, the others the slot at which a search begins. A hash of 0 is
/// valid: the key `aasewiriv` has it.
enum CDBHash {
  static let start = 5381

  /// Returns the hash of a key, in the width of the format.
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
