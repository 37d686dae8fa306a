import Files

/// The checksums at the ends of records and named buffers, which detect flipped bits.
///
/// A record of a class with ``ClassMetadata/Flags/checksums`` ends with the CRC-32C of its class
/// ID, its row ID and its bytes. The row ID detects a record that was moved to another row.
/// BNRPersistence ignores bytes after the last value of a record. See <doc:DataBufferFormat>.
@usableFromInline package enum RecordChecksum {
  /// The number of bytes of a checksum.
  @inlinable package static var byteCount: Int { 4 }

  /// Returns the checksum of a record without the checksum itself.
  ///
  /// Complexity: linear in the number of bytes; about a nanosecond each.
  @usableFromInline package static func checksum(
    _ record: Span<UInt8>, classID: UInt8, rowID: UInt32
  ) -> UInt32 {
    CRC32C.ofRecord(record, classID: classID, rowID: rowID)
  }

  /// Whether a record, including the checksum at its end, is what was written to this row.
  package static func isValid(_ record: RawSpan, classID: UInt8, rowID: UInt32) -> Bool {
    isValid(Span<UInt8>(_bytes: record), classID: classID, rowID: rowID)
  }

  @inlinable @inline(__always)
  package static func isValid(_ record: Span<UInt8>, classID: UInt8, rowID: UInt32) -> Bool {
    let count = record.count - byteCount
    guard count >= 0 else { return false }
    let found =
      UInt32(record[count]) | UInt32(record[count + 1]) << 8 | UInt32(record[count + 2]) << 16
      | UInt32(record[count + 3]) << 24
    return found == checksum(record.extracting(0..<count), classID: classID, rowID: rowID)
  }
}

/// The end of a named buffer: "SOCK" and the CRC-32C of the name and the bytes before.
///
/// Buffers of BNRPersistence don't have it, and BNRPersistence ignores it.
package enum NamedBufferChecksum {
  /// The bytes "SOCK".
  private static let mark: UInt32 = 0x534F_434B
  private static let byteCount = 8

  /// Returns the bytes of a buffer as they are saved.
  ///
  /// Adds to the bytes in place if nothing else holds them.
  package static func sealed(_ bytes: consuming [UInt8], name: String) -> [UInt8] {
    let sum = checksum(bytes.span, name)
    // Reserves everything at once: growing would copy a large buffer again.
    bytes.reserveCapacity(bytes.count + byteCount)
    bytes.append(bigEndian: mark)
    bytes.append(littleEndian: sum)
    return bytes
  }

  /// Appends the bytes of a buffer as they are saved.
  package static func append(_ buffer: [UInt8], name: String, to bytes: inout [UInt8]) {
    buffer.lend { bytes.append(copying: $0) }
    bytes.append(bigEndian: mark)
    bytes.append(littleEndian: checksum(buffer.span, name))
  }

  /// Returns a saved buffer without its end; nil if it is not what was saved under this name.
  package static func opened(_ bytes: consuming [UInt8], name: String) -> [UInt8]? {
    let count = bytes.count - byteCount
    guard count >= 0 else { return bytes }
    let isRight =
      number(bytes, count + 4).byteSwapped == checksum(bytes.span.extracting(0..<count), name)
    guard number(bytes, count) == mark else {
      // A right checksum means that the mark itself is damaged.
      return isRight ? nil : bytes
    }
    guard isRight else { return nil }
    // In place if nothing else holds the bytes.
    bytes.removeLast(byteCount)
    return bytes
  }

  /// Reads four bytes as a number, most significant byte first.
  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes.lend { $0.loadUInt32(at: offset, isBigEndian: true) }
  }

  private static func checksum(_ bytes: Span<UInt8>, _ name: String) -> UInt32 {
    var checksum = CRC32C()
    name.lendUTF8 { checksum.update(Span<UInt8>(_bytes: $0)) }
    checksum.update(bytes)
    return checksum.value
  }
}
