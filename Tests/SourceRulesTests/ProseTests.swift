import Foundation
import Testing

/// Words that comments and pages do not use, as regular expressions without regard to case.
private let wordsToAvoid = [
  "anew", "whoever", "thereof", "lets? go", "told", "speaks? of", "gives? back", "takes? in",
  "brings? over", "hears? of",
]

/// Beginnings of sentences that comments and pages do not use, except in headings.
private let beginningsToAvoid = ["What", "Who", "Whoever", "By what", "That which"]

@Suite("The prose of comments and pages")
struct ProseTests {
  private static let lines = ProseLine.comments + ProseLine.pages

  /// Returns the places of all lines that match a pattern, with their texts.
  private func matches(
    _ pattern: String, _ options: NSRegularExpression.Options = []
  ) throws -> [String] {
    let expression = try NSRegularExpression(pattern: pattern, options: options)
    return Self.lines.filter { line in
      let range = NSRange(line.text.startIndex..., in: line.text)
      return expression.firstMatch(in: line.text, range: range) != nil
    }.map { "\($0.path):\($0.number): \($0.text)" }
  }

  @Test("Comments and pages are found")
  func found() {
    #expect(ProseLine.comments.count > 5000)
    let pages = Set(ProseLine.pages.map(\.path))
    #expect(pages.count > 30)
    #expect(pages.contains("Sources/StoreEngine/StoreEngine.docc/CrashSafety.md"))
    #expect(pages.contains("README.md") && pages.contains("CHANGELOG.md"))
  }

  @Test("Code does not count as prose")
  func code() {
    let comment = [
      "/// Returns the names of songs.", "///", "///     let what = \"anew\"", "///",
      "/// - Parameters:", "///   - store: A store of songs, which is", "///     not changed.",
      "func names() {}", "// The end.", "let text = \"\"\"", "  // No comment.", "  \"\"\"",
    ]
    let found = ProseLine.commentLines(of: SourceFile(path: "A/B.swift", lines: comment))
    #expect(found.map(\.number) == [1, 5, 6, 7, 9])
    #expect(found.allSatisfy { $0.path == "Sources/A/B.swift" })
    let page = ["# Songs", "", "```swift", "let a = 1", "```", "", "    let b = 2", "", "Use `c`."]
    #expect(ProseLine.prose(of: page, "A.md", codeIndentation: 4).map(\.number) == [1, 9])
  }

  @Test("No comment and no page uses old-fashioned words")
  func words() throws {
    let pattern = #"\b(\#(wordsToAvoid.joined(separator: "|")))\b"#
    let found = try matches(pattern, .caseInsensitive)
    #expect(found == [])
  }

  @Test("No sentence begins with a clause instead of a noun")
  func beginnings() throws {
    let start = #"(^|^[-*]\s+|^\d+\.\s+|[.!?:]["')]?\s+)"#
    let pattern = start + #"(\#(beginningsToAvoid.joined(separator: "|")))\b"#
    let found = try matches(pattern)
    #expect(found == [])
  }
}

/// A line of a comment or of a page, without its inline code.
private struct ProseLine: Sendable {
  /// The path from the top level.
  let path: String
  /// The number of the line, from 1.
  let number: Int
  let text: String

  /// The lines of all comments below `Sources`.
  static let comments = SourceFile.all.flatMap { commentLines(of: $0) }

  /// The lines of the pages below `Sources` and `Examples`, and of those at the top level.
  static let pages: [ProseLine] = pagePaths.flatMap { path in
    let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    let lines = text?.components(separatedBy: "\n") ?? []
    return prose(of: lines, path, codeIndentation: 4)
  }

  /// Returns the lines of the comments in a file, without code examples.
  ///
  /// A line that looks like a comment in a string of several lines is no comment.
  static func commentLines(of file: SourceFile) -> [ProseLine] {
    var isInString = false
    var comments: [String?] = []
    for line in file.lines {
      let text = line.trimmingCharacters(in: .whitespaces)
      let isComment = !isInString && text.hasPrefix("//")
      comments.append(isComment ? String(text.drop { $0 == "/" }) : nil)
      let quotes = isComment ? 0 : line.components(separatedBy: "\"\"\"").count - 1
      if !quotes.isMultiple(of: 2) { isInString.toggle() }
    }
    return prose(of: comments, "Sources/" + file.path, codeIndentation: 5)
  }

  /// Returns the lines of a text that are prose.
  ///
  /// Lines between marks of three backticks are code, and so are indented lines after an empty one.
  ///
  /// - Parameters:
  ///   - lines: The lines; nil for a line that ends a text.
  ///   - path: The path of the file.
  ///   - codeIndentation: The number of spaces from which an indented line is code.
  /// - Returns: The lines that are neither empty nor code.
  static func prose(of lines: [String?], _ path: String, codeIndentation: Int) -> [ProseLine] {
    var found: [ProseLine] = []
    var (isFenced, isExample, isAfterEmpty) = (false, false, true)
    for (index, line) in lines.enumerated() {
      guard let line else {
        (isFenced, isExample, isAfterEmpty) = (false, false, true)
        continue
      }
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("```") {
        isFenced.toggle()
        isAfterEmpty = false
      } else if text.isEmpty {
        isAfterEmpty = true
      } else {
        let isIndented = line.prefix { $0 == " " }.count >= codeIndentation
        isExample = isIndented && (isExample || isAfterEmpty)
        isAfterEmpty = false
        if isFenced || isExample { continue }
        found.append(ProseLine(path: path, number: index + 1, text: withoutCode(text)))
      }
    }
    return found
  }

  /// Returns a line without inline code, and without the name of a parameter at its beginning.
  private static func withoutCode(_ text: String) -> String {
    text.replacing(#/`[^`]*`/#, with: "`")
      .replacing(#/^- (Parameter )?\w+: /#, with: "")
  }

  private static let root = Repository.root

  private static let pagePaths: [String] = {
    let top = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    let below = ["Sources", "Examples"].flatMap { folder in
      let files = FileManager.default.enumerator(
        at: root.appending(path: folder), includingPropertiesForKeys: nil,
        options: .skipsHiddenFiles)
      let folders = root.pathComponents.count { $0 != "/" }
      return (files?.allObjects as? [URL] ?? []).map { file in
        file.pathComponents.filter { $0 != "/" }.dropFirst(folders).joined(separator: "/")
      }
    }
    return (top + below).filter { $0.hasSuffix(".md") }.sorted()
  }()
}
