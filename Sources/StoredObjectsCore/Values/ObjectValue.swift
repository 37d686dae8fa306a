public import StoreEngine

/// A stored object as plain values: its ID, and its properties by name.
///
///     let value = try song.value()
///     let json = try JSONEncoder().encode(value)
///     // {"id":"Song/42","values":{"artist":"Artist/7","seconds":298,"title":"Sunny"}}
///     let same = try JSONDecoder().decode(ObjectValue.self, from: json)
///     try store.insertOrUpdate(same)
///
/// It is `Sendable`, and `Codable` in any format. All values are ones that JSON has: text, numbers,
/// true, false, null, arrays and dictionaries. See <doc:ExportingAndImportingJSON> for the values
/// of each type.
public struct ObjectValue: Hashable, Sendable {
  /// The stored name of the object's own class.
  public var className: String
  /// The row ID of the object; nil if it has none yet.
  public var rowID: UInt32?
  /// The properties by name.
  public var values: StoredValue.Fields
  /// The stored content in Base64, for a class whose properties are not known; otherwise nil.
  public var bytes: String?
  /// The number of the layout of the values; nil for the newest.
  public var layout: UInt8?

  /// Creates the value of an object.
  ///
  /// - Parameters:
  ///   - className: The stored name of its class.
  ///   - rowID: Its row ID, or nil for a new object.
  ///   - values: Its properties by name.
  public init(className: String, rowID: UInt32? = nil, values: StoredValue.Fields = [:]) {
    (self.className, self.rowID, self.values) = (className, rowID, values)
  }

  /// The ID of the object; nil if it has none yet.
  public var id: ObjectID<StoredObject>? {
    rowID.map { ObjectID(className: className, rowID: $0) }
  }

  /// Accesses the value of a property, or nil.
  ///
  /// Complexity: O(log n) to read, O(n) to set, for n properties.
  public subscript(name: String) -> StoredValue? {
    get { values[name] }
    set { values[name] = newValue }
  }
}

// MARK: - As one value

extension ObjectValue {
  /// The object as a dictionary: its ID, or its class if it has no ID, and its values or bytes.
  public var storedValue: StoredValue {
    if let rowID, bytes == nil, layout == nil {
      return .dictionary(
        StoredValue.Fields(
          names: ["id", "values"], values: [.string("\(className)/\(rowID)"), .dictionary(values)]))
    }
    var fields: StoredValue.Fields = [:]
    if let rowID {
      fields["id"] = .string("\(className)/\(rowID)")
    } else {
      fields["class"] = .string(className)
    }
    if let layout { fields["layout"] = .int(Int64(layout)) }
    if let bytes {
      fields["bytes"] = .string(bytes)
    } else {
      fields["values"] = .dictionary(values)
    }
    return .dictionary(fields)
  }

  /// Creates the object from its dictionary.
  ///
  /// - Throws: ``ValueFailure`` for another value.
  package init(_ value: StoredValue) throws {
    guard case .dictionary(let fields) = value else {
      throw ValueFailure("An object with an id and values is expected.")
    }
    self.init(className: "")
    for (name, value) in fields { try set(name, to: value) }
    if className.isEmpty { throw ValueFailure("There is neither an id nor a class.") }
    if fields["values"] == nil, bytes == nil { throw ValueFailure("There are no values.") }
  }

  private mutating func set(_ name: String, to value: StoredValue) throws {
    switch (name, value) {
    case ("id", .string(let text)):
      guard let id = ReferenceText(text) else {
        throw ValueFailure("The id is not valid: an ID has the form \"Song/42\".")
      }
      guard className.isEmpty || className == id.className else {
        throw ValueFailure("The id is of another class.")
      }
      (className, rowID) = (id.className, id.rowID)
    case ("class", .string(let name)): className = name
    case ("values", .dictionary(let fields)): values = fields
    case ("bytes", .string(let text)): bytes = text
    case ("layout", .int(let number)):
      guard let number = UInt8(exactly: number) else {
        throw ValueFailure("A layout is a number up to 255.")
      }
      layout = number
    default: throw ValueFailure("\"\(name)\" is unknown, or has a value of another type.")
    }
  }
}

extension ObjectValue: Codable {
  /// Encodes the object as ``storedValue``.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: `EncodingError` for values that are nested more than 256 deep.
  public func encode(to encoder: any Encoder) throws { try storedValue.encode(to: encoder) }

  /// Decodes an object from its dictionary.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: `DecodingError` for another value.
  public init(from decoder: any Decoder) throws {
    do {
      try self.init(try StoredValue(from: decoder))
    } catch let failure as ValueFailure {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: failure.description))
    }
  }
}

/// The text of a reference, such as "Song/42".
struct ReferenceText {
  let className: String
  let rowID: UInt32

  /// Parses a text; nil if it is not a reference.
  init?(_ text: String) {
    let bytes = text.utf8
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > bytes.startIndex else {
      return nil
    }
    let digits = bytes[bytes.index(after: slash)...]
    guard let first = digits.first, first != UInt8(ascii: "0"), digits.count <= 10 else {
      return nil
    }
    var number: UInt64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
    }
    guard number > 1, let rowID = UInt32(exactly: number) else { return nil }
    (className, self.rowID) = (String(text[..<slash]), rowID)
  }

  /// Reads a reference from its text or from a nested object; nil if it is neither.
  init?(_ value: StoredValue) {
    switch value {
    case .string(let text): self.init(text)
    case .dictionary(let fields):
      guard case .string(let text)? = fields["id"] else { return nil }
      self.init(text)
    default: return nil
    }
  }
}
