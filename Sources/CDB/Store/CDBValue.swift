internal import Files
public import FoundationEssentials

/// A value of a ``CDBStore`` with values of several types.
///
///     store["title"] = "Bicycle Race"
///     store["seconds"] = 180
///     store["cover"] = .data(image)
///     store["artist"] = try CDBValue(encoding: artist)
///     let artist = try store["artist"]?.decode(Artist.self)
///
/// Strings and data are stored as in the original CDBStore, so each can read the files of the
/// other.
public enum CDBValue: Hashable, Sendable {
  /// Bytes (tag 0).
  case data(Data)
  /// A string (tag 1).
  case string(String)
  /// A keyed archive, as the original writes other objects (tag 3), for `NSKeyedUnarchiver`.
  case archive(Data)
  /// An integer (tag 4).
  case integer(Int64)
  /// A floating-point number (tag 5).
  case number(Double)
  /// A Boolean value (tag 6).
  case bool(Bool)
  /// A `Codable` value, as a binary property list (tag 7); see ``init(encoding:)``.
  case encoded(Data)

  /// Encodes a value.
  ///
  /// A property list represents nil as the text `"$null"`, so this text is read as nil. It also
  /// merges texts that are equal in Unicode, and drops the payload of a NaN. If that matters,
  /// encode the value yourself and store it with ``data(_:)``.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: An error of `PropertyListEncoder` or of the value.
  public init(encoding value: some Encodable) throws {
    self = .encoded(try PropertyList.encode(value))
  }

  /// Decodes an encoded value.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``CDBCodecError`` if this is not an encoded value, or an error of the type.
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
  /// Creates a string.
  public init(stringLiteral text: String) { self = .string(text) }
  /// Creates an integer.
  public init(integerLiteral number: Int64) { self = .integer(number) }
  /// Creates a floating-point number.
  public init(floatLiteral number: Double) { self = .number(number) }
  /// Creates a Boolean value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// Property lists of one value.
///
/// The value is put into an array, because it may be a plain number or text.
enum PropertyList {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let data = try encoder.encode([value])
    // Check the result, so that nothing is written that can't be read again.
    try check(data)
    return data
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try check(data)
    let values = try PropertyListDecoder().decode([Value].self, from: data)
    guard let value = values.first else { throw CDBCodecError("the property list is empty") }
    return value
  }

  /// Throws for a list that would make the decoder exhaust the stack.
  ///
  /// It also throws for XML, for which the decoder has no such limit either.
  private static func check(_ data: Data) throws {
    var tree = PropertyListTree(Array(data))
    guard tree?.isBounded() == true else {
      throw CDBCodecError("it is not a binary property list, or it is nested too deep")
    }
  }
}
