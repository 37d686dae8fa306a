import FoundationEssentials

// Representations of values that JSON lacks. Each converts back to the same bits.

extension StoredValue {
  /// Converts a number; NaN, infinities and -0, which JSON coders may lose, become texts.
  static func plain(_ number: Double) -> StoredValue {
    if number.isUsual { return .double(number) }
    return .string(special(number, number.bitPattern, Double.nan.bitPattern))
  }

  /// Converts a number to the shortest one that reads as the same `Float`, or to a text.
  static func plain(_ number: Float) -> StoredValue {
    guard Double(number).isUsual else {
      let bits = UInt64(number.bitPattern)
      return .string(special(Double(number), bits, UInt64(Float.nan.bitPattern)))
    }
    if let short = Double(number.description), Float(short) == number { return .double(short) }
    return .double(Double(number))
  }

  private static func special(_ number: Double, _ bits: UInt64, _ nan: UInt64) -> String {
    if number == 0 { return "-0" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return bits == nan ? "NaN" : "NaN:" + String(bits, radix: 16)
  }

  /// Converts a date to a text, or to seconds since 2001 if no text represents it.
  static func plain(_ date: Date) -> StoredValue {
    DateText.text(of: date).map { .string($0) } ?? plain(date.timeIntervalSinceReferenceDate)
  }

  /// Converts bytes to Base64.
  package static func base64(_ bytes: [UInt8]) -> StoredValue {
    .string(Data(bytes).base64EncodedString())
  }

  // MARK: Back

  /// The number of a plain value; nil if it is not a number.
  var plainDouble: Double? {
    switch self {
    case .double(let number): number
    case .int(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .string("-0"): -0.0
    case .string("Infinity"): .infinity
    case .string("-Infinity"): -.infinity
    case .string("NaN"): .nan
    case .string(let text): Self.bits(text).map { Double(bitPattern: $0) }.flatMap(Self.onlyNaN)
    default: nil
    }
  }

  /// The number of a plain value; nil if it is not a number, or out of range.
  var plainFloat: Float? {
    if case .string(let text) = self, let bits = Self.bits(text) {
      return UInt32(exactly: bits).map { Float(bitPattern: $0) }.flatMap(Self.onlyNaN)
    }
    guard let number = plainDouble else { return nil }
    let float = Float(number)
    return float.isFinite == number.isFinite ? float : nil
  }

  private static func bits(_ text: String) -> UInt64? {
    text.hasPrefix("NaN:") ? UInt64(text.dropFirst(4), radix: 16) : nil
  }

  private static func onlyNaN<Number: BinaryFloatingPoint>(_ number: Number) -> Number? {
    number.isNaN ? number : nil
  }

  /// The date of a plain value; nil if it is not a date.
  var plainDate: Date? {
    if case .string(let text) = self, let date = DateText.date(of: text) { return date }
    return plainDouble.map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// The bytes of a Base64 text; nil if it is not one.
  package var plainBytes: [UInt8]? {
    guard case .string(let text) = self else { return nil }
    return Data(base64Encoded: text).map { [UInt8]($0) }
  }
}

// MARK: - Codable values

extension StoredValue {
  /// A value of a `Codable` property as one that JSON can represent.
  ///
  /// Data, dates, and numbers that JSON or its coders lack become dictionaries with a single name
  /// that begins with "$". So do dictionaries that could be mistaken for one of those.
  var plainCodable: StoredValue {
    switch self {
    case .data(let data): Self.marked("$data", .string(data.base64EncodedString()))
    case .date(let date): Self.marked("$date", .plain(date))
    case .double(let number) where !number.isUsual: Self.marked("$number", .plain(number))
    case .array(let elements): .array(Elements(elements.map(\.plainCodable)))
    case .dictionary(let fields):
      fields.isMarked
        ? Self.marked("$fields", .dictionary(fields.mapped(\.plainCodable)))
        : .dictionary(fields.mapped(\.plainCodable))
    default: self
    }
  }

  /// Converts a result of ``plainCodable`` back.
  ///
  /// - Throws: ``ValueFailure``.
  func codableOfPlain(depth: Int = 0) throws -> StoredValue {
    guard depth <= ValueFormat.maximumDepth else { throw ValueFailure.tooDeep }
    switch self {
    case .array(let elements):
      return .array(Elements(try elements.map { try $0.codableOfPlain(depth: depth + 1) }))
    case .dictionary(let fields):
      if fields.isMarked { return try Self.unmarked(fields[0].key, fields[0].value, depth) }
      return .dictionary(try fields.mapped { try $0.codableOfPlain(depth: depth + 1) })
    default: return self
    }
  }

  private static func marked(_ mark: String, _ value: StoredValue) -> StoredValue {
    .dictionary(Fields(names: [mark], values: [value]))
  }

  private static func unmarked(
    _ mark: String, _ value: StoredValue, _ depth: Int
  ) throws -> StoredValue {
    switch mark {
    case "$data": if let bytes = value.plainBytes { return .data(Data(bytes)) }
    case "$date": if let date = value.plainDate { return .date(date) }
    case "$number": if let number = value.plainDouble { return .double(number) }
    case "$fields":
      if case .dictionary(let fields) = value {
        return .dictionary(try fields.mapped { try $0.codableOfPlain(depth: depth + 1) })
      }
    default: throw ValueFailure("There is no form with the name \(mark).")
    }
    throw ValueFailure("The value of \(mark) is not valid.")
  }
}

extension Double {
  /// Whether every JSON coder preserves the number.
  fileprivate var isUsual: Bool { isFinite && !(self == 0 && sign == .minus) }
}

extension StoredValue.Fields {
  /// Whether there is a single name, which begins with "$".
  fileprivate var isMarked: Bool { count == 1 && keys[0].utf8.first == UInt8(ascii: "$") }

  fileprivate func mapped(_ change: (StoredValue) throws -> StoredValue) rethrows -> Self {
    StoredValue.Fields(names: keys, values: try values.map(change))
  }
}
