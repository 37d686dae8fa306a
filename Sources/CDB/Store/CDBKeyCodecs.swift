internal import Files
public import FoundationEssentials

/// Keys that are strings, in UTF-8.
///
/// Two strings that are equal in Swift but have different bytes, such as "é" in its two forms, are
/// two keys.
public struct CDBStringKeys: CDBKeyCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the UTF-8 bytes.
  ///
  /// Complexity: linear in the length of the key.
  public func encode(_ key: String) -> [UInt8] { Array(key.utf8) }

  /// Returns the string for UTF-8 bytes.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` if they are not valid.
  public func decode(_ bytes: RawSpan) throws -> String { try String(utf8: bytes) }
}

/// Keys that are bytes.
public struct CDBDataKeys: CDBKeyCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the bytes.
  ///
  /// Complexity: linear in the length of the key.
  public func encode(_ key: Data) -> [UInt8] { Array(key) }

  /// Returns a copy of the bytes.
  ///
  /// Complexity: linear in the number of bytes.
  public func decode(_ bytes: RawSpan) -> Data { Data([UInt8](copying: bytes)) }
}

/// Keys that are integers, in little-endian order.
public struct CDBIntegerKeys<Key: FixedWidthInteger & Sendable>: CDBKeyCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the bytes of the integer.
  ///
  /// Complexity: constant time.
  public func encode(_ key: Key) -> [UInt8] {
    (0..<Key.bitWidth / 8).map { UInt8(truncatingIfNeeded: key >> ($0 * 8)) }
  }

  /// Returns the integer for bytes.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``CDBCodecError`` if the number of bytes is not that of the type.
  public func decode(_ bytes: RawSpan) throws -> Key {
    guard bytes.byteCount == Key.bitWidth / 8 else {
      throw CDBCodecError(
        "a \(Key.self) has \(Key.bitWidth / 8) bytes, and this has \(bytes.byteCount)")
    }
    return [UInt8](copying: bytes).reversed().reduce(0) { $0 << 8 | Key(truncatingIfNeeded: $1) }
  }
}

extension String {
  /// Creates a string from UTF-8 bytes.
  init(utf8 bytes: RawSpan) throws {
    guard let text = String(validating: [UInt8](copying: bytes), as: UTF8.self) else {
      throw CDBCodecError("the bytes of a text are not UTF-8")
    }
    self = text
  }
}
