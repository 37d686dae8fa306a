import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

private final class Page: StoredObject {
  @Content var text = ""
  @Content var remark: String?

  convenience init(_ text: String, _ remark: String?) {
    self.init()
    (self.text, self.remark) = (text, remark)
  }
  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("text", \Page.text), FullTextAttribute("remark", \Page.remark)]
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

/// The same records, read by a program that knows nothing of the index.
private final class Stranger: StoredObject {
  @Content var text = ""
  @Content var remark: String?

  override class var storedName: String { Page.storedName }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(remark)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    remark = try buffer.read()
  }
}

/// Finds by a look at every text, with a folding of its own for the letters that the tests use.
private struct Grep {
  private static let folds: [Character: String] = [
    "É": "e", "é": "e", "ß": "ss", "Я": "я", "Ё": "е", "Ａ": "a", "!": " ", "-": " ", "Ø": "o",
    "か\u{3099}": "が",
  ]

  static func folded(_ text: String) -> String {
    var words: [String] = []
    var kind: Character?
    for character in text {
      for letter in folds[character] ?? character.lowercased() {
        let next: Character = letter == " " ? " " : "音楽がの".contains(letter) ? "音" : "a"
        if next == " " {
          kind = nil
          continue
        }
        if kind != next { words.append("") }
        kind = next
        words[words.count - 1].append(letter)
      }
    }
    return words.isEmpty ? "" : " " + words.joined(separator: " ") + " "
  }

  /// Whether a text matches that is folded already.
  static func matches(_ text: String, _ wanted: String, _ mode: SearchGrep.Mode) -> Bool {
    let wanted = String(folded(wanted).dropFirst().dropLast())
    guard let first = wanted.first, let last = wanted.last, !text.isEmpty else { return false }
    let start = "音楽がの".contains(first) ? "" : " "
    let end = "音楽がの".contains(last) ? "" : " "
    switch mode {
    case .word: return has(text, start + wanted + end)
    case .prefix: return has(text, start + wanted)
    case .suffix: return has(text, wanted + end)
    case .substring: return has(text, wanted)
    case .exact: return text == " " + wanted + " "
    case .beginning: return text.unicodeScalars.starts(with: (" " + wanted).unicodeScalars)
    case .end:
      let end = (wanted + " ").unicodeScalars.reversed()
      return text.unicodeScalars.reversed().starts(with: end)
    }
  }

  private static func has(_ text: String, _ part: String) -> Bool {
    part.isEmpty || Data(text.utf8).range(of: Data(part.utf8)) != nil
  }
}

@Suite struct FullTextTests {
  private static let letters: [Character] = [
    "a", "b", "A", "É", "é", "e", "e\u{301}", "s", "ß", "я", "Я", "Ё", "Ａ", " ", " ", "!", "-", "音",
    "楽", "が",
    "か\u{3099}", "の", "Ø", "o",
  ]

  private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
    String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
  }

  private func open(_ location: any BackendLocation, readOnly: Bool = false) throws -> Store {
    let store = Store(backend: try location.open(readOnly: readOnly))
    try store.register(Page.self)
    return store
  }

  /// Compares searches of all kinds with a look at every object.
  private func compare(_ store: Store, _ random: inout SeededGenerator, rounds: Int) throws {
    let all = try store.allObjects(of: Page.self)
    let folded = Dictionary(
      uniqueKeysWithValues: all.map { ($0, [$0.text, $0.remark ?? ""].map(Grep.folded)) })
    for _ in 0..<rounds {
      var wanted = Self.text(.random(in: 1...5, using: &random), &random)
      if Bool.random(using: &random), let text = all.randomElement(using: &random)?.text {
        wanted = String(text.dropFirst(.random(in: 0...5, using: &random)).prefix(7))
      }
      let other = Self.text(2, &random)
      let mode = SearchGrep.Mode.allCases.randomElement(using: &random) ?? .word
      let one = { (page: Page, text: String, mode: SearchGrep.Mode) in
        folded[page]?.contains { Grep.matches($0, text, mode) } ?? false
      }
      try expect(store, SearchGrep.query(wanted, mode), all.filter { one($0, wanted, mode) })
      guard !Grep.folded(wanted).isEmpty, !Grep.folded(other).isEmpty else { continue }
      let (left, right) = (SearchGrep.query(wanted, mode), TextQuery.substring(other))
      let has = { (page: Page) in (one(page, wanted, mode), one(page, other, .substring)) }
      try expect(store, left && right, all.filter { has($0).0 && has($0).1 })
      try expect(store, left || right, all.filter { has($0).0 || has($0).1 })
      try expect(store, !left && right, all.filter { !has($0).0 && has($0).1 })
      try expect(store, !(left || right), all.filter { !has($0).0 && !has($0).1 })
    }
  }

  private func expect(_ store: Store, _ query: TextQuery, _ pages: [Page]) throws {
    let found = try store.search(Page.self, query)
    #expect(Set(found.map(\.object)) == Set(pages), "\(query)")
    #expect(found.count == pages.count, "\(query)")
    #expect(try store.searchCount(Page.self, query) == pages.count)
    let scores = found.map(\.score)
    #expect(scores == scores.sorted(by: >))
  }

  @Test(
    "Searches match a scan of all texts, between saves, deletes and reopenings",
    arguments: TestedBackend.usual)
  func againstGrep(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var random = Seeds.generator(for: "full text against grep, \(kind)")
      for session in 0..<3 {
        let store = try open(location)
        for _ in 0..<3 {
          try edit(store, &random)
          // Unsaved.
          try compare(store, &random, rounds: 4)
          if Bool.random(using: &random) { try store.saveChanges() }
          try compare(store, &random, rounds: 4)
        }
        try store.saveChanges()
        #expect(try store.check().findings == [])
        try close(store)
        if session == 2 {
          let reader = try open(location, readOnly: true)
          try compare(reader, &random, rounds: 5)
          try close(reader)
        }
      }
    }
  }

  private func close(_ store: Store) throws { try store.backend.close() }

  private func edit(_ store: Store, _ random: inout SeededGenerator) throws {
    for _ in 0..<Int.random(in: 1...60, using: &random) {
      let text = Self.text(.random(in: 0...40, using: &random), &random)
      store.insert(Page(text, Bool.random(using: &random) ? nil : Self.text(6, &random)))
    }
    for page in try store.allObjects(of: Page.self) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: store.delete(page)
      case 1: page.text = Self.text(.random(in: 0...40, using: &random), &random)
      case 2: page.remark = nil
      default: break
      }
    }
  }

  @Test(
    "An index that is lost, or not updated by another program, is built again",
    arguments: TestedBackend.usual)
  func lostIndex(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var random = Seeds.generator(for: "lost full-text index, \(kind)")
      var store = try open(location)
      for _ in 0..<300 { store.insert(Page(Self.text(20, &random), nil)) }
      try store.saveChanges()
      let name = OrderedTableName("Page..text", kind: .index)
      var changes = ChangeSet()
      let table = try store.backend.orderedTable(name)
      #expect(try store.backend.keyCount(in: table, KeyRange()) > 0)
      changes.clear(table)
      try store.backend.commit(changes)
      try compare(store, &random, rounds: 5)
      #expect(try store.backend.keyCount(in: table, KeyRange()) > 0)
      try close(store)

      // A program without the index changes the texts.
      let stranger = Store(backend: try location.open(readOnly: false))
      try stranger.register(Stranger.self)
      for page in try stranger.allObjects(of: Stranger.self) { page.text = "strange " + page.text }
      try stranger.saveChanges()
      try close(stranger)

      store = try open(location, readOnly: true)
      #expect(try store.search(Page.self, "strange").count == 300)
      try compare(store, &random, rounds: 3)
      try close(store)
      store = try open(location)
      var progress: [IntegrityProgress] = []
      try store.buildFullTextIndexes { progress.append($0) }
      #expect(progress.last.map { $0.completed == $0.total } == true)
      #expect(try store.search(Page.self, "strange").count == 300)
      #expect(try store.check().findings == [])
      try close(store)
    }
  }

  @Test(
    "A missing or damaged index file is built again",
    arguments: [.tokyoCabinet, .cdb] as [TestedBackend],
    [0, 1, 2])
  func lostFile(_ kind: TestedBackend, _ damage: Int) throws {
    try kind.withLocation { location in
      let directory =
        (location as? DirectoryLocation)?.directory ?? ""
      var random = Seeds.generator(for: "lost index file, \(kind)")
      var store = try open(location)
      for _ in 0..<600 { store.insert(Page(Self.text(20, &random), nil)) }
      try store.saveChanges()
      try close(store)
      let path = directory + "/Page..text.index"
      var bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
      #expect(bytes.count > 20_000)
      switch damage {
      case 0: try FileManager.default.removeItem(atPath: path)
      case 1: try Data(bytes.prefix(9000)).write(to: URL(filePath: path))
      default:
        for offset in stride(from: 100, to: bytes.count - 100, by: 1000) {
          bytes[offset] ^= 0x55
        }
        try Data(bytes).write(to: URL(filePath: path))
      }
      store = try open(location)
      if damage == 2 { #expect(try store.check().findings.contains { $0.kind == .index }) }
      try compare(store, &random, rounds: 3)
      store.insert(Page("new", nil))
      try store.saveChanges()
      try compare(store, &random, rounds: 3)
      #expect(try store.check().findings == [])
      try close(store)
    }
  }

  @Test("An index that disagrees with its class is found by a check and repaired")
  func disagreement() throws {
    let store = try open(MemoryLocation())
    for number in 0..<200 { store.insert(Page("text number \(number)", nil)) }
    try store.saveChanges()
    let table = try store.backend.orderedTable(.init("Page..text", kind: .index))
    var victim: [UInt8] = []
    _ = try store.backend.scanKeys(of: table, .init(from: [1, 0, 0, 0, 0x6E]), isReversed: false) {
      key, _ in
      victim = [UInt8](copying: key)
      return .pause
    }
    var changes = ChangeSet()
    changes.set(victim, to: nil, in: table)
    try store.backend.commit(changes)
    let findings = try store.check().findings
    #expect(!findings.isEmpty && findings.allSatisfy { $0.kind == .index })
    try store.buildFullTextIndexes(rebuildsExisting: true)
    #expect(try store.check().findings == [])
    #expect(try store.search(Page.self, "number").count == 200)
  }

  @Test("A save of one object rewrites a bounded part of a large index")
  func boundedSaves() throws {
    let backend = try MemoryBackend()
    let store = Store(backend: backend)
    try store.register(Page.self)
    for number in 0..<20_000 { store.insert(Page("the same words \(number)", nil)) }
    try store.saveChanges()
    let table = try backend.orderedTable(.init("Page..text", kind: .index))
    var largest = 0
    _ = try backend.scanKeys(of: table, .init(from: [1]), isReversed: false) { _, value in
      largest = max(largest, value.byteCount)
      return .next
    }
    #expect(largest <= 530)
    for page in try store.search(Page.self, "words", limit: 50, offset: 9000) {
      page.object.text = "other"
    }
    try store.saveChanges()
    #expect(try store.check().findings == [])
    #expect(try store.searchCount(Page.self, .word("words")) == 19_950)
  }

  @Test("Several stores on a backend keep one index")
  func severalStores() throws {
    let backend = try MemoryBackend()
    let stores = try (0..<2).map { _ in
      let store = Store(backend: backend)
      try store.register(Page.self)
      return store
    }
    for round in 0..<20 {
      stores[round % 2].insert(Page("shared text \(round)", nil))
      try stores[round % 2].saveChanges()
      #expect(try stores[(round + 1) % 2].searchCount(Page.self, .word("shared")) == round + 1)
    }
    #expect(try stores[0].check().findings == [])
  }
}
