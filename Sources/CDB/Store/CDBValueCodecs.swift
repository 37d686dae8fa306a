internal import Files
public import FoundationEssentials

/// The tags of the values of this module.
enum CDBTag {
  static let (data, string, archive): (UInt8, UInt8, UInt8) = (0, 1, 3)
  static let (integer, number, bool, encoded): (UInt8, UInt8, UInt8, UInt8) = (4, 5, 6, 7)
  /// The last reserved tag, as in the original.
  static let lastReserved: UInt8 = 31

  static func check(_ tag: UInt8, _ expected: UInt8) throws {
    guard tag == expected else {
      throw CDBCodecError("the value has the tag \(tag), and the codec knows \(expected)")
    }
  }
}

/// Values of several types, see ``CDBValue``.
public struct CDBValues: CDBValueCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the tag and the bytes of a value.
  ///
  /// Complexity: linear in the size of the value.
  public func encode(_ value: CDBValue) -> CDBEncodedValue {
    switch value {
    case .data(let data): CDBEncodedValue(reservedTag: CDBTag.data, bytes: Array(data))
    case .string(let text): CDBEncodedValue(reservedTag: CDBTag.string, bytes: Array(text.utf8))
    case .archive(let data): CDBEncodedValue(reservedTag: CDBTag.archive, bytes: Array(data))
    case .integer(let number):
      CDBEncodedValue(reservedTag: CDBTag.integer, bytes: CDBIntegerKeys<Int64>().encode(number))
    case .number(let number):
      CDBEncodedValue(
        reservedTag: CDBTag.number, bytes: CDBIntegerKeys<UInt64>().encode(number.bitPattern))
    case .bool(let value): CDBEncodedValue(reservedTag: CDBTag.bool, bytes: [value ? 1 : 0])
    case .encoded(let data): CDBEncodedValue(reservedTag: CDBTag.encoded, bytes: Array(data))
    }
  }

  /// Returns the value for a tag and bytes.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` for an unknown tag, or bytes that don't fit the tag.
  public func decode(_ bytes: RawSpan, tag: UInt8) throws -> CDBValue {
    switch tag {
    case CDBTag.data: return .data(Data([UInt8](copying: bytes)))
    case CDBTag.string: return .string(try String(utf8: bytes))
    case CDBTag.archive: return .archive(Data([UInt8](copying: bytes)))
    case CDBTag.integer: return .integer(try CDBIntegerKeys<Int64>().decode(bytes))
    case CDBTag.number:
      return .number(Double(bitPattern: try CDBIntegerKeys<UInt64>().decode(bytes)))
    case CDBTag.bool:
      guard bytes.byteCount == 1, let byte = bytes.firstByte, byte <= 1 else {
        throw CDBCodecError("a Bool is the byte 0 or 1")
      }
      return .bool(byte == 1)
    case CDBTag.encoded: return .encoded(Data([UInt8](copying: bytes)))
    default:
      throw CDBCodecError(
        "the tag \(tag) is not one of CDBValue; use the codec that wrote the file")
    }
  }
}

/// Values that are strings.
public struct CDBStringValues: CDBValueCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the UTF-8 bytes.
  ///
  /// Complexity: linear in the size of the value.
  public func encode(_ value: String) -> CDBEncodedValue {
    CDBEncodedValue(reservedTag: CDBTag.string, bytes: Array(value.utf8))
  }

  /// Returns the string for UTF-8 bytes.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` if the value is not a string.
  public func decode(_ bytes: RawSpan, tag: UInt8) throws -> String {
    try CDBTag.check(tag, CDBTag.string)
    return try String(utf8: bytes)
  }
}

/// Values that are bytes.
public struct CDBDataValues: CDBValueCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the bytes.
  ///
  /// Complexity: linear in the size of the value.
  public func encode(_ value: Data) -> CDBEncodedValue {
    CDBEncodedValue(reservedTag: CDBTag.data, bytes: Array(value))
  }

  /// Returns a copy of the bytes.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` if the value is of another type.
  public func decode(_ bytes: RawSpan, tag: UInt8) throws -> Data {
    try CDBTag.check(tag, CDBTag.data)
    return Data([UInt8](copying: bytes))
  }
}

/// Values of one `Codable` type, as binary property lists.
public struct CDBCodableValues<Value: Codable & Sendable>: CDBValueCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the property list of a value.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: An error of `PropertyListEncoder` or of the value.
  public func encode(_ value: Value) throws -> CDBEncodedValue {
    CDBEncodedValue(reservedTag: CDBTag.encoded, bytes: Array(try PropertyList.encode(value)))
  }

  /// Returns the value of a property list.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` if it is not a property list, or an error of the type.
  public func decode(_ bytes: RawSpan, tag: UInt8) throws -> Value {
    try CDBTag.check(tag, CDBTag.encoded)
    return try PropertyList.decode(Value.self, Data([UInt8](copying: bytes)))
  }
}
