internal import Files
public import FoundationEssentials

/// A value of a ``CDBStore`` that holds values of several types.
///
///     store["title"] = "Bicycle Race"
///     store["seconds"] = 180
///     store["cover"] = .data(image)
///     store["artist"] = try CDBValue(encoding: artist)
///     let artist = try store["artist"]?.decode(Artist.self)
///
/// Texts and data are in the file as the original CDBStore writes them, which read each other's.
public enum CDBValue: Hashable, Sendable {
  /// Bytes (tag 0).
  case data(Data)
  /// A text (tag 1).
  case string(String)
  /// A keyed archive, as the original writes other objects (tag 3); give it to `NSKeyedUnarchiver`.
  case archive(Data)
  /// A whole number (tag 4).
  case integer(Int64)
  /// A number (tag 5).
  case number(Double)
  /// Yes or no (tag 6).
  case bool(Bool)
  /// A `Codable` value, as a binary property list (tag 7); see ``init(encoding:)``.
  case encoded(Data)

  /// Encodes a value.
  ///
  /// A property list writes nil as the text `"$null"`, so that this text is read as nil. It also
  /// joins texts that Unicode holds equal, and drops the payload of a NaN. Encode a value yourself
  /// and store it with ``data(_:)`` where that matters.
  ///
  /// - Throws: what `PropertyListEncoder` and the value throw.
  public init(encoding value: some Encodable) throws {
    self = .encoded(try PropertyList.encode(value))
  }

  /// Decodes a value that was encoded.
  ///
  /// - Throws: ``CDBCodecError`` when this is no encoded value, and what the type throws.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard case .encoded(let data) = self else {
      throw CDBCodecError("this value was not made by CDBValue(encoding:)")
    }
    return try PropertyList.decode(type, data)
  }
}

extension CDBValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// A text.
  public init(stringLiteral text: String) { self = .string(text) }
  /// A whole number.
  public init(integerLiteral number: Int64) { self = .integer(number) }
  /// A number.
  public init(floatLiteral number: Double) { self = .number(number) }
  /// Yes or no.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// Property lists of one value, which may be a plain number or text: it is put into an array.
enum PropertyList {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let data = try encoder.encode([value])
    // What could not be read again is not written.
    try check(data)
    return data
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try check(data)
    let values = try PropertyListDecoder().decode([Value].self, from: data)
    guard let value = values.first else { throw CDBCodecError("the property list is empty") }
    return value
  }

  /// Refuses what the decoder would follow until the stack is used up; XML has no such limit
  /// either.
  private static func check(_ data: Data) throws {
    var tree = PropertyListTree(Array(data))
    guard tree?.isBounded() == true else {
      throw CDBCodecError("it is no binary property list, or one that is nested too deep")
    }
  }
}
