import Foundation
import Testing

@Suite("The code in comments of public declarations")
struct DocumentedCommentTests {
  /// A piece of code in a comment.
  struct Example: Sendable {
    let place: String
    let lines: [String]
  }

  /// The code of these is in packages that are built apart, or is for a shell.
  private static let elsewhere = ["StoredObjectsSyncServer/", "StoredObjectsTestSupport/Seeds"]

  private static let all = PublicSymbol.all.flatMap { symbol in
    symbol.examples.map { lines in
      Example(place: symbol.place, lines: Array(lines.drop { $0.hasPrefix("import ") }))
    }
  }.filter { example in
    !isDiagram(example) && !elsewhere.contains { example.place.hasPrefix($0) }
  }

  /// Whether a piece is a table of bytes, a picture, or the syntax of a query.
  private static func isDiagram(_ example: Example) -> Bool {
    let start = example.lines.prefix(2).joined(separator: "\n")
    return start.contains("-->") || start.contains(" | ") || start.contains("+---")
      || start.prefixMatch(of: /\d+ +(UInt|magic)/) != nil || start.hasPrefix("choice ")
  }

  private static let sources: [[String]] = ["PlainClient", "BackendTests/GuideExamples.swift"]
    .flatMap { name -> [URL] in
      let path = Repository.root.appending(path: "Tests/" + name)
      let files = FileManager.default.enumerator(at: path, includingPropertiesForKeys: nil)
      let found = files?.allObjects as? [URL] ?? []
      return (found + [path]).filter { $0.pathExtension == "swift" }
    }.compactMap { file in
      try? String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }

  @Test("There are many")
  func some() {
    #expect(Self.all.count > 150)
    #expect(Self.sources.count > 15)
    #expect(Self.all.contains { $0.place.hasPrefix("StoredObjectsCore/Store/Store.swift") })
  }

  @Test("Each piece is in a compiled source")
  func compiled() {
    let missing = Self.all.filter { example in
      !Self.sources.contains { $0.hasRun(of: example.lines) }
    }
    #expect(missing.map { "\($0.place): \($0.lines[0])" } == [])
  }
}
