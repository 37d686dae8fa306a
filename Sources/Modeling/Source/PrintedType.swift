import StoredObjectsCore

/// The name of a type as Swift prints it, such as `Dictionary<String, Array<Size>>`.
struct PrintedType {
  let name: String
  let arguments: [PrintedType]

  /// Parses a name; returns nil if brackets don't match, or are nested more than 32 deep.
  init?(_ text: Substring, depth: Int = 0) {
    guard depth < 32 else { return nil }
    guard let start = text.firstIndex(of: "<") else {
      name = String(text)
      arguments = []
      return
    }
    guard text.last == ">" else { return nil }
    name = String(text[..<start])
    guard let parts = Self.parts(text[text.index(after: start)...].dropLast()) else { return nil }
    let types = parts.compactMap { PrintedType($0, depth: depth + 1) }
    guard types.count == parts.count else { return nil }
    arguments = types
  }

  /// Returns the texts between the commas that are outside of all brackets.
  private static func parts(_ text: Substring) -> [Substring]? {
    var parts: [Substring] = []
    var (depth, start) = (0, text.startIndex)
    for index in text.indices {
      switch text[index] {
      case "<": depth += 1
      case ">": depth -= 1
      case "," where depth == 0:
        parts.append(text[start..<index])
        start = text.index(after: index)
      default: break
      }
      if depth < 0 { return nil }
    }
    guard depth == 0 else { return nil }
    return (parts + [text[start...]]).map { $0.drop { $0 == " " } }
  }
}

extension StoredType {
  /// Creates the form of a `Codable` type, as far as its name shows it: collections of the standard
  /// library are decomposed.
  init(codable name: String) {
    guard let printed = PrintedType(name[...]) else {
      self = .codable(name)
      return
    }
    self.init(printed, or: name)
  }

  private init(_ printed: PrintedType, or text: String) {
    let parts = printed.arguments.map { StoredType($0, or: $0.text) }
    self =
      switch (printed.name, parts.count) {
      case ("Optional", 1): .optional(parts[0])
      case ("Array", 1): .array(parts[0])
      case ("Set", 1): .set(parts[0])
      case ("Dictionary", 2): .dictionary(key: parts[0], value: parts[1])
      default: Self.simple.first { $0.description == text } ?? .codable(text)
      }
  }

  private static let simple: [StoredType] =
    [.bool, .float, .double, .string, .data, .date, .uuid]
    + [8, 16, 32, 64].flatMap { bitCount in
      [true, false].map { .integer(bitCount: bitCount, isSigned: $0) }
    }
}

extension PrintedType {
  /// The name with its arguments.
  fileprivate var text: String {
    arguments.isEmpty ? name : "\(name)<\(arguments.map(\.text).joined(separator: ", "))>"
  }
}
