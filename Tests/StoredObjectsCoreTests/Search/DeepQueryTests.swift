import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoredObjectsCore

private final class Note: StoredObject {
  @Content var text = ""

  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("text", \Note.text)]
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
}

@Suite("Full-text queries with 100,000 parts")
struct DeepQueryTests {
  private static let count = 100_000

  /// The numbers of notes that a query finds.
  private static func found(_ make: @escaping @Sendable () throws -> TextQuery) throws -> [Int] {
    @Sendable func found() throws -> [Int] {
      let store = Store(backend: try MemoryBackend())
      try store.register(Note.self)
      for text in ["one two", "two three", "three"] {
        let note = Note()
        note.text = text
        store.insert(note)
      }
      try store.saveChanges()
      let query = try make()
      let hits = try store.search(Note.self, query)
      #expect(hits.allSatisfy { $0.snippet.text == $0.object.text })
      return hits.map { Int($0.object.rowID) - 1 }.sorted()
    }
    return try onSmallStack { Result { try found() } }.get()
  }

  @Test("Operators can be nested, to either side")
  func nested() throws {
    let all = try Self.found {
      (0..<Self.count).reduce(.word("two")) { query, _ in query && .word("three") }
    }
    #expect(all == [2])
    let any = try Self.found {
      (0..<Self.count).reduce(.word("one")) { query, _ in .word("three") || query }
    }
    #expect(any == [1, 2, 3])
    let not = try Self.found { (0..<Self.count).reduce(.word("two")) { query, _ in !query } }
    #expect(not == [1, 2])
    let mixed = try Self.found {
      (0..<Self.count).reduce(.word("one")) { query, number in
        number % 2 == 0 ? !(query || .word("none")) : !query && .word("two")
      }
    }
    #expect(mixed == [1])
  }

  @Test("A query and one derived from it are released separately")
  func shared() throws {
    let one = try Self.found {
      var query = TextQuery.word("one")
      var kept: [TextQuery] = []
      for number in 0..<Self.count {
        query = query && .word("two")
        if number % 10_000 == 0 { kept.append(query) }
      }
      return kept[3]
    }
    #expect(one == [1])
  }

  @Test(
    "A text with as many operators is parsed",
    arguments: ["two && ", "two AND ", "two ", "NOT three OR ", "!! three || ", "two AND NOT NOT "])
  func parsed(part: String) throws {
    let found = try Self.found {
      try TextQuery(parsing: String(repeating: part, count: Self.count) + "two")
    }
    #expect(found == [1, 2])
  }

  @Test("As many different words are found in time", .timeLimit(.minutes(1)))
  func differentWords() throws {
    let found = try Self.found {
      .allWords((0..<Self.count).map { "w\($0)" }.joined(separator: " ")) || .word("three")
    }
    #expect(found == [2, 3])
  }

  @Test("Endless parentheses are an error with the position, and without the whole text")
  func parentheses() throws {
    for text in [String(repeating: "(", count: Self.count), String(repeating: "NOT (", count: 500)]
    {
      let error = #expect(throws: StoreError.self) { try TextQuery(parsing: text) }
      #expect(error?.code == .invalidQuery)
      #expect(error?.location.offset != nil)
      #expect((error?.message.count ?? 0) < 400)
    }
  }
}
