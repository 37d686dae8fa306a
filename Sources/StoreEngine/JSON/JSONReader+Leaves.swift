// Reading numbers and texts.

import Files

extension JSONReader {
  /// Reads a number.
  mutating func readNumber() throws -> StoredValue {
    let start = position
    let isNegative = peek == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let first = position
    let magnitude = try readWhole()
    var isWhole = true
    if peek == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      try skipDigits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      try skipDigits()
    }
    if isWhole, let magnitude, let number = Self.number(magnitude, isNegative: isNegative) {
      return number
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let number = Double(text), number.isFinite else {
      throw damage("the number is too large", at: first)
    }
    return .double(number)
  }

  /// Reads the digits before a fraction; nil if the number has more than 64 bits.
  private mutating func readWhole() throws -> UInt64? {
    let first = position
    var number: UInt64? = 0
    while let digit = digit {
      number = number.flatMap { number in
        let (ten, isLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, isLarger) = ten.addingReportingOverflow(UInt64(digit))
        return isLarge || isLarger ? nil : sum
      }
      position += 1
    }
    guard position > first else { throw damage("a digit is expected") }
    guard bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
      throw damage("a number must not begin with 0", at: first)
    }
    return number
  }

  private mutating func skipDigits() throws {
    guard digit != nil else { throw damage("a digit is expected") }
    while digit != nil { position += 1 }
  }

  private var digit: UInt8? {
    guard let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
      return nil
    }
    return byte - UInt8(ascii: "0")
  }

  /// Returns an integer; nil for -0 and for more than 64 bits.
  private static func number(_ magnitude: UInt64, isNegative: Bool) -> StoredValue? {
    if !isNegative { return Int64(exactly: magnitude).map { .int($0) } ?? .unsigned(magnitude) }
    guard magnitude > 0, magnitude <= 1 << 63 else { return nil }
    return .int(Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  // MARK: Texts

  /// Reads a text in quotation marks.
  mutating func readString() throws -> String {
    position += 1
    let start = position
    while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      position += 1
    }
    guard peek == UInt8(ascii: "\"") else { return try readEscapedString(from: start) }
    position += 1
    return try text(of: bytes[start..<position - 1], at: start)
  }

  private mutating func readEscapedString(from start: Int) throws -> String {
    var text = Array(bytes[start..<position])
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try self.text(of: text[...], at: start)
      case UInt8(ascii: "\\"): try readEscape(&text)
      case ..<0x20:
        throw damage(
          "a control character in a string must be escaped", at: position - 1)
      default: text.append(byte)
      }
    }
    throw damage("a string is not closed")
  }

  private func text(of bytes: ArraySlice<UInt8>, at start: Int) throws -> String {
    let bytes = Array(bytes)
    guard let text = bytes.lend({ String(checking: $0) }) else {
      throw damage("a string is not UTF-8", at: start)
    }
    return text
  }

  private mutating func readEscape(_ text: inout [UInt8]) throws {
    let start = position - 1
    guard let byte = peek else { throw damage("a string is not closed") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text += String(try readScalar(from: start)).utf8
    default: throw damage("this is not an escape sequence", at: start)
    }
  }

  /// Reads the digits of a scalar, which may be a surrogate pair.
  private mutating func readScalar(from start: Int) throws -> Unicode.Scalar {
    let first = try readHex()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if (0xD800..<0xDC00).contains(first), peek == UInt8(ascii: "\\"), position + 1 < end,
      bytes[position + 1] == UInt8(ascii: "u")
    {
      position += 2
      let second = try readHex()
      let number = 0x10000 + (first - 0xD800) << 10 + (second &- 0xDC00)
      if (0xDC00..<0xE000).contains(second), let scalar = Unicode.Scalar(number) { return scalar }
    }
    throw damage("half of a surrogate pair is not a character", at: start)
  }

  private mutating func readHex() throws -> UInt32 {
    var number: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80
      else { throw damage("four hexadecimal digits are expected") }
      number = number << 4 | UInt32(digit)
      position += 1
    }
    return number
  }
}
