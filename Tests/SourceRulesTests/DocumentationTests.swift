import Testing

@Suite("The comments of public declarations")
struct DocumentationTests {
  /// A declaration that users see.
  private struct Symbol {
    let place: String
    let comment: String
    /// The declaration up to its body.
    let declaration: String
    /// The first line, with a body that fits into it.
    let line: String
  }

  /// A type whose lines follow, by the indentation of its first line.
  private struct Scope {
    let kind: String
    let isPublic: Bool
    let indentation: Int
  }

  private static let symbols = SourceFile.all.flatMap(symbols(of:))

  /// Returns the public declarations of a file, with requirements of public protocols and cases.
  ///
  /// Overrides are not among them, because they inherit their comments.
  private static func symbols(of file: SourceFile) -> [Symbol] {
    let pattern =
      /^(?<modifiers>(?:@\w+(?:\([^)]*\))? |\w+(?:\([^)]*\))? )*?)(?<kind>func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias|macro|case|extension|associatedtype)\b/
    var scopes: [Scope] = []
    return file.lines.indices.compactMap { index in
      let line = file.lines[index]
      let text = line.drop { $0 == " " }
      if text.isEmpty || text.hasPrefix("//") { return nil }
      let indentation = line.count - text.count
      if !text.hasPrefix(")") { scopes.removeAll { $0.indentation >= indentation } }
      guard let match = text.prefixMatch(of: pattern) else { return nil }
      let kind = String(match.output.kind)
      let modifiers = match.output.modifiers.split(separator: " ")
      var isPublic = modifiers.contains("public") || modifiers.contains("open")
      if let scope = scopes.last, scope.isPublic {
        isPublic = isPublic || scope.kind == "protocol" || scope.kind == "enum" && kind == "case"
      }
      let isType = ["struct", "class", "enum", "protocol", "actor", "extension"].contains(kind)
      scopes.append(
        Scope(
          kind: kind, isPublic: isType && isPublic && kind != "extension",
          indentation: indentation))
      if !isPublic || kind == "extension" || modifiers.contains("override") { return nil }
      if modifiers.first == "case" || kind == "case" && scopes.dropLast().last?.kind != "enum" {
        return nil
      }
      return Symbol(
        place: "\(file.path):\(index + 1)", comment: comment(of: file.lines, before: index),
        declaration: declaration(in: file.lines, at: index), line: String(text))
    }
  }

  /// Returns the comment above a line, or above its attributes.
  private static func comment(of lines: [String], before index: Int) -> String {
    var start = index
    while start > 0, !lines[start - 1].isEmpty,
      !lines[start - 1].hasSuffix("{"), !lines[start - 1].hasSuffix("}"),
      !lines[start - 1].drop(while: { $0 == " " }).hasPrefix("///")
    {
      start -= 1
    }
    let isComment = { (line: String) in line.drop { $0 == " " }.hasPrefix("///") }
    return lines[..<start].reversed().prefix(while: isComment).joined()
  }

  /// Returns a declaration of a function or a property, without its parameters and its body.
  private static func declaration(in lines: [String], at index: Int) -> String {
    var text = ""
    var depth = 0
    for line in lines[index...] {
      for character in line {
        if "([".contains(character) { depth += 1 }
        if ")]".contains(character) { depth -= 1 }
        if depth == 0, character == "{" { return text }
        if depth == 0 { text.append(character) }
      }
      if depth == 0 { return text }
      text.append(" ")
    }
    return text
  }

  @Test("They are found")
  func found() {
    #expect(Self.symbols.count > 2500)
    #expect(Self.symbols.contains { $0.declaration.contains("protocol StoreBackend") })
    let throwing = Self.symbols.filter { $0.declaration.contains(" throws") }
    #expect(throwing.count > 500)
  }

  @Test("Each declaration, requirement and case has one")
  func complete() {
    #expect(Self.symbols.filter { $0.comment.isEmpty }.map(\.place) == [])
  }

  @Test("Each function that can throw says what it throws")
  func errors() {
    // A body of one line that calls nothing throws nothing.
    let silent = /\{ ?(nil|true|false|\[\]|\d+|\w+\(\))? ?\}$/
    let undocumented = Self.symbols.filter { symbol in
      symbol.declaration.contains(/\bthrows\b/) && !symbol.comment.contains(/[Tt]hrows/)
        && !symbol.line.contains(silent) && !symbol.line.hasPrefix("typealias")
    }
    #expect(undocumented.map(\.place) == [])
  }
}
