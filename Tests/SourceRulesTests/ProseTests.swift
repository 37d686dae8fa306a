import Foundation
import Testing

/// Words that no text uses, as regular expressions without regard to case.
private let wordsToAvoid = [
  "anew", "whoever", "thereof", "lets? go", "told", "speaks? of", "gives? back", "takes? in",
  "brings? over", "hears? of", "stands?", "stood", "thus", "hence", "thereby", "whereby",
  "wherein", "whereupon", "whence", "upon", "shall", "alike", "lest", "whilst",
  "he", "him", "his", "himself", "she", "her", "hers", "herself", "whom",
]

/// Phrases that no text uses: an old word for "migrate", and quotes of the first prose.
private let phrasesToAvoid = [
  "(you|who|programs?|people|users?|developers?) (come|comes|came) from", "no two of them have",
  "who is new", "who leaves goes", "nothing has grown", "everyone he", "has a second form",
  "(one|that) says nothing behind",
]

/// Beginnings of sentences that no text uses, except in headings.
private let beginningsToAvoid = [
  "What", "Whatever", "Who", "Whoever", "Whom", "Whose", "Whichever", "He", "She", "That which",
  "(By|Of|To|From|In|With|For|On|At|Behind) (what|which|whom|how)",
]

/// A text with more words in a sentence has to be divided.
private let longestSentence = 35

@Suite("The prose of comments, pages and messages")
struct ProseTests {
  private static let texts = (Prose.comments + Prose.pages).map { ($0.kind, $0.sentences) }
  private static let help = Prose.messages.filter {
    !$0.text.hasPrefix("Examples:") && $0.path.contains("Commands/")
      || $0.path.hasPrefix("Sources/stored-objects")
  }.map { ($0.kind, $0.sentences) }
  private static let all = texts + Prose.messages.map { ($0.kind, $0.sentences) }

  /// Returns the places of all sentences that match a pattern, with their texts.
  private func matches(
    _ pattern: String, _ options: NSRegularExpression.Options = [], headings: Bool = true
  ) throws -> [String] {
    let expression = try NSRegularExpression(pattern: pattern, options: options)
    return Self.all.filter { headings || $0.0 != .heading }.flatMap(\.1).filter { sentence in
      let text = sentence.text
      let range = NSRange(text.startIndex..., in: text)
      return expression.firstMatch(in: text, range: range) != nil
    }.map(\.description)
  }

  @Test("Comments, pages and messages are found")
  func found() {
    let comments = Set(Prose.comments.map(\.path))
    #expect(Prose.comments.count > 12_000)
    for path in [
      "Sources/CFiles/include/CFiles.h", "Package.swift", "dev", ".ci/run", "Dockerfile",
      "Tests/SourceRulesTests/ProseTests.swift", "Sources/StoreEngine/Errors/StoreError.swift",
      "SpeedTests/Harness/Readme.swift", ".github/workflows/ci.yml",
    ] {
      #expect(comments.contains(path), "\(path)")
    }
    let pages = Set(Prose.pages.map(\.path))
    #expect(pages.count > 70)
    for path in [
      "Sources/StoreEngine/StoreEngine.docc/CrashSafety.md", "README.md", "CHANGELOG.md",
      "SpeedTests/README.md", ".github/pull_request_template.md",
    ] {
      #expect(pages.contains(path), "\(path)")
    }
    let messages = Prose.messages.map(\.text)
    #expect(messages.count > 2500)
    #expect(messages.contains { $0.hasPrefix("Show the classes of a store") })
  }

  @Test("No text uses old-fashioned words")
  func words() throws {
    let found = try matches(
      #"\b(\#(wordsToAvoid.joined(separator: "|")))\b"#, .caseInsensitive)
    #expect(found == [])
  }

  @Test("No text uses phrases of the first prose")
  func phrases() throws {
    let found = try matches(
      #"\b(\#(phrasesToAvoid.joined(separator: "|")))\b"#, .caseInsensitive)
    #expect(found == [])
  }

  @Test("No sentence begins with a clause instead of a noun")
  func beginnings() throws {
    let found = try matches(
      #"^(\#(beginningsToAvoid.joined(separator: "|")))\b"#, headings: false)
    #expect(found == [])
  }

  @Test("No sentence has more than 35 words")
  func lengths() {
    let long = (Self.texts + Self.help).filter { $0.0 != .tableRow }.flatMap(\.1)
      .filter { $0.wordCount > longestSentence }
    #expect(long.map(\.description) == [])
  }
}

@Suite("The division of texts into sentences")
struct SentenceTests {
  @Test("Code does not count as prose")
  func code() {
    let comment = [
      "/// Returns the names of songs.", "///", "///     let what = \"anew\"", "///",
      "/// - Parameters:", "///   - store: A store of songs, which is", "///     not changed.",
      "func names() {}", "// The end.", "let text = \"\"\"", "  // No comment.", "  \"\"\"",
    ]
    let found = Prose.comments(of: comment, "A/B.swift", marks: ["//"])
    #expect(found.map(\.number) == [1, 5, 6, 9])
    #expect(found[2].text == "A store of songs, which is not changed.")
    let page = ["# Songs", "", "```swift", "let a = 1", "```", "", "    let b = 2", "", "Use `c`."]
    #expect(Prose.paragraphs(of: page, "A.md", codeIndentation: 4).map(\.number) == [1, 9])
  }

  @Test("Comments in C and in scripts are found")
  func otherLanguages() {
    let header = ["/* One", " * two. */", "int a; /* three */", "// Four.", "int b;"]
    let found = Prose.comments(of: header, "a.h", marks: ["//"])
    #expect(found.map(\.text) == ["One two.", "Four."])
    let script = ["#!/bin/sh", "# One", "# two.", "echo '# three'", "  # Four."]
    let comments = Prose.comments(of: script, "a.sh", marks: ["#"])
    #expect(comments.map(\.text) == ["!/bin/sh One two.", "Four."])
  }

  @Test("Sentences end with a full stop, and in other lines than they begin")
  func sentences() {
    let lines = [
      "# Who?", "One. Two, e.g. here,", "and here: `a.b. C`! Three", "- Four", "  five.",
      "| a | b |",
    ]
    let found = Prose.paragraphs(of: lines, "A.md", codeIndentation: 4)
    #expect(found.map(\.kind) == [.heading, .text, .text, .tableRow])
    #expect(
      found.flatMap(\.sentences).map(\.text)
        == ["# Who?", "One.", "Two, e.g. here, and here: `!", "Three", "Four five.", "| a | b |"])
    #expect(found[1].sentences.map(\.number) == [2, 2, 3])
    #expect(found[1].sentences.map(\.wordCount) == [1, 6, 1])
  }

  @Test("The errors in a list of what a function throws are apart, and codes are no words")
  func errors() {
    let comment = ["/// - Throws: `StoreError` with `a` if one is; `b` if", "///   two is."]
    let found = Prose.comments(of: comment, "A.swift", marks: ["//"])
    #expect(found.flatMap(\.sentences).map(\.wordCount) == [4, 3])
  }

  @Test("Messages are the texts in quotes that have at least three words")
  func messages() {
    let source = [
      #"let a = "not a message""#, #"throw Error("The file \(name(of: "x y z")) is missing.")"#,
      #"let b = "x""#, "let c = \"\"\"", "  One two three.", "  \"\"\"", "// \"A comment it is\"",
    ]
    #expect(
      Prose.messages(of: source, "A.swift").map(\.text)
        == ["not a message", "The file ` is missing.", "One two three."])
  }
}
