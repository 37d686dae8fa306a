import Files

/// The file format of an external value: a head, followed by the chunks.
///
/// StoringLargeValues.md describes the bytes.
package enum ExternalFileFormat {
  static let magic = Array("SO-Value".utf8)
  static let version: UInt32 = 1
  static let headSize = 48
  /// The suffix of file names.
  static let suffix = ".external"
  /// The maximum size of a value, so that no sum of sizes overflows.
  static let maximumByteCount = 1 << 56
  private static let checksumSize = 4

  /// Returns the name of a value's file.
  static func fileName(_ id: ExternalID) -> String { id.description + suffix }

  /// Returns the value of a file name; nil for other files.
  static func id(ofFile name: String) -> ExternalID? {
    guard name.hasSuffix(suffix), name.utf8.count == 32 + suffix.utf8.count else { return nil }
    return ExternalID(name.dropLast(suffix.count))
  }

  /// Returns the first bytes of a file.
  static func head(_ id: ExternalID, byteCount: Int, isSealed: Bool) -> [UInt8] {
    var head = magic
    head.append(littleEndian: version)
    head.append(littleEndian: UInt32(ExternalChunks.size))
    head += id.bytes
    head.append(littleEndian: UInt64(byteCount))
    head.append(littleEndian: UInt32(isSealed ? 1 : 0))
    var checksum = CRC32C()
    checksum.update(head.span)
    head.append(littleEndian: checksum.value)
    return head
  }

  /// Returns the size of the value in a head, which may be wrong.
  static func byteCount(inHead head: [UInt8]) -> Int {
    guard head.count == headSize else { return 0 }
    let count = head.lend { $0.loadUInt64(at: 32, isBigEndian: false) }
    return Int(min(count, UInt64(maximumByteCount)))
  }

  /// Returns the number of bytes that a stored chunk is longer.
  static func overhead(_ sealing: Sealing?) -> Int { sealing?.seal.overhead ?? checksumSize }

  /// Returns the offset of a chunk.
  static func offset(of number: Int, overhead: Int) -> Int {
    headSize + number * (ExternalChunks.size + overhead)
  }

  /// Returns the size of the whole file.
  static func fileSize(_ byteCount: Int, overhead: Int) -> Int {
    headSize + byteCount + ExternalChunks.count(byteCount) * overhead
  }

  /// Returns the stored form of a chunk.
  package static func stored(
    _ chunk: [UInt8], _ number: Int, of id: ExternalID, _ sealing: Sealing?
  ) throws(StoreError) -> [UInt8] {
    var stored: [UInt8] = []
    stored.reserveCapacity(chunk.count + overhead(sealing))
    if let sealing {
      try chunk.lend { (chunk) throws(StoreError) in
        try sealing.seal.seal(chunk, at: location(number, id), to: &stored)
      }
    } else {
      stored += chunk
      stored.append(littleEndian: checksum(chunk.span, number, id))
    }
    return stored
  }

  /// Returns the chunk of a stored form; nil if it is not what was written in its place.
  package static func chunk(
    _ stored: [UInt8], _ number: Int, of id: ExternalID, _ sealing: Sealing?
  ) -> [UInt8]? {
    if let sealing {
      var chunk: [UInt8] = []
      chunk.reserveCapacity(stored.count)
      return stored.lend { sealing.seal.open($0, at: location(number, id), to: &chunk) }
        ? chunk : nil
    }
    let end = stored.count - checksumSize
    guard end >= 0 else { return nil }
    var expected: [UInt8] = []
    expected.append(
      littleEndian: checksum(stored.span.extracting(0..<end), number, id))
    return stored[end...].elementsEqual(expected) ? Array(stored[..<end]) : nil
  }

  private static func location(_ number: Int, _ id: ExternalID) -> SealedLocation {
    SealedLocation(.external, in: .init(id.high, id.low), number: UInt64(number))
  }

  private static func checksum(_ chunk: Span<UInt8>, _ number: Int, _ id: ExternalID) -> UInt32 {
    var location = id.bytes
    location.append(littleEndian: UInt64(number))
    var checksum = CRC32C()
    checksum.update(location.span)
    checksum.update(chunk)
    return checksum.value
  }
}
