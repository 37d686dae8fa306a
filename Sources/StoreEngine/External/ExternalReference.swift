import Files

/// The identifier of an external value: 128 random bits.
public struct ExternalID: Hashable, Sendable, CustomStringConvertible {
  /// The first half.
  public let high: UInt64
  /// The second half.
  public let low: UInt64

  /// Creates an identifier from its halves.
  public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// Returns a random identifier.
  public static func random() -> ExternalID {
    ExternalID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
  }

  /// The number of bytes.
  static let byteCount = 16

  /// The bytes, most significant byte first.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
    return bytes
  }

  /// Creates an identifier from bytes; nil if there are not 16 of them.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var (high, low) = (UInt64(0), UInt64(0))
    for byte in bytes { (high, low) = (high << 8 | low >> 56, low << 8 | UInt64(byte)) }
    self.init(high: high, low: low)
  }

  /// The identifier as 32 lowercase hexadecimal digits.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Creates an identifier from its description; nil for any other text.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
    if description != text { return nil }
  }
}

/// The reference to an external value in a record.
public struct ExternalReference: Hashable, Sendable {
  /// The identifier of the value.
  public let id: ExternalID
  /// The size of the value.
  public let byteCount: Int
  /// The CRC-32C of the value.
  public let checksum: UInt32

  /// Creates a reference.
  public init(id: ExternalID, byteCount: Int, checksum: UInt32) {
    (self.id, self.byteCount, self.checksum) = (id, byteCount, checksum)
  }
}

/// The content of an external value in a record: the value itself, or a reference to it.
package enum ExternalContent: Sendable {
  /// The value itself.
  case inline([UInt8])
  /// A reference to the value.
  case outside(ExternalReference)

  private static let inlineTag: UInt8 = 1
  private static let outsideTag: UInt8 = 2

  /// Writes a value or a reference.
  package func write(to buffer: inout DataBuffer) {
    switch self {
    case .inline(let bytes):
      Self.writeInline(to: &buffer)
      buffer.write(bytes)
    case .outside(let reference):
      buffer.write(Self.outsideTag)
      buffer.append(reference.id.bytes)
      buffer.write(UInt64(reference.byteCount))
      buffer.write(reference.checksum)
    }
  }

  /// Writes the bytes that precede a value in the record, which follows as a count and bytes.
  static func writeInline(to buffer: inout DataBuffer) { buffer.write(inlineTag) }

  /// Reads a value or a reference.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd` or `invalidValue`.
  package init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    switch try buffer.readUInt8() {
    case Self.inlineTag: self = .inline(try buffer.readBytes())
    case Self.outsideTag:
      let high = try buffer.readUInt64().byteSwapped
      let low = try buffer.readUInt64().byteSwapped
      let count = try buffer.readUInt64()
      guard let byteCount = Int(exactly: count), byteCount <= ExternalFileFormat.maximumByteCount
      else {
        throw DataBufferError(.invalidValue, at: offset, "a value can't have \(count) bytes")
      }
      self = .outside(
        ExternalReference(
          id: ExternalID(high: high, low: low), byteCount: byteCount,
          checksum: try buffer.readUInt32()))
    case let tag:
      throw DataBufferError(.invalidValue, at: offset, "\(tag) is not a form of external values")
    }
  }
}

/// The owner of a buffer, which can read external values.
package protocol ExternalContents: AnyObject {
  /// Returns the bytes of a value.
  ///
  /// - Throws: ``StoreError``.
  func bytes(of reference: ExternalReference) throws(StoreError) -> [UInt8]
}

extension DataBuffer {
  /// Skips a value, or a reference to one.
  mutating func skipExternal() throws(DataBufferError) { _ = try ExternalContent(from: &self) }

  /// Reads a value or a reference to one, and writes the value as ordinary bytes.
  mutating func convertExternal(to output: inout DataBuffer) throws(DataBufferError) {
    let offset = offset
    switch try ExternalContent(from: &self) {
    case .inline(let bytes): output.write(bytes)
    case .outside(let reference):
      guard let contents = owner as? any ExternalContents else {
        throw DataBufferError(.noStore, at: offset, "an external value needs a store to be read")
      }
      do {
        output.write(try contents.bytes(of: reference))
      } catch {
        throw DataBufferError(.invalidValue, at: offset, "the external value: \(error)")
      }
    }
  }
}
