/// Splits the text of cases into names and raw values.
///
/// It looks at scalars, because a mark that follows a comma or a quotation mark would be part of the
/// same character.
struct CaseScanner {
  /// A raw value as it is in the text.
  enum Token {
    case quoted(String)
    case plain(String)
  }

  private var rest: Substring.UnicodeScalarView

  init(_ text: String) { rest = text.unicodeScalars[...] }

  /// Returns the next case; nil at the end.
  mutating func next() throws(TypeReader.Failure) -> (name: String, value: Token?)? {
    rest = rest.drop { $0 == "," || $0.properties.isWhitespace }
    guard !rest.isEmpty else { return nil }
    let name = Self.name(take { $0 != "," && $0 != "=" })
    guard rest.first == "=" else { return (name, nil) }
    rest.removeFirst()
    rest = rest.drop { $0.properties.isWhitespace }
    guard rest.first == "\"" else { return (name, .plain(take { $0 != "," })) }
    let text = try quoted()
    let remainder = take { $0 != "," }
    guard remainder.isEmpty else {
      throw TypeReader.Failure(
        description: "\"\(remainder)\" is too much after the raw value of \(name).")
    }
    return (name, .quoted(text))
  }

  /// Removes the scalars for which a closure returns true, and returns them without outer spaces.
  private mutating func take(_ isPart: (Unicode.Scalar) -> Bool) -> String {
    let part = rest.prefix(while: isPart)
    rest = rest[part.endIndex...]
    let trimmed = part.drop { $0.properties.isWhitespace }
    guard let last = trimmed.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
    return String(trimmed[...last])
  }

  /// Returns a name without backticks.
  private static func name(_ text: String) -> String {
    guard text.count > 2, text.first == "`", text.last == "`" else { return text }
    return String(text.dropFirst().dropLast())
  }

  private mutating func quoted() throws(TypeReader.Failure) -> String {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(text)
      case "\\": text.append(try escaped())
      default: text.append(scalar)
      }
    }
    throw TypeReader.Failure(description: "The quotation mark after a raw value is missing.")
  }

  private mutating func escaped() throws(TypeReader.Failure) -> Unicode.Scalar {
    switch rest.popFirst() {
    case "n"?: return "\n"
    case "t"?: return "\t"
    case "r"?: return "\r"
    case "0"?: return "\0"
    case let scalar? where "\\\"'".unicodeScalars.contains(scalar): return scalar
    case "u"? where rest.first == "{":
      let digits = String(rest.dropFirst().prefix { $0 != "}" })
      rest = rest.dropFirst(digits.unicodeScalars.count + 2)
      if let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) { return scalar }
    default: break
    }
    throw TypeReader.Failure(
      description: "A raw value has a wrong escape. Write \\\\, \\\", \\n, \\t or \\u{1F3B5}.")
  }
}
