import Files
import FoundationEssentials

/// The bytes of values; the page "The format of items" has them with an example.
enum ValueFormat {
  /// How deep values may be nested.
  static let maximumDepth = 200

  /// What a value begins with.
  enum Tag: UInt8 {
    case null, no, yes, int, unsigned, double, string, data, date, array, dictionary
  }

  /// Bytes that make no sense, at an offset.
  struct Damage: Error { let offset: Int }
}

extension ValueFormat {
  /// Appends a value.
  ///
  /// - Throws: ``KeyValueError`` with `notEncodable` for what is nested too deep.
  static func append(_ value: StoredValue, to bytes: inout [UInt8], depth: Int = 0) throws {
    guard depth <= maximumDepth else {
      throw KeyValueError(.notEncodable, "Values are nested more than \(maximumDepth) deep.")
    }
    switch value {
    case .null: bytes.append(Tag.null.rawValue)
    case .bool(let value): bytes.append((value ? Tag.yes : Tag.no).rawValue)
    case .int(let number):
      bytes.append(Tag.int.rawValue)
      append(varint: UInt64(bitPattern: number << 1 ^ number >> 63), to: &bytes)
    case .unsigned(let number):
      bytes.append(Tag.unsigned.rawValue)
      append(varint: number, to: &bytes)
    case .double(let number): append(.double, number, to: &bytes)
    case .date(let date): append(.date, date.timeIntervalSinceReferenceDate, to: &bytes)
    case .string(let string):
      bytes.append(Tag.string.rawValue)
      append(string, to: &bytes)
    case .data(let data):
      bytes.append(Tag.data.rawValue)
      append(varint: UInt64(data.count), to: &bytes)
      bytes.append(contentsOf: data)
    case .array(let elements):
      bytes.append(Tag.array.rawValue)
      append(varint: UInt64(elements.count), to: &bytes)
      for element in elements { try append(element, to: &bytes, depth: depth + 1) }
    case .dictionary(let fields): try append(fields, to: &bytes, depth: depth)
    }
  }

  /// In the order of the names, so that equal values have equal bytes.
  private static func append(
    _ fields: [String: StoredValue], to bytes: inout [UInt8], depth: Int
  ) throws {
    bytes.append(Tag.dictionary.rawValue)
    append(varint: UInt64(fields.count), to: &bytes)
    for (name, value) in fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      append(name, to: &bytes)
      try append(value, to: &bytes, depth: depth + 1)
    }
  }

  private static func append(_ tag: Tag, _ number: Double, to bytes: inout [UInt8]) {
    bytes.append(tag.rawValue)
    bytes.append(littleEndian: number.bitPattern)
  }

  private static func append(_ string: String, to bytes: inout [UInt8]) {
    string.lendUTF8 { text in
      append(varint: UInt64(text.byteCount), to: &bytes)
      bytes.append(copying: text)
    }
  }

  private static func append(varint number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
