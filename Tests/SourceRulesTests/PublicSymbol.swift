import Foundation

/// A declaration that users see.
struct PublicSymbol: Sendable {
  let place: String
  /// The keyword, such as "func".
  let kind: String
  /// The lines of the comment, without slashes and without indentation.
  let lines: [String]
  /// The pieces of code in the comment, as lines without indentation.
  let examples: [[String]]
  /// The declaration up to its body, without parameters.
  let declaration: String
  /// The declaration up to its body.
  let signature: String
  /// The first line, with a body that fits into it.
  let line: String

  var comment: String { lines.joined(separator: " ") }
  var summary: String { lines.first ?? "" }
  var firstWord: Substring { summary.prefix { $0.isLetter } }
}

extension PublicSymbol {
  /// The public declarations, with requirements of public protocols and cases.
  ///
  /// Overrides are not among them, because they inherit their comments.
  static let all = SourceFile.all.flatMap(symbols(of:))

  /// A type whose lines follow, by the indentation of its first line.
  private struct Scope {
    let kind: String
    let isPublic: Bool
    let indentation: Int
  }

  private static func symbols(of file: SourceFile) -> [PublicSymbol] {
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
      let comment = comment(of: file.lines, before: index)
      let (declaration, signature) = declaration(in: file.lines, at: index)
      return PublicSymbol(
        place: "\(file.path):\(index + 1)", kind: kind,
        lines: comment.map { line in String(line.drop { $0 == " " }) },
        examples: examples(in: comment), declaration: declaration,
        signature: signature, line: String(text))
    }
  }

  /// Returns the comment above a line, or above its attributes.
  private static func comment(of lines: [String], before index: Int) -> [String] {
    var start = index
    while start > 0, !lines[start - 1].isEmpty,
      !lines[start - 1].hasSuffix("{"), !lines[start - 1].hasSuffix("}"),
      !lines[start - 1].drop(while: { $0 == " " }).hasPrefix("///")
    {
      start -= 1
    }
    let isComment = { (line: String) in line.drop { $0 == " " }.hasPrefix("///") }
    return lines[..<start].reversed().prefix(while: isComment).reversed()
      .map { line in String(line.drop { $0 == " " }.drop { $0 == "/" }) }
  }

  /// Returns the indented parts of a comment that follow an empty line.
  private static func examples(in comment: [String]) -> [[String]] {
    var found: [[String]] = []
    var (isOpen, isAfterEmpty) = (false, false)
    for line in comment {
      let text = line.trimmingCharacters(in: .whitespaces)
      let isIndented = line.hasPrefix("     ")
      if isIndented, !isOpen, isAfterEmpty {
        found.append([])
        isOpen = true
      } else if !isIndented, !text.isEmpty {
        isOpen = false
      }
      if isOpen { found[found.count - 1].append(text) }
      isAfterEmpty = text.isEmpty
    }
    return found.map { lines in Array(lines[...(lines.lastIndex { !$0.isEmpty } ?? 0)]) }
  }

  /// Returns a declaration of a function or a property, without its body.
  private static func declaration(
    in lines: [String], at index: Int
  ) -> (withoutParameters: String, whole: String) {
    var (text, whole) = ("", "")
    var depth = 0
    for line in lines[index...] {
      for character in line {
        if "([".contains(character) { depth += 1 }
        if ")]".contains(character) { depth -= 1 }
        if depth == 0, character == "{" { return (text, whole) }
        if depth == 0 { text.append(character) }
        whole.append(character)
      }
      if depth == 0 { return (text, whole) }
      text.append(" ")
      whole.append(" ")
    }
    return (text, whole)
  }
}

extension PublicSymbol {
  /// Whether this is an error code, whose comment is a sentence about the event.
  var isErrorCode: Bool { signature.contains("Self(description:") || signature.contains("Code(") }

  /// Whether the comment must have a line on the cost.
  ///
  /// These functions throw, wait, or take or return a collection. A few are exempt: reading a value
  /// from a buffer, whose cost is its size, initializers that only keep their arguments, and
  /// functions that are unavailable or have an empty body.
  var needsComplexity: Bool {
    if kind != "func", kind != "init" { return false }
    if firstWord == "Unavailable" || summary.hasPrefix("Does nothing") { return false }
    if throwsOnlyForBuffers { return false }
    let fails = declaration.contains(/\b(throws|rethrows|async)\b/)
    if kind == "init", !fails { return false }
    return fails || signature.contains(#/\[[A-Z(]|Sequence\b|Collection\b|\bSet<|ObjectList</#)
  }

  private var throwsOnlyForBuffers: Bool { signature.contains("throws(DataBufferError)") }
}
