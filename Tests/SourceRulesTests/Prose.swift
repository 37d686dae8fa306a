import Foundation

/// A sentence without its inline code.
struct Sentence: CustomStringConvertible {
  /// The path from the top level.
  let path: String
  /// The number of the line in which the sentence begins, from 1.
  let number: Int
  let text: String
  private let words: [Substring]
  /// Whether it lists the errors of a function, where codes don't count as words.
  private let isOfErrors: Bool

  init(_ path: String, _ number: Int, _ words: [Substring], isOfErrors: Bool) {
    (self.path, self.number) = (path, number)
    (self.words, self.isOfErrors) = (words, isOfErrors)
    text = words.joined(separator: " ")
  }

  var wordCount: Int {
    words.count { $0.contains { $0.isLetter || $0.isNumber || $0 == "`" && !isOfErrors } }
  }
  var description: String { "\(path):\(number): \(text)" }
}

/// A paragraph, an item of a list, a heading, or a row of a table.
struct Paragraph: Sendable {
  enum Kind { case text, errors, heading, tableRow }

  /// The path from the top level.
  let path: String
  /// The number of the first line, from 1.
  let number: Int
  let kind: Kind
  private var lines: [String]

  /// Begins with a line, without the mark and the name of an item in a list.
  init(_ path: String, _ number: Int, _ line: String) {
    self.path = path
    self.number = number
    let first = line.first
    kind =
      first == "#"
      ? .heading : first == "|" ? .tableRow : line.hasPrefix("- Throws:") ? .errors : .text
    let isItem = Self.isBeginning(line) && kind != .heading && kind != .tableRow
    lines = [isItem ? line.replacing(#/^([-*]|\d+\.) +((Parameter )?\w+: )?/#, with: "") : line]
  }

  mutating func append(_ line: String) { lines.append(line) }

  /// The text in one line, with "`" for each piece of code.
  var text: String { textInLines.replacing("\n", with: " ") }

  /// The text with "`" for each piece of code, and with the ends of lines in them.
  private var textInLines: String {
    let text = lines.joined(separator: "\n")
    if !text.contains("`") { return text }
    return text.replacing(/``[^`]*``|`[^`]*`/) { code in "`" + code.output.filter { $0 == "\n" } }
  }

  var sentences: [Sentence] {
    var found: [Sentence] = []
    var words: [Substring] = []
    var start = number
    func end() {
      if words.isEmpty { return }
      found.append(Sentence(path, start, words, isOfErrors: kind == .errors))
      words = []
    }
    for (index, line) in textInLines.split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated()
    {
      for word in line.split(separator: " ") {
        if words.isEmpty { start = number + index }
        words.append(word)
        if endsSentence(word) { end() }
      }
    }
    end()
    return found
  }

  private func endsSentence(_ word: Substring) -> Bool {
    var end = word
    while let last = end.last, "\"')*".contains(last) { end = end.dropLast() }
    guard let last = end.last, ".!?".contains(last) || last == ";" && kind == .errors else {
      return false
    }
    return !["e.g.", "i.e.", "(e.g.", "(i.e."].contains(end)
  }
}

extension Paragraph {
  /// Whether a line begins a paragraph although it follows another line.
  fileprivate static func isBeginning(_ text: String) -> Bool {
    text.hasPrefix("#") || text.hasPrefix("|") || text.hasPrefix("- ") || text.hasPrefix("* ")
      || text.first?.isNumber == true && text.prefixMatch(of: #/\d+\. /#) != nil
  }
}

/// The texts of the package.
enum Prose {
  /// Returns the paragraphs of a text.
  ///
  /// Lines between marks of three backticks are code, and so are indented lines after an empty one.
  ///
  /// - Parameters:
  ///   - lines: The lines; nil for a line that ends a text.
  ///   - path: The path of the file.
  ///   - codeIndentation: The number of spaces from which an indented line is code.
  /// - Returns: The paragraphs, without code.
  static func paragraphs(of lines: [String?], _ path: String, codeIndentation: Int) -> [Paragraph] {
    var found: [Paragraph] = []
    var (isFenced, isExample, isAfterEmpty, isOpen) = (false, false, true, false)
    for (index, line) in lines.enumerated() {
      guard let line else {
        (isFenced, isExample, isAfterEmpty, isOpen) = (false, false, true, false)
        continue
      }
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("```") { isFenced.toggle() }
      if text.isEmpty || text.hasPrefix("```") {
        (isAfterEmpty, isOpen) = (text.isEmpty, false)
        continue
      }
      isExample = line.prefix { $0 == " " }.count >= codeIndentation && (isExample || isAfterEmpty)
      isAfterEmpty = false
      if isFenced || isExample { continue }
      if isOpen, !Paragraph.isBeginning(text) {
        found[found.count - 1].append(text)
      } else {
        found.append(Paragraph(path, index + 1, text))
      }
      isOpen = found.last?.kind == .text || found.last?.kind == .errors
    }
    return found
  }

  /// Returns the paragraphs of the comments in a source, without code examples.
  ///
  /// A line that looks like a comment in a string of several lines is no comment. In C, a comment
  /// of several lines is prose, too.
  static func comments(of lines: [String], _ path: String, marks: [String]) -> [Paragraph] {
    var (isInString, isInBlock) = (false, false)
    var comments: [String?] = []
    for line in lines {
      let text = line.trimmingCharacters(in: .whitespaces)
      let isInC = path.hasSuffix(".h") || path.hasSuffix(".c")
      if isInC, isInBlock || text.hasPrefix("/*") {
        isInBlock = !text.contains("*/")
        comments.append(text.replacing("*/", with: "").replacing(#/^/?\*+/#, with: ""))
        continue
      }
      let mark = isInString ? nil : marks.first { text.hasPrefix($0) }
      comments.append(mark.map { mark in String(text.drop { mark.contains($0) }) })
      let quotes = mark != nil ? 0 : line.components(separatedBy: "\"\"\"").count - 1
      if !quotes.isMultiple(of: 2) { isInString.toggle() }
    }
    return paragraphs(of: comments, path, codeIndentation: 5)
  }

  /// Returns the texts in quotes in a Swift source that have at least three words.
  static func messages(of lines: [String], _ path: String) -> [Paragraph] {
    var isInString = false
    var found: [Paragraph] = []
    var long: [String?] = []
    for (index, line) in lines.enumerated() {
      let text = line.trimmingCharacters(in: .whitespaces)
      let isEdge = line.contains("\"\"\"")
      long.append(isInString && !isEdge ? withoutValues(text) : nil)
      if isEdge, line.components(separatedBy: "\"\"\"").count.isMultiple(of: 2) {
        isInString.toggle()
      } else if !isInString, text.contains("\""), !text.hasPrefix("//") {
        found += withoutValues(text).matches(of: /"((?:[^"\\]|\\.)*)"/)
          .map { Paragraph(path, index + 1, String($0.output.1)) }
      }
    }
    return (found + paragraphs(of: long, path, codeIndentation: 100))
      .filter { $0.text.split { !$0.isLetter && $0 != "`" }.count > 2 }
  }

  /// Returns a line with a piece of code for each value in a message.
  private static func withoutValues(_ line: String) -> String {
    if !line.contains("\\(") { return line }
    return line.replacing(/\\\([^()]*(\([^()]*(\([^()]*\)[^()]*)*\)[^()]*)*\)/, with: "``")
  }
}
