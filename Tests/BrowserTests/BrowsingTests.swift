import Foundation
import RecordBrowsing
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Stores without their classes")
struct BrowsingTests {
  /// Runs a test with the state of a filled store, and the store with its classes.
  private func withState(
    _ kind: TestedBackend, tracks: Int = 60, change: (Store) throws -> Void = { _ in },
    _ body: (BrowsedState, Store) throws -> Void
  ) throws {
    try kind.withLocation { location in
      let backend = try location.open(readOnly: false)
      try fill(backend, tracks: tracks)
      let store = try browsedStore(backend)
      try change(store)
      if store.hasUnsavedChanges { try store.saveChanges() }
      try body(BrowsedState(backend.snapshot()), store)
      try backend.close()
    }
  }

  private func ids(_ page: BrowsedPage) -> [UInt32] { page.rows.map(\.rowID) }

  @Test("Classes have their names, counts and properties", arguments: TestedBackend.usual)
  func classes(kind: TestedBackend) throws {
    try withState(kind) { state, _ in
      #expect(state.classes.map(\.name) == ["Band", "Track", "Program"])
      #expect(state.classes.map(\.objectCount) == [4, 60, 3])
      let track = try state.browsedClass("Track")
      #expect(track.properties.count == 8)
      #expect(track.titleProperty == "title" && track.note == nil)
      #expect(try state.hasTextIndex(track))
      let indexes = try state.indexNames(of: track)
      // The index whose name says nothing is not used; the folded one sorts by its property.
      #expect(
        indexes == [
          "title": "title", "seconds": "seconds", "rating": "rating", "released": "released",
          "band": "band and title", "remark": "folded remark",
        ])
    }
  }

  @Test("Pages in both directions have every object once", arguments: TestedBackend.usual)
  func pages(kind: TestedBackend) throws {
    let remove = { (store: Store) throws in
      let all = try store.allObjects(of: Track.self)
      for (number, track) in all.enumerated() where number % 7 == 3 { store.delete(track) }
    }
    try withState(kind, change: remove) { state, store in
      let rows = try store.allObjects(of: Track.self).map(\.rowID).sorted()
      for isDescending in [false, true] {
        for limit in [1, 7, 100] {
          var query = BrowsedQuery("Track")
          (query.limit, query.isDescending, query.order) = (limit, isDescending, "id")
          #expect(try all(query, state) == (isDescending ? rows.reversed() : rows))
        }
      }
    }
  }

  /// Returns the rows of all pages of a query.
  private func all(_ query: BrowsedQuery, _ state: BrowsedState) throws -> [UInt32] {
    var query = query
    var rows: [UInt32] = []
    while true {
      let page = try state.page(query)
      rows += ids(page)
      guard let cursor = page.cursor else { return rows }
      #expect(page.rows.count == query.limit || page.isInterrupted)
      query.cursor = cursor
    }
  }

  @Test(
    "Random conditions and orders give the objects that a comparison of all gives",
    arguments: TestedBackend.usual)
  func conditions(kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "browsed conditions, \(kind.rawValue)")
    try withState(kind, tracks: 120) { state, store in
      let tracks = try store.allObjects(of: Track.self)
      for _ in 0..<120 {
        let condition = RandomCondition(&generator)
        var query = BrowsedQuery("Track")
        query.condition = condition.text
        query.limit = .random(in: 1...40, using: &generator)
        let orders = ["title", "seconds", "rating", "isLive", "id", nil]
        query.order = orders[.random(in: 0..<6, using: &generator)]
        query.isDescending = query.order != nil && .random(using: &generator)
        let expected = tracks.filter(condition.holds).map(\.rowID).sorted()
        let found = try all(query, state)
        #expect(found.sorted() == expected, "\(condition.text), by \(query.order ?? "nothing")")
        guard let order = query.order, order != "id" else { continue }
        let keys = try found.map { row in
          try #require(tracks.first { $0.rowID == row }).key(order)
        }
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(keys == (query.isDescending ? sorted.reversed() : sorted), "by \(order)")
      }
    }
  }

  @Test(
    "A condition that is not valid is refused with its position",
    arguments: [
      ("title", 5), ("colour = 1", 0), ("seconds = many", 10), ("title = none or", 15),
      ("not (isLive = true", 18), ("title starts \"A\"", 13), ("seconds contains 3", 8),
      ("mood = angry", 7), ("title = \"open", 8), ("released > yesterday", 11), ("title ! 3", 6),
      ("band = Somewhere", 7), ("title = a b", 10),
    ])
  func invalid(condition: String, position: Int) throws {
    try withState(.memory) { state, _ in
      var query = BrowsedQuery("Track")
      query.condition = condition
      let error = #expect(throws: BrowsingError.self) { try state.page(query) }
      #expect(error?.kind == .invalid)
      #expect(error?.position == position, "\(error?.description ?? "")")
    }
  }

  @Test("An object has its values, references with titles, and neighbors")
  func object() throws {
    try withState(.tokyoCabinet) { state, store in
      let track = try #require(try store.allObjects(of: Track.self).first)
      let view = try state.object(ObjectAddress("Track", track.rowID))
      #expect(view.title == track.title && view.id == "Track/\(track.rowID)")
      let cells = Dictionary(uniqueKeysWithValues: view.properties.map { ($0.name, $0.cell) })
      #expect(cells["title"]?.text == "Sun 0" && cells["remark"]?.kind == Cell.Kind.none)
      #expect(cells["seconds"]?.kind == .number && cells["isLive"]?.text == "true")
      #expect(cells["mood"]?.text == "calm" && cells["band"]?.title == "Band 0")
      #expect(cells["released"]?.text == "1970-01-01T00:00:00Z")
      #expect(view.neighbors.before == nil && view.neighbors.after == track.rowID + 1)
      let program = try state.object(ObjectAddress("Program", 2))
      let items = try #require(program.properties.last?.cell)
      #expect(items.count == 8 && items.items.count == 8)
      let part = try state.list(ObjectAddress("Program", 2), "items", from: 6, limit: 50)
      #expect(part.items == Array(items.items.suffix(2)) && part.count == 8)
      #expect(throws: BrowsingError.self) { try state.object(ObjectAddress("Track", 9999)) }
    }
  }

  @Test("Referrers are all objects that refer to another, found in parts")
  func referrers() throws {
    try withState(.cdb) { state, store in
      let band = try #require(try store.allObjects(of: Band.self).first)
      let expected = band.tracks.map { "Track/\($0.rowID) band" }.sorted()
      var found: [String] = []
      var cursor: String?
      repeat {
        let page = try state.referrers(
          of: ObjectAddress("Band", band.rowID), cursor: cursor, limit: 1, time: .zero)
        found += page.referrers.map { "\($0.cell.text) \($0.property)" }
        cursor = page.cursor
      } while cursor != nil
      #expect(found.sorted() == expected && !expected.isEmpty)
    }
  }

  @Test("A search by the index finds what the program finds, and others are scanned")
  func search() throws {
    try withState(.tokyoCabinet) { state, store in
      for query in ["sun", "rain OR élan", "remark", "zeb*", "nothing"] {
        // The store does not keep the weights of attributes, so the order can differ.
        let expected = try store.search(Track.self, query).map { "Track/\($0.object.rowID)" }
        let page = try state.search(
          query, in: "Track", cursor: nil, limit: 500, time: .seconds(10))
        #expect(Set(page.hits.map(\.id)) == Set(expected) && page.hits.count == expected.count)
        #expect(page.indexed == ["Track"] && page.indexedCount == expected.count)
      }
      let page = try state.search(
        "BAND 2", in: nil, cursor: nil, limit: 10, time: .seconds(10))
      #expect(page.hits.map(\.id).contains("Band/4") && page.progress.done == page.progress.of)
    }
  }

  @Test("Long texts come in parts that end between characters")
  func longText() throws {
    let text = String(repeating: "é€𝄞 ", count: 3000)
    try withState(
      .memory,
      change: { store in try #require(try store.allObjects(of: Band.self).first).name = text }
    ) { state, _ in
      let address = ObjectAddress("Band", 2)
      let cell = try #require(try state.object(address).properties.first?.cell)
      #expect(cell.cutFrom == text.utf8.count && text.hasPrefix(cell.text))
      var (all, next) = ("", 0 as Int?)
      while let from = next {
        let part = try state.text(address, "name", from: from, limit: 1001)
        all += part.text
        next = part.next
      }
      #expect(all == text)
    }
  }

  @Test("A damaged record is shown in its place", arguments: [TestedBackend.tokyoCabinet, .cdb])
  func damage(kind: TestedBackend) throws {
    try withState(kind) { _, store in
      let table = try store.backend.table(named: "Track")
      var changes = ChangeSet()
      changes.bytes = [1, 2, 3]
      changes.tables = [
        .init(table: table, records: [.init(kind: .update, rowID: 5, range: 0..<3)])
      ]
      try store.backend.commit(changes)
      let state = try BrowsedState(store.backend.snapshot())
      var query = BrowsedQuery("Track")
      let page = try state.page(query)
      #expect(page.rows.count == 60)
      #expect(page.rows.filter { $0.damage != nil }.map(\.rowID) == [5])
      #expect(throws: StoreError.self) { try state.object(ObjectAddress("Track", 5)) }
      #expect(state.title(of: ObjectAddress("Track", 5)) == "damaged")
      query.condition = "seconds >= 0"
      #expect(try state.page(query).rows.count == 59)
    }
  }

  @Test("The history shows commits, their changes, and the store as it was")
  func history() throws {
    try withState(.tokyoCabinet) { _, store in
      try store.backend.beginHistory()
      let start = store.backend.lastCommitNumber
      let track = try #require(try store.allObjects(of: Track.self).first)
      for title in ["One", "Two"] {
        track.title = title
        try store.saveChanges()
      }
      let state = try BrowsedState(store.backend.snapshot())
      #expect(state.hasHistory)
      let (commits, _) = try state.commits(before: nil, limit: 10)
      #expect(commits.prefix(2).map(\.number) == [start + 2, start + 1])
      #expect(commits.first?.counts.first?.updated == 1)
      let commit = try state.commit(start + 2)
      #expect(commit.changes.first?.changedProperties == ["title"])
      let past = try state.state(asOf: start + 1)
      #expect(try past.object(ObjectAddress("Track", 2)).title == "One")
      #expect(try state.object(ObjectAddress("Track", 2)).title == "Two")
    }
  }
}

extension Track {
  fileprivate func key(_ property: String) -> [UInt8] {
    var key = IndexKey()
    switch property {
    case "title": title.writeKey(to: &key)
    case "seconds": seconds.writeKey(to: &key)
    case "rating": rating.writeKey(to: &key)
    default: isLive.writeKey(to: &key)
    }
    return key.bytes
  }
}
