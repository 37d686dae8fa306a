import StoredObjectsCore

/// A test that compares searches of random texts in many scripts with a scan of all texts.
///
///     try RandomSearchTest(seed: 1, sessions: 4).run(MemoryLocation())
///
/// Between the searches, there are edits, undo, saves, crashes and reopenings.
public struct RandomSearchTest {
  private let seed: UInt64
  private let sessions: Int

  /// Creates a test that opens the location a number of times.
  public init(seed: UInt64, sessions: Int) {
    self.seed = seed
    self.sessions = sessions
  }

  /// Runs the test at a location that nothing has been written to.
  ///
  /// Complexity: linear in the number of sessions, each of which reads all texts.
  ///
  /// - Parameters:
  ///   - location: The location of the texts.
  ///   - crash: Returns the location as a crash of the process leaves it now, while it is still
  ///     open; nil if that is not available.
  /// - Throws: ``RandomStoreTest/Failure``.
  public func run(
    _ location: any BackendLocation,
    crash: ((any BackendLocation) throws -> any BackendLocation)? = nil
  ) throws {
    var run = SearchRun(location, SeededNumbers(seed))
    do {
      for session in 0..<sessions { try run.session(crash: session % 2 == 1 ? crash : nil) }
      try run.compareWithoutIndex()
    } catch {
      throw RandomStoreTest.Failure(description: "STOREDOBJECTS_TEST_SEED=\(seed): \(error)")
    }
  }
}

/// The class that is searched.
final class SearchedText: StoredObject {
  @Content var text = ""
  @Content var remark: String?

  override class var fullTextAttributes: [FullTextAttribute] {
    [
      FullTextAttribute("text", \SearchedText.text, weight: 2),
      FullTextAttribute("remark", \SearchedText.remark),
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

private struct SearchRun {
  private var location: any BackendLocation
  private var random: SeededNumbers
  /// The pieces of each text.
  private var pieces: [String: [SearchGrep.Piece]] = ["": []]

  init(_ location: any BackendLocation, _ random: SeededNumbers) {
    (self.location, self.random) = (location, random)
  }

  private func open(readOnly: Bool = false) throws -> Store {
    let store = Store(backend: try location.open(readOnly: readOnly))
    try store.register(SearchedText.self)
    return store
  }

  mutating func session(crash: ((any BackendLocation) throws -> any BackendLocation)?) throws {
    let store = try open()
    let history = StoreUndoManager()
    store.undoManager = history
    for _ in 0..<4 {
      try history.group { try edit(store) }
      try compare(store, rounds: 3)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try history.undo()
      case 1: store.discardChanges()
      default: try store.saveChanges()
      }
      try compare(store, rounds: 3)
    }
    try expect(try store.check().isSound, "the index disagrees with the texts")
    try store.saveChanges()
    if let crash {
      let crashed = try crash(location)
      try store.backend.close()
      location = crashed
    } else {
      try store.backend.close()
    }
    let reader = try open(readOnly: true)
    try compare(reader, rounds: 3)
    try reader.backend.close()
  }

  private mutating func edit(_ store: Store) throws {
    for _ in 0..<Int.random(in: 1...30, using: &random) {
      let object = SearchedText()
      store.insert(object)
      object.text = text(upTo: 30)
      if Bool.random(using: &random) { object.remark = text(upTo: 6) }
    }
    for object in try store.allObjects(of: SearchedText.self) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: store.delete(object)
      case 1: object.text = text(upTo: 30)
      case 2: object.remark = nil
      default: break
      }
    }
  }

  private mutating func text(upTo count: Int) -> String {
    let all = SearchGrep.pieces
    let chosen = (0..<Int.random(in: 0...count, using: &random)).map { _ in
      all[Int.random(in: 0..<all.count, using: &random)]
    }
    let text = SearchGrep.text(chosen)
    pieces[text] = chosen
    return text
  }

  // MARK: Comparing

  private typealias Wanted = (pieces: [SearchGrep.Piece], mode: SearchGrep.Mode)

  private mutating func wanted(_ objects: [SearchedText]) -> Wanted {
    var found = pieces[text(upTo: 3)] ?? []
    if Int.random(in: 0..<4, using: &random) > 0,
      let known = objects.randomElement(using: &random).flatMap({ pieces[$0.text] }),
      !known.isEmpty
    {
      let start = Int.random(in: 0..<known.count, using: &random)
      found = Array(known[start...].prefix(Int.random(in: 1...5, using: &random)))
    }
    return (found, SearchGrep.Mode.allCases.randomElement(using: &random) ?? .word)
  }

  private func has(_ object: SearchedText, _ wanted: Wanted) -> Bool {
    [object.text, object.remark ?? ""].contains { text in
      SearchGrep.matches(SearchGrep.folded(pieces[text] ?? []), wanted.pieces, wanted.mode)
    }
  }

  private mutating func compare(_ store: Store, rounds: Int) throws {
    let objects = try store.allObjects(of: SearchedText.self)
    for _ in 0..<rounds {
      let (one, other) = (wanted(objects), wanted(objects))
      let left = SearchGrep.query(SearchGrep.text(one.pieces), one.mode)
      let right = SearchGrep.query(SearchGrep.text(other.pieces), other.mode)
      let matches = objects.filter { has($0, one) }
      try compare(store, left, matches)
      try compareSnippets(store, left, one)
      if let notation = SearchGrep.notation(SearchGrep.text(one.pieces), one.mode) {
        try compare(store, TextQuery(parsing: notation), matches)
      }
      let isEmpty = { SearchGrep.folded($0).isEmpty }
      if isEmpty(one.pieces) || isEmpty(other.pieces) { continue }
      let marks = objects.map { (object: $0, isOne: has($0, one), isOther: has($0, other)) }
      let all = marks.filter { $0.isOne && $0.isOther }.map(\.object)
      try compare(store, left && right, all)
      try compare(
        store, left || right, marks.filter { $0.isOne || $0.isOther }.map(\.object))
      try compare(
        store, !left && right, marks.filter { !$0.isOne && $0.isOther }.map(\.object))
      try compare(
        store, !(left || right), marks.filter { !$0.isOne && !$0.isOther }.map(\.object))
    }
  }

  private mutating func compare(
    _ store: Store, _ query: TextQuery, _ expected: [SearchedText]
  ) throws {
    let hits = try store.search(SearchedText.self, query)
    let rows = hits.map(\.object.rowID)
    try expectEqual(rows.sorted(), expected.map(\.rowID).sorted(), "rows that \(query) finds")
    let count = try store.searchCount(SearchedText.self, query)
    try expectEqual(count, rows.count, "their number")
    let isOrdered = zip(hits, hits.dropFirst()).allSatisfy { left, right in
      left.score > right.score
        || left.score == right.score && left.object.rowID < right.object.rowID
    }
    try expect(isOrdered, "hits are not in the order of their scores and rows")
    let offset = Int.random(in: 0...rows.count, using: &random)
    let page = try store.search(SearchedText.self, query, limit: 3, offset: offset)
    try expectEqual(page.map(\.object.rowID), Array(rows[offset...].prefix(3)), "a page of them")
  }

  /// Checks that snippets are parts of the text, within the length, and mark the searched letters.
  private func compareSnippets(_ store: Store, _ query: TextQuery, _ wanted: Wanted) throws {
    let letters = SearchGrep.folded(wanted.pieces).filter { $0 != " " }
    for hit in try store.search(SearchedText.self, query, limit: 4) {
      for length in [1, 2, 7, 20, 1000] {
        let snippet = hit.snippet(length: length)
        let whole = snippet.attribute == "text" ? hit.object.text : hit.object.remark ?? ""
        try expect(snippet.text.count <= length, "a snippet is longer than \(length)")
        try expect(
          whole.utf8.count == snippet.text.utf8.count || snippet.isCutAtStart
            || snippet.isCutAtEnd, "a snippet is cut, and does not say so")
        try expect(whole.has(snippet), "a snippet is no part of the text")
        var end = snippet.text.startIndex
        for match in snippet.matches {
          try expect(match.lowerBound >= end && !match.isEmpty, "matches are not apart")
          end = match.upperBound
        }
        guard length == 1000 else { continue }
        try expect(!snippet.matches.isEmpty, "nothing is marked in \(snippet.text)")
        try expect(
          snippet.matches.allSatisfy { marks(snippet.text[$0], letters) },
          "\(snippet.marked("|")) is marked for \(letters)")
      }
    }
  }

  /// Returns whether a marked text has the searched letters, after folding it again.
  private func marks(_ text: Substring, _ letters: [Unicode.Scalar]) -> Bool {
    var rest = letters[...]
    for scalar in foldedByTable(text) where scalar == rest.first { rest.removeFirst() }
    return rest.isEmpty
  }

  /// Returns the folded letters of a part of a text; the longest pieces match first.
  private func foldedByTable(_ text: Substring) -> [Unicode.Scalar] {
    var letters: [Unicode.Scalar] = []
    var rest = Array(text.unicodeScalars)[...]
    let known = SearchGrep.pieces.sorted {
      $0.text.unicodeScalars.count > $1.text.unicodeScalars.count
    }
    while !rest.isEmpty {
      let piece = known.first { rest.starts(with: $0.text.unicodeScalars) }
      letters += piece?.folded ?? []
      rest = rest.dropFirst(piece?.text.unicodeScalars.count ?? 1)
    }
    return letters
  }

  // MARK: Without an index

  /// Checks that a read-only store without an index finds the same, in the same order.
  mutating func compareWithoutIndex() throws {
    let store = try open()
    try store.buildFullTextIndexes()
    let objects = try store.allObjects(of: SearchedText.self)
    let queries = (0..<20).map { _ in
      let wanted = wanted(objects)
      return SearchGrep.query(SearchGrep.text(wanted.pieces), wanted.mode)
    }
    let expected = try queries.map { try results(store, $0) }
    var changes = ChangeSet()
    let name = OrderedTableName("SearchedText..text", kind: .index)
    changes.clear(try store.backend.orderedTable(name))
    try store.backend.commit(changes)
    try store.backend.close()
    let reader = try open(readOnly: true)
    for (query, expected) in zip(queries, expected) {
      try expectEqual(try results(reader, query), expected, "hits of \(query) without an index")
    }
    try reader.backend.close()
  }

  private func results(_ store: Store, _ query: TextQuery) throws -> [String] {
    try store.search(SearchedText.self, query).map { "\($0.object.rowID) \($0.score)" }
  }
}

extension String {
  /// Returns whether the text contains a snippet, cut as the snippet says.
  fileprivate func has(_ snippet: SearchSnippet) -> Bool {
    let (whole, part) = (Array(utf8), Array(snippet.text.utf8))
    if !snippet.isCutAtStart { return whole.starts(with: part) }
    if !snippet.isCutAtEnd { return whole.suffix(part.count) == part[...] }
    return (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
  }
}
