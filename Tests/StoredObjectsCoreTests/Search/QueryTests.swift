import StoredObjectsCore
import Testing

@Suite("Full-text queries")
struct QueryTests {
  final class Note: StoredObject {
    @Content var text = ""
    @Content var remark: String?

    convenience init(_ text: String, _ remark: String? = nil) {
      self.init()
      (self.text, self.remark) = (text, remark)
    }
    override class var fullTextAttributes: [FullTextAttribute] {
      [
        FullTextAttribute("text", \Note.text),
        FullTextAttribute("remark", \Note.remark, weight: 0.5),
      ]
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(text)
      buffer.write(remark)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      text = try buffer.readString()
      remark = try buffer.read()
    }
  }

  let store: Store

  init() throws {
    store = Store(backend: try MemoryBackend())
    try store.register(Note.self)
  }

  private func add(_ texts: String...) { for text in texts { store.insert(Note(text)) } }

  private func found(_ query: String) throws -> Set<String> {
    Set(try store.search(Note.self, query).map(\.object.text))
  }

  private static let texts = [
    "Sophie's Choice", "Multiple choices", "No choice", "Rock choice", "Prochoice", "音楽の時間",
    "iPhoneの音", "Big yellow taxi", "Yellow big taxi", "AC/DC", "C++",
  ]

  @Test(
    "A query finds texts by its notation",
    arguments: [
      ("choice", ["Sophie's Choice", "No choice", "Rock choice"]),
      ("[[choice]]", ["Sophie's Choice", "No choice", "Rock choice"]),
      ("choice*", ["Sophie's Choice", "Multiple choices", "No choice", "Rock choice"]),
      ("[[choice*]]", ["Sophie's Choice", "Multiple choices", "No choice", "Rock choice"]),
      ("*choice", ["Sophie's Choice", "No choice", "Rock choice", "Prochoice"]),
      ("[[*choice]]", ["Sophie's Choice", "No choice", "Rock choice", "Prochoice"]),
      (
        "*hoice*",
        ["Sophie's Choice", "Multiple choices", "No choice", "Rock choice", "Prochoice"]
      ),
      ("[[*e ch*]]", ["Multiple choices"]),
      ("[[[[no", ["No choice"]), ("taxi]]]]", ["Big yellow taxi", "Yellow big taxi"]),
      ("[[[[prochoice]]]]", ["Prochoice"]), ("[[[[choice]]]]", []),
      ("choi* AND NOT rock", ["Sophie's Choice", "Multiple choices", "No choice"]),
      ("choi* !! rock", ["Sophie's Choice", "Multiple choices", "No choice"]),
      ("choice NOT rock NOT no", ["Sophie's Choice"]),
      ("rock || multiple && choices", ["Rock choice", "Multiple choices"]),
      ("(rock OR no) choice", ["Rock choice", "No choice"]),
      ("rock OR no choice", ["Rock choice", "No choice"]),
      ("big yellow", ["Big yellow taxi", "Yellow big taxi"]),
      ("\"big yellow\"", ["Big yellow taxi"]), ("\"big yell\"*", ["Big yellow taxi"]),
      ("\"big yell\"", []), ("音", ["音楽の時間", "iPhoneの音"]), ("音楽", ["音楽の時間"]),
      ("iphone", ["iPhoneの音"]), ("ac/dc", ["AC/DC"]), ("dc", ["AC/DC"]), ("c++", ["C++"]),
      ("sophie’s", ["Sophie's Choice"]), ("rock - choice", ["Rock choice"]), ("...", []), ("", []),
      ("and", []), ("o*", []), ("*i", ["Big yellow taxi", "Yellow big taxi"]),
      ("NOT (choi* OR *cho* OR big)", ["音楽の時間", "iPhoneの音", "AC/DC", "C++"]),
    ])
  func notation(_ query: String, _ expected: [String]) throws {
    for text in Self.texts { store.insert(Note(text)) }
    #expect(try found(query) == Set(expected))
    try store.saveChanges()
    #expect(try found(query) == Set(expected))
    #expect(try store.searchCount(Note.self, TextQuery(parsing: query)) == expected.count)
  }

  @Test(
    "An invalid query is an error with the position",
    arguments: [
      ("(choice", 0), ("choice)", 6), ("\"choice", 0), ("choice AND", 10), ("choice OR", 9),
      ("NOT", 3), ("AND choice", 0), ("a (b OR ) c", 8), ("[[choice", 0), ("OR", 0), ("()", 1),
    ])
  func mistakes(_ query: String, _ offset: Int) {
    let error = #expect(throws: StoreError.self) { try store.search(Note.self, query) }
    #expect(error?.code == .invalidQuery)
    #expect(error?.location.offset == offset)
  }

  @Test("A text typed by a user is never an error, and its last word matches prefixes")
  func allWords() throws {
    add("Rock AND roll (live)", "Rockets")
    let texts = { (query: TextQuery) in
      try Set(self.store.search(Note.self, query).map(\.object.text))
    }
    #expect(try texts(.allWords("AND (LIVE")) == ["Rock AND roll (live)"])
    #expect(try texts(.allWords("roc", lastIsPrefix: true)) == ["Rock AND roll (live)", "Rockets"])
    #expect(try texts(.allWords("roc")) == [])
    #expect(try texts(.allWords("\"")) == [])
    #expect(try texts(.word("rock") && !.word("live")) == [])
    #expect(try texts(.word("rockets") || .phrase("and roll")).count == 2)
    #expect(try texts(.exact("rockets")) == ["Rockets"])
  }

  @Test("Rare words, high counts, short texts and high weights come first")
  func ranking() throws {
    add("a common tale and more and more of it", "common", "common rare", "common common tale")
    store.insert(Note("x", "rare"))
    try store.saveChanges()
    let order = try store.search(Note.self, "common OR rare").map(\.object.text)
    #expect(order.first == "common rare")
    let common = try store.search(Note.self, "common").map(\.object.text)
    #expect(common.first == "common common tale" || common.first == "common")
    #expect(common.last == "a common tale and more and more of it")
    let rare = try store.search(Note.self, "rare")
    #expect(rare.map(\.object.text).first == "common rare")
    #expect(rare.map(\.score) == rare.map(\.score).sorted(by: >))
    #expect(rare.allSatisfy { $0.score > 0 })
    #expect(try store.search(Note.self, "rare", in: ["remark"]).map(\.object.text) == ["x"])
    let all = try store.search(Note.self, "common").map(\.object.rowID)
    #expect(try store.search(Note.self, "common", limit: 2).map(\.object.rowID) == Array(all[..<2]))
    #expect(
      try store.search(Note.self, "common", limit: 2, offset: 1).map(\.object.rowID)
        == Array(all[1..<3]))
    #expect(try store.search(Note.self, "common", limit: 0).isEmpty)
  }

  @Test("Hits with the same score have the order of their rows")
  func ties() throws {
    for _ in 0..<3000 { add("same text") }
    try store.saveChanges()
    let rows = try store.search(Note.self, "same", limit: 5).map(\.object.rowID)
    #expect(rows == [2, 3, 4, 5, 6])
  }

  @Test(
    "The score depends on the length of each text, wherever the matches are",
    arguments: [1, 50, 300, 5000])
  func lengths(distance: Int) throws {
    for number in 0..<20_000 {
      let isMatch = number % distance == 0
      add((isMatch ? "wanted" : "other") + String(repeating: " x", count: number % 37))
    }
    try store.saveChanges()
    // Rows without a text have no length, and there are whole blocks of them.
    for row in 3001..<3600 as Range<UInt32> where (row - 2) % UInt32(distance) != 0 {
      if let note = try store.object(Note.self, rowID: row) { store.delete(note) }
    }
    try store.saveChanges()
    let hits = try store.search(Note.self, .word("wanted"))
    #expect(hits.count == (20_000 + distance - 1) / distance)
    var scores: [Int: Double] = [:]
    for hit in hits {
      let known = scores.updateValue(hit.score, forKey: hit.object.text.count)
      #expect(known == nil || known == hit.score)
    }
    let byLength = scores.sorted { $0.key < $1.key }.map(\.value)
    #expect(byLength == byLength.sorted(by: >))
    #expect(Set(byLength).count == byLength.count)
  }

  @Test("A snippet shows the match in its place, and marks it")
  func snippets() throws {
    let long =
      "One two three four five six seven eight nine ten eleven Twélve thirteen fourteen end"
    add(long)
    let hit = try #require(try store.search(Note.self, "twelve").first)
    let snippet = hit.snippet(length: 40)
    #expect(snippet.attribute == "text")
    #expect(snippet.matches.map { String(snippet.text[$0]) } == ["Twélve"])
    #expect(snippet.text.count <= 40)
    #expect(long.contains(snippet.text))
    #expect(snippet.isCutAtStart)
    #expect(snippet.marked("<b>", "</b>").contains("<b>Twélve</b>"))
    #expect(hit.snippet(length: 500).marked("*") == long.replacing("Twélve", with: "*Twélve*"))
    #expect(!hit.snippet(length: 500).isCutAtStart && !hit.snippet(length: 500).isCutAtEnd)
    #expect(hit.snippet(length: 1).text.count == 1)
  }

  @Test(
    "A snippet is from the attribute with most of the query, and marks overlapping matches once")
  func snippetAttribute() throws {
    store.insert(Note("nothing here", "banana bread"))
    let hit = try #require(try store.search(Note.self, "*anana* OR *nan* OR bread").first)
    #expect(hit.snippet.attribute == "remark")
    #expect(hit.snippet.marked("[", "]") == "b[anana] [bread]")
    let not = try #require(try store.search(Note.self, "NOT bread OR nothing").first)
    #expect(not.snippet.marked("[", "]") == "[nothing] here")
  }
}
