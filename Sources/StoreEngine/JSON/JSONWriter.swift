import Files

/// A writer of values as JSON text without white space, in memory bounded by the text.
///
/// Names in an object are in the order of their bytes, so that equal values have equal texts.
package enum JSONWriter {
  /// The maximum nesting of values.
  ///
  /// A `Codable` value has up to 256 levels, each of which may need another one to distinguish it
  /// from a date or data.
  package static let maximumDepth = 600

  /// An array or a dictionary that is being written.
  private struct Level {
    /// The names; empty for an array.
    let names: [String]
    let values: [StoredValue]
    let isArray: Bool
    var next = 0

    init(_ node: ValueNode, isArray: Bool) {
      (names, values, self.isArray) = (node.names, node.values, isArray)
    }
  }

  /// Appends the text of a value.
  ///
  /// The value must not contain data, dates, NaN or infinities, which JSON can't represent.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - bytes: The bytes to append to.
  ///   - writeLarge: Appends the content that a text is a placeholder for, including quotation
  ///     marks, and may remove bytes from the buffer; returns false for an ordinary text.
  /// - Throws: ``ValueFailure`` for a value that JSON can't represent, or one that is nested more
  ///   than 600 deep; an error of the closure.
  package static func append(
    _ value: StoredValue, to bytes: inout [UInt8],
    writeLarge: ((String, inout [UInt8]) throws -> Bool)? = nil
  ) throws {
    guard value.depth <= maximumDepth else { throw ValueFailure.tooDeep }
    var levels: [Level] = []
    try begin(value, &levels, &bytes, writeLarge)
    while let level = levels.last {
      guard level.next < level.values.count else {
        bytes.append(level.isArray ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        levels.removeLast()
        continue
      }
      if level.next > 0 { bytes.append(UInt8(ascii: ",")) }
      if !level.isArray {
        append(level.names[level.next], to: &bytes)
        bytes.append(UInt8(ascii: ":"))
      }
      levels[levels.count - 1].next += 1
      try begin(level.values[level.next], &levels, &bytes, writeLarge)
    }
  }

  private static func begin(
    _ value: StoredValue, _ levels: inout [Level], _ bytes: inout [UInt8],
    _ writeLarge: ((String, inout [UInt8]) throws -> Bool)?
  ) throws {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .int(let number): append(number, to: &bytes)
    case .unsigned(let number): bytes += number.description.utf8
    case .double(let number) where number.isFinite: bytes += number.description.utf8
    case .string(let text):
      if try writeLarge?(text, &bytes) != true { append(text, to: &bytes) }
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      levels.append(Level(elements.node, isArray: true))
    case .dictionary(let fields):
      bytes.append(UInt8(ascii: "{"))
      levels.append(Level(fields.node, isArray: false))
    case .double, .data, .date: throw ValueFailure("JSON has no form for \(value.kind).")
    }
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    guard (0..<1000).contains(number) else {
      bytes += number.description.utf8
      return
    }
    if number >= 100 { bytes.append(UInt8(ascii: "0") + UInt8(number / 100)) }
    if number >= 10 { bytes.append(UInt8(ascii: "0") + UInt8(number / 10 % 10)) }
    bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    text.lendUTF8 { text in
      if needsEscapes(text) {
        for index in 0..<text.byteCount { append(escaped: text.loadByte(at: index), to: &bytes) }
      } else {
        bytes.append(copying: text)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscapes(_ text: RawSpan) -> Bool {
    for index in 0..<text.byteCount {
      let byte = text.loadByte(at: index)
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return true }
    }
    return false
  }

  private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): bytes += "\\\"".utf8
    case UInt8(ascii: "\\"): bytes += "\\\\".utf8
    case UInt8(ascii: "\n"): bytes += "\\n".utf8
    case UInt8(ascii: "\r"): bytes += "\\r".utf8
    case UInt8(ascii: "\t"): bytes += "\\t".utf8
    case ..<0x20:
      bytes += "\\u00".utf8
      bytes += (byte < 16 ? "0" : "").utf8
      bytes += String(byte, radix: 16).utf8
    default: bytes.append(byte)
    }
  }
}
