import FoundationEssentials

extension StoredValue: Codable {
  /// Decodes a value from any decoder, such as a JSON decoder.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: An error of the decoder.
  public init(from decoder: any Decoder) throws {
    if let own = decoder as? ValueDecoder {
      self = own.value
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([StoredValue].self) {
      self = .array(Elements(value))
    } else {
      self = .dictionary(Fields(try container.decode([String: StoredValue].self)))
    }
  }

  /// Encodes the value to any encoder, such as a JSON encoder.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: `EncodingError.invalidValue` for a value that is nested more than 256 deep.
  public func encode(to encoder: any Encoder) throws {
    guard depth <= ValueFormat.maximumDepth else {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath, debugDescription: ValueFailure.tooDeep.description))
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .array(let elements): try container.encode(elements.node.values)
    case .dictionary(let fields):
      // `String` treats some names as equal that have different bytes; the last of them is written.
      try container.encode(
        Dictionary(fields.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 }))
    }
  }
}
