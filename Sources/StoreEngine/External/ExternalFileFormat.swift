import Files

/// The file of a value: its head, and chunks one behind the other.
///
/// StoringLargeValues.md has the bytes.
package enum ExternalFileFormat {
  static let magic = Array("SO-Value".utf8)
  static let version: UInt32 = 1
  static let headSize = 48
  /// What a file name ends with.
  static let suffix = ".external"
  /// No value is larger, so that no sum of sizes overflows.
  static let maximumByteCount = 1 << 56
  private static let checksumSize = 4

  /// The name of a value's file.
  static func fileName(_ id: ExternalID) -> String { id.description + suffix }

  /// The value that a file is for; nil for other files.
  static func id(ofFile name: String) -> ExternalID? {
    guard name.hasSuffix(suffix), name.utf8.count == 32 + suffix.utf8.count else { return nil }
    return ExternalID(name.dropLast(suffix.count))
  }

  /// The first bytes of a file.
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

  /// The size of the value as the head says it, which need not be true.
  static func byteCount(inHead head: [UInt8]) -> Int {
    guard head.count == headSize else { return 0 }
    let count = head.lend { $0.loadUInt64(at: 32, isBigEndian: false) }
    return Int(min(count, UInt64(maximumByteCount)))
  }

  /// By how many bytes a chunk grows.
  static func overhead(_ sealing: Sealing?) -> Int { sealing?.seal.overhead ?? checksumSize }

  /// Where a chunk begins.
  static func offset(of number: Int, overhead: Int) -> Int {
    headSize + number * (ExternalChunks.size + overhead)
  }

  /// The size of the whole file.
  static func fileSize(_ byteCount: Int, overhead: Int) -> Int {
    headSize + byteCount + ExternalChunks.count(byteCount) * overhead
  }

  /// A chunk as it is stored.
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

  /// The chunk that is stored so; nil when it is not what was written there.
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
