import Files

/// A reader of JSON text (RFC 8259), which checks all of it.
///
/// Integers of up to 64 bits stay exact. Larger numbers, and numbers with a fraction or an
/// exponent, become floating-point numbers. Nesting does not use the stack.
package struct JSONReader {
  let bytes: [UInt8]
  var position: Int
  let end: Int
  /// The arrays and objects that are being read, the innermost last.
  private var levels: [Level] = []

  private struct Level {
    let isArray: Bool
    var names: [String] = []
    var values: [StoredValue] = []
  }

  /// An error about text that is not JSON.
  package struct Damage: Error, CustomStringConvertible {
    /// The offset from the first byte of the text.
    package let offset: Int
    /// A description of the problem.
    package let description: String
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    (self.bytes, position, end) = (bytes, range.lowerBound, range.upperBound)
  }

  /// Reads the only value in a range of bytes.
  ///
  /// - Throws: ``Damage``, also for a repeated name in an object, and for values that are nested
  ///   more than 600 deep.
  package static func value(in bytes: [UInt8], _ range: Range<Int>) throws -> StoredValue {
    var reader = JSONReader(bytes, range)
    do {
      return try reader.read()
    } catch let damage as Damage {
      throw Damage(offset: damage.offset - range.lowerBound, description: damage.description)
    }
  }

  /// Reads the only value in a text.
  ///
  /// - Throws: ``Damage``, as ``value(in:_:)`` does.
  package static func value(in text: String) throws -> StoredValue {
    let bytes = Array(text.utf8)
    return try value(in: bytes, bytes.indices)
  }

  func damage(_ words: String, at offset: Int? = nil) -> Damage {
    Damage(offset: offset ?? position, description: words)
  }

  // MARK: Values

  private mutating func read() throws -> StoredValue {
    while true {
      var value = try beginValue()
      while let done = value {
        guard !levels.isEmpty else {
          skipSpace()
          guard position == end else { throw damage("there is more text after the value") }
          return done
        }
        levels[levels.count - 1].values.append(done)
        value = try continueLevel()
      }
    }
  }

  /// Reads a value; nil after the beginning of an array or an object with a value to read next.
  private mutating func beginValue() throws -> StoredValue? {
    skipSpace()
    guard let first = peek else { throw damage("the text ends where a value is expected") }
    switch first {
    case UInt8(ascii: "{"):
      try begin(isArray: false)
      return try beginMember(isFirst: true)
    case UInt8(ascii: "["):
      try begin(isArray: true)
      skipSpace()
      guard peek == UInt8(ascii: "]") else { return nil }
      position += 1
      return try endLevel()
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
    default: throw damage("no value begins with this character")
    }
  }

  private mutating func begin(isArray: Bool) throws {
    guard levels.count < JSONWriter.maximumDepth else {
      throw damage("values are nested more than \(JSONWriter.maximumDepth) deep")
    }
    position += 1
    levels.append(Level(isArray: isArray))
  }

  /// Continues after a value of an array or an object; returns the whole if it was the last value.
  private mutating func continueLevel() throws -> StoredValue? {
    skipSpace()
    let isArray = levels[levels.count - 1].isArray
    switch peek {
    case UInt8(ascii: ",")?:
      position += 1
      return isArray ? nil : try beginMember(isFirst: false)
    case UInt8(ascii: "]")? where isArray, UInt8(ascii: "}")? where !isArray:
      position += 1
      return try endLevel()
    default: throw damage("a comma or the end of the \(isArray ? "array" : "object") is expected")
    }
  }

  /// Reads a name, or the end of an empty object, which is returned.
  private mutating func beginMember(isFirst: Bool) throws -> StoredValue? {
    skipSpace()
    if isFirst, peek == UInt8(ascii: "}") {
      position += 1
      return try endLevel()
    }
    guard peek == UInt8(ascii: "\"") else { throw damage("a name is expected") }
    levels[levels.count - 1].names.append(try readString())
    skipSpace()
    guard peek == UInt8(ascii: ":") else { throw damage("a colon is expected") }
    position += 1
    return nil
  }

  private mutating func endLevel() throws -> StoredValue {
    let level = levels.removeLast()
    if level.isArray { return .array(StoredValue.Elements(level.values)) }
    let isSorted = zip(level.names, level.names.dropFirst()).allSatisfy { $0.utf8Order($1) < 0 }
    if isSorted {
      return .dictionary(StoredValue.Fields(names: level.names, values: level.values))
    }
    let fields = StoredValue.Fields(Array(zip(level.names, level.values)))
    guard fields.count == level.names.count else { throw damage("a name occurs twice") }
    return .dictionary(fields)
  }

  private mutating func word(_ word: StaticString, _ value: StoredValue) throws -> StoredValue {
    for byte in "\(word)".utf8 {
      guard peek == byte else { throw damage("\(word) is expected") }
      position += 1
    }
    return value
  }

  // MARK: Characters

  var peek: UInt8? { position < end ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }
}
