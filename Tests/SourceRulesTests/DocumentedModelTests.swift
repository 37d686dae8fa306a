import Foundation
import Testing

@Suite("The classes of the documentation")
struct DocumentedModelTests {
  private static let root = Repository.root

  /// A declaration in an example.
  struct Declaration: Sendable, CustomTestStringConvertible {
    let file: String
    let lines: [String]
    var testDescription: String { "\(file): \(lines.first ?? "")" }
  }

  private static func files(_ folder: String, _ suffix: String) -> [URL] {
    let files = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: nil)
    return (files?.allObjects as? [URL] ?? []).filter { $0.path.hasSuffix(suffix) }
      .sorted { $0.path < $1.path }
  }

  private static func lines(_ file: URL) throws -> [Substring] {
    try String(contentsOf: file, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
  }

  /// The code in a text, or in the documentation comments of a source.
  private static func code(in file: URL) throws -> [String] {
    var isCode = false
    return try lines(file).map { line in
      if file.pathExtension == "md" {
        if line.hasPrefix("```") { isCode = line == "```swift" }
        return isCode ? String(line) : "```"
      }
      let comment = line.drop { $0 == " " }
      if comment == "///" { return "" }
      return comment.hasPrefix("///     ") ? String(comment.dropFirst(8)) : "```"
    }
  }

  /// Returns the classes, and the single properties with an attribute outside of a class.
  private static func declarations(in file: URL) throws -> [Declaration] {
    let marks = /@(Stored|Since|Unique|Relationship|Indexed|FullText)/
    let classes = /((final )?class |override class )/
    var found: [Declaration] = []
    var open: [String] = []
    for line in try code(in: file) {
      if open.isEmpty, line.prefixMatch(of: marks) == nil,
        line.prefixMatch(of: classes) == nil
      {
        continue
      }
      open.append(line)
      if open.count == 1, line.hasSuffix("{") { continue }
      if open.count > 1, line != "}" { continue }
      found.append(Declaration(file: file.lastPathComponent, lines: open))
      open = []
    }
    return found
  }

  private static let all: [Declaration] = {
    let texts = [root.appending(path: "README.md")] + files("Sources", ".md")
    let all = (texts + files("Sources", ".swift")).map { try? declarations(in: $0) }
    return all.flatMap { $0 ?? [] }
  }()

  @Test("There are some")
  func some() { #expect(Self.all.count > 15) }

  @Test("Each compiles unchanged, with the settings of a user's package", arguments: all)
  func compiled(declaration: Declaration) throws {
    let wanted = declaration.lines.map { $0.trimmingCharacters(in: .whitespaces) }
    let isThere = try Self.files("Tests/PlainClient", ".swift").contains { file in
      let present = try Self.lines(file).map { $0.trimmingCharacters(in: .whitespaces) }
      return present.contains(wanted)
    }
    #expect(isThere, "Tests/PlainClient does not have it")
  }
}
