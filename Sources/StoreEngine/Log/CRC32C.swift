internal import CCRC32C

/// The checksum of log batches: CRC-32C (Castagnoli), reflected, as in RFC 3720, appendix B.4.
///
/// The checksum of "123456789" is E3069283.
package struct CRC32C {
  private var register: UInt32 = 0xFFFF_FFFF

  /// The checksum of the bytes so far.
  package var value: UInt32 { ~register }

  /// Creates the checksum of no bytes.
  package init() {}

  /// Adds bytes.
  ///
  /// Complexity: linear; a gigabyte per second with tables, ten with the processor's instruction, and
  /// more than twenty for a kilobyte and more.
  package mutating func update(_ bytes: Span<UInt8>) {
    guard Self.hasInstruction else { return updateByTables(bytes) }
    register = unsafe bytes.withUnsafeBufferPointer {
      unsafe crc32c_update(register, $0.baseAddress, $0.count)
    }
  }

  /// Adds bytes, with each eight of them in reverse order.
  ///
  /// Complexity: linear, as fast as ``update(_:)``.
  ///
  /// - Parameter bytes: Bytes whose number is a multiple of eight.
  mutating func updateReversingWords(_ bytes: Span<UInt8>) {
    assert(bytes.count % 8 == 0, "the last word is cut off")
    guard Self.hasInstruction else { return updateByTablesReversingWords(bytes) }
    register = unsafe bytes.withUnsafeBufferPointer {
      unsafe crc32c_update_reversed(register, $0.baseAddress, $0.count)
    }
  }

  /// Does the same without the processor's instruction.
  mutating func updateByTablesReversingWords(_ bytes: Span<UInt8>) {
    for start in stride(from: 0, to: bytes.count, by: 8) {
      var word: InlineArray<8, UInt8> = .init(repeating: 0)
      for index in 0..<8 { word[index] = bytes[start + 7 - index] }
      updateByTables(word.span)
    }
  }

  /// Returns the checksum of a class ID, a little-endian row ID, and the bytes of a record.
  ///
  /// Complexity: linear in the number of bytes.
  static func ofRecord(_ bytes: Span<UInt8>, classID: UInt8, rowID: UInt32) -> UInt32 {
    var checksum = CRC32C()
    guard hasInstruction else {
      let location: InlineArray<5, UInt8> = [
        classID, UInt8(truncatingIfNeeded: rowID), UInt8(truncatingIfNeeded: rowID >> 8),
        UInt8(truncatingIfNeeded: rowID >> 16), UInt8(truncatingIfNeeded: rowID >> 24),
      ]
      checksum.updateByTables(location.span)
      checksum.updateByTables(bytes)
      return checksum.value
    }
    checksum.register = unsafe bytes.withUnsafeBufferPointer {
      unsafe crc32c_update_row(checksum.register, classID, rowID, $0.baseAddress, $0.count)
    }
    return checksum.value
  }

  private static let hasInstruction = crc32c_has_instruction()

  /// Adds bytes with tables, eight per step.
  mutating func updateByTables(_ bytes: Span<UInt8>) {
    let tables = Self.tables.span
    var crc = register
    var index = 0
    while index + 8 <= bytes.count {
      let low =
        crc
        ^ (UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8
          | UInt32(bytes[index + 2]) << 16 | UInt32(bytes[index + 3]) << 24)
      crc =
        tables[7 * 256 + Int(low & 0xFF)] ^ tables[6 * 256 + Int(low >> 8 & 0xFF)]
        ^ tables[5 * 256 + Int(low >> 16 & 0xFF)] ^ tables[4 * 256 + Int(low >> 24)]
        ^ tables[3 * 256 + Int(bytes[index + 4])] ^ tables[2 * 256 + Int(bytes[index + 5])]
        ^ tables[256 + Int(bytes[index + 6])] ^ tables[Int(bytes[index + 7])]
      index += 8
    }
    while index < bytes.count {
      crc = tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)] ^ crc >> 8
      index += 1
    }
    register = crc
  }

  /// Lookup tables: table 0 advances by one byte, table n by n more bytes.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var crc = UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
      tables[byte] = crc
    }
    for index in 256..<8 * 256 {
      let before = tables[index - 256]
      tables[index] = tables[Int(before & 0xFF)] ^ before >> 8
    }
    return tables
  }()
}
