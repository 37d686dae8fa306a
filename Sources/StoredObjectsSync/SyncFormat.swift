import StoreEngine

/// The format of requests and answers, see <doc:SyncProtocol>.
///
///     0   "SOsr" or "SOsa"
///     4   UInt16  version, 3; 1 of devices before values outside of records, 2 before items
///     6   UInt8   kind
///     7           content
///     n   UInt32  CRC-32C of the bytes before
enum SyncFormat {
  static let requestMagic = Array("SOsr".utf8)
  static let answerMagic = Array("SOsa".utf8)
  /// The version that this library writes.
  static let version: UInt16 = 3
  /// The version without items of key-value stores.
  static let versionWithoutItems: UInt16 = 2
  /// The version without values outside of records.
  static let versionWithoutValues: UInt16 = 1
  static let headByteCount = 7
  /// The maximum number of bytes of an answer's content, other than a stream.
  static let maximumAnswerByteCount = 1 << 20

  static func message(
    _ magic: [UInt8], _ kind: UInt8, in version: UInt16 = SyncFormat.version,
    _ content: (inout DataBuffer) -> Void
  ) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.append(magic)
    buffer.write(version)
    buffer.write(kind)
    content(&buffer)
    var checksum = CRC32C()
    let bytes = buffer.bytes
    checksum.update(bytes.span)
    buffer.write(checksum.value)
    return buffer.bytes
  }

  /// Returns the version of a message; nil for other bytes.
  static func version(of bytes: [UInt8], _ magic: [UInt8]) -> UInt16? {
    guard bytes.starts(with: magic), bytes.count >= headByteCount else { return nil }
    return UInt16(bytes[magic.count]) | UInt16(bytes[magic.count + 1]) << 8
  }

  /// Returns the version in which a server answers a request: that of the request, if it knows it.
  static func versionOfAnswer(to request: [UInt8]) -> UInt16 {
    let found = Self.version(of: request, requestMagic) ?? version
    return (versionWithoutValues...version).contains(found) ? found : version
  }

  /// Checks the frame of a message, and returns its kind and a buffer with its content.
  static func content(
    of bytes: [UInt8], _ magic: [UInt8]
  ) throws(DataBufferError) -> (UInt8, DataBuffer) {
    guard bytes.starts(with: magic), bytes.count >= headByteCount + 4 else {
      throw DataBufferError(.invalidValue, at: 0, "it is no message of this protocol")
    }
    var head = DataBuffer(Array(bytes[magic.count..<headByteCount]))
    guard (versionWithoutValues...version).contains(try head.readUInt16()) else {
      throw DataBufferError(.invalidValue, at: magic.count, "it has another version")
    }
    var checksum = CRC32C()
    checksum.update(bytes.span.extracting(0..<bytes.count - 4))
    var end = DataBuffer(Array(bytes.suffix(4)))
    guard try end.readUInt32() == checksum.value else {
      throw DataBufferError(.invalidValue, at: bytes.count - 4, "the checksum is wrong")
    }
    let kind = try head.readUInt8()
    return (kind, DataBuffer(Array(bytes[headByteCount..<bytes.count - 4])))
  }

  static func checkEnd(of buffer: DataBuffer) throws(DataBufferError) {
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "a message ends here")
    }
  }
}
