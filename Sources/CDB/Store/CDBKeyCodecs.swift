internal import Files
public import FoundationEssentials

/// Keys that are texts, in UTF-8.
///
/// Two texts that Swift takes for equal but whose bytes differ, as "é" in its two spellings, are
/// two keys.
public struct CDBStringKeys: CDBKeyCodec {
  /// Makes the codec.
  public init() {}

  /// The UTF-8 bytes.
  public func encode(_ key: String) -> [UInt8] { Array(key.utf8) }

  /// The text of UTF-8 bytes.
  ///
  /// - Throws: ``CDBCodecError`` when they are none.
  public func decode(_ bytes: RawSpan) throws -> String { try String(utf8: bytes) }
}

/// Keys that are bytes.
public struct CDBDataKeys: CDBKeyCodec {
  /// Makes the codec.
  public init() {}

  /// The bytes.
  public func encode(_ key: Data) -> [UInt8] { Array(key) }

  /// A copy of the bytes.
  public func decode(_ bytes: RawSpan) -> Data { Data([UInt8](copying: bytes)) }
}

/// Keys that are whole numbers, with their least significant byte first.
public struct CDBIntegerKeys<Key: FixedWidthInteger & Sendable>: CDBKeyCodec {
  /// Makes the codec.
  public init() {}

  /// The bytes of the number.
  public func encode(_ key: Key) -> [UInt8] {
    (0..<Key.bitWidth / 8).map { UInt8(truncatingIfNeeded: key >> ($0 * 8)) }
  }

  /// The number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` when there are more or fewer bytes than the number has.
  public func decode(_ bytes: RawSpan) throws -> Key {
    guard bytes.byteCount == Key.bitWidth / 8 else {
      throw CDBCodecError(
        "a \(Key.self) has \(Key.bitWidth / 8) bytes, and this has \(bytes.byteCount)")
    }
    return [UInt8](copying: bytes).reversed().reduce(0) { $0 << 8 | Key(truncatingIfNeeded: $1) }
  }
}

extension String {
  /// The text of UTF-8 bytes.
  init(utf8 bytes: RawSpan) throws {
    guard let text = String(validating: [UInt8](copying: bytes), as: UTF8.self) else {
      throw CDBCodecError("the bytes of a text are not UTF-8")
    }
    self = text
  }
}
