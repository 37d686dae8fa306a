/// The CRC-32 of ZIP files (polynomial 0xEDB88320), of bytes that arrive in pieces.
struct ArchiveChecksum {
  /// Eight tables of 256 numbers: the effect of a byte that is 0 to 7 bytes before the end.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for index in 0..<256 {
      var value = UInt32(index)
      for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
      tables[index] = value
    }
    for index in 256..<8 * 256 {
      let shorter = tables[index - 256]
      tables[index] = shorter >> 8 ^ tables[Int(shorter & 0xFF)]
    }
    return tables
  }()

  private var state: UInt32 = 0xFFFF_FFFF

  /// The checksum of the bytes so far.
  var value: UInt32 { ~state }

  mutating func add(_ bytes: [UInt8]) {
    let tables = Self.tables
    var (crc, index) = (state, 0)
    while index + 8 <= bytes.count {
      let low = crc ^ bytes.littleEndian32(at: index)
      let high = bytes.littleEndian32(at: index + 4)
      crc = tables[1792 + Int(low & 0xFF)] ^ tables[1536 + Int(low >> 8 & 0xFF)]
      crc ^= tables[1280 + Int(low >> 16 & 0xFF)] ^ tables[1024 + Int(low >> 24)]
      crc ^= tables[768 + Int(high & 0xFF)] ^ tables[512 + Int(high >> 8 & 0xFF)]
      crc ^= tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
      index += 8
    }
    while index < bytes.count {
      crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)]
      index += 1
    }
    state = crc
  }
}

extension [UInt8] {
  /// Returns the number in two bytes; the caller has checked that they exist.
  func littleEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
  }

  /// Returns the number in four bytes.
  func littleEndian32(at offset: Int) -> UInt32 {
    UInt32(self[offset]) | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2]) << 16
      | UInt32(self[offset + 3]) << 24
  }

  /// Returns the number in eight bytes.
  func littleEndian64(at offset: Int) -> UInt64 {
    UInt64(littleEndian32(at: offset)) | UInt64(littleEndian32(at: offset + 4)) << 32
  }
}
