import Files
import FoundationEssentials

/// The bytes of stored values; the page "The bytes of a store" has an example.
package enum ValueFormat {
  /// The maximum nesting depth of values, the same as the limit for reading property lists.
  package static let maximumDepth = 256

  /// The maximum number of nested calls of types that encode or decode others.
  ///
  /// A type that is coded as another one takes a call but no nesting level.
  static let maximumCallDepth = 2 * maximumDepth

  /// The first byte of a value.
  enum Tag: UInt8 {
    case null, no, yes, int, unsigned, double, string, data, date, array, dictionary
  }

  /// An error about invalid bytes at an offset.
  package struct Damage: Error {
    /// The offset from the first byte of the value.
    package let offset: Int
  }
}

extension ValueFormat {
  /// Appends a value.
  ///
  /// - Throws: ``ValueFailure`` for a value that is nested too deep; nothing is appended then.
  package static func append(_ value: StoredValue, to bytes: inout [UInt8]) throws {
    guard value.depth <= maximumDepth else { throw ValueFailure.tooDeep }
    appendBounded(value, to: &bytes)
  }

  private static func appendBounded(_ value: StoredValue, to bytes: inout [UInt8]) {
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
      for element in elements.node.values { appendBounded(element, to: &bytes) }
    case .dictionary(let fields):
      bytes.append(Tag.dictionary.rawValue)
      append(varint: UInt64(fields.count), to: &bytes)
      // The names are sorted, so that equal values have equal bytes.
      for (name, value) in zip(fields.node.names, fields.node.values) {
        append(name, to: &bytes)
        appendBounded(value, to: &bytes)
      }
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
