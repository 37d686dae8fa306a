import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// Three classes, each with an index of its own.
private class Work: StoredObject {
  @Content var title = ""
  @Content var year: Int32?
  @Content var rating = 0.0
  /// Says the same as the title, and is not the title.
  var heading: String { title }
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("title", \Work.title), AttributeIndex("year", \Work.year)]
  }
  override func writeContent(to buffer: inout DataBuffer) throws {
    buffer.write(title)
    buffer.write(Int64(year ?? .min))
    buffer.write(rating)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    let found = try buffer.readInt64()
    year = found == Int64(Int32.min) ? nil : Int32(found)
    rating = try buffer.readDouble()
  }
}

private class Album: Work {
  @Content var artist: String?
  override class var indexes: [AttributeIndex] {
    super.indexes + [AttributeIndex("artist and title", \Album.artist, \Album.title)]
  }
  override func writeContent(to buffer: inout DataBuffer) throws {
    try super.writeContent(to: &buffer)
    buffer.write(artist)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    try super.readContent(from: &buffer)
    artist = try buffer.read()
  }
}

private final class LiveAlbum: Album {
  @Content var original: Album?
  override class var indexes: [AttributeIndex] {
    super.indexes + [
      AttributeIndex("original", \LiveAlbum.original),
      AttributeIndex("rating", \LiveAlbum.rating, isUnique: true),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) throws {
    try super.writeContent(to: &buffer)
    buffer.write(original)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    try super.readContent(from: &buffer)
    original = try buffer.readObject(of: Album.self)
  }
}

@Suite("Queries of subclasses") struct InheritedIndexTests {
  private let titles = ["", "A", "Abba", "Zebra", "É", "e"]

  private func open(_ location: any BackendLocation) throws -> (any StoreBackend, Store) {
    let backend = try location.open()
    let store = Store(backend: backend)
    try store.register(Work.self, Album.self, LiveAlbum.self)
    return (backend, store)
  }

  private func fill<Object: Work>(
    _ type: Object.Type, _ store: Store, _ generator: inout SeededGenerator
  ) {
    for number in 0..<200 {
      let work = Object()
      work.title = titles.randomElement(using: &generator) ?? ""
      work.year = [nil, .min + 1, -1, 0, 1970, .max].randomElement(using: &generator) ?? nil
      work.rating = number == 7 ? .nan : Double(number)
      let artist = [nil, "", "Bach", "Satie", "Zappa"].randomElement(using: &generator) ?? nil
      (work as? Album)?.artist = artist
      store.insert(work)
    }
  }

  /// Compares the answers of queries with a look at all objects.
  private func compare<Object: Album>(_ type: Object.Type, _ store: Store) throws {
    let all = try store.allObjects(of: type)
    func expect(
      _ predicate: Predicate<Object>, _ indexes: [String], _ holds: (Object) -> Bool,
      _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let found = try store.fetch(type, where: predicate)
      #expect(found == all.filter(holds), sourceLocation: sourceLocation)
      let count = try store.count(of: type, where: predicate)
      #expect(count == found.count, sourceLocation: sourceLocation)
      let plan = try store.explain(type, where: predicate)
      // Where two lead to as few objects, either is right.
      let isRight =
        indexes.isEmpty == plan.indexes.isEmpty
        && plan.indexes.allSatisfy(indexes.contains)
      #expect(isRight, "\(plan)", sourceLocation: sourceLocation)
    }
    for title in titles {
      try expect(#Predicate { $0.title == title }, ["title"]) { $0.title == title }
      let bach = #Predicate<Object> { $0.artist == "Bach" && $0.title > title }
      try expect(bach, ["artist and title", "title"]) { $0.artist == "Bach" && $0.title > title }
      #expect(
        try store.fetch(type, where: \.title, is: title) == all.filter { $0.title == title })
      // A computed property is another one, whatever it says.
      try expect(#Predicate { $0.heading == title }, []) { $0.title == title }
    }
    try expect(#Predicate { $0.year == nil }, ["year"]) { $0.year == nil }
    try expect(#Predicate { ($0.year ?? 1) == 1 }, ["year"]) { ($0.year ?? 1) == 1 }
    try expect(#Predicate { ($0.year ?? 1) == 1970 }, ["year"]) { $0.year == 1970 }
    try expect(#Predicate { ($0.artist ?? "A") == "Zappa" }, ["artist and title"]) {
      $0.artist == "Zappa"
    }
    let sorted = try store.fetch(type, sortedBy: [.ascending(\.title)])
    #expect(sorted.map(\.title) == all.map(\.title).sorted())
    #expect(
      try store.explain(type, sortedBy: [.ascending(\.title)], limit: 5).isOrderedByIndex)
  }

  @Test(
    "They use the indexes of the superclass, and match a scan of all objects",
    arguments: TestedBackend.usual)
  func inherited(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "queries of subclasses, \(kind)")
    try kind.withLocation { location in
      var (backend, store) = try open(location)
      fill(Work.self, store, &generator)
      fill(Album.self, store, &generator)
      fill(LiveAlbum.self, store, &generator)
      try store.saveChanges()
      for isReopened in [false, true] {
        if isReopened {
          try backend.close()
          (backend, store) = try open(location)
        }
        try compare(Album.self, store)
        try compare(LiveAlbum.self, store)
        for album in try store.allObjects(of: LiveAlbum.self).prefix(9) {
          album.title = titles.randomElement(using: &generator) ?? ""
          album.year = 1
        }
        try compare(LiveAlbum.self, store)
        try store.saveChanges()
        try compare(LiveAlbum.self, store)
      }
      #expect(try store.check().findings == [])
      try backend.close()
    }
  }

  @Test("With a default in place of nil, an optional property is found by its index")
  func stopgaps() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Album.self)
    var generator = SeededGenerator(seed: 5)
    fill(Album.self, store, &generator)
    try store.saveChanges()
    let all = try store.allObjects(of: Album.self)
    func expect(_ predicate: Predicate<Album>, _ holds: (Album) -> Bool) throws {
      let found = try store.fetch(Album.self, where: predicate)
      #expect(found == all.filter(holds))
      #expect(try store.count(of: Album.self, where: predicate) == found.count)
      let plan = try store.explain(Album.self, where: predicate, limit: 2)
      #expect(plan.condition.contains("??"))
    }
    for year: Int32 in [.min + 1, -1, 0, 1, 1970, .max] {
      for other: Int32 in [-1, 0, 1970] {
        try expect(#Predicate { ($0.year ?? other) < year }) { ($0.year ?? other) < year }
        try expect(#Predicate { ($0.year ?? other) <= year }) { ($0.year ?? other) <= year }
        try expect(#Predicate { ($0.year ?? other) > year }) { ($0.year ?? other) > year }
        try expect(#Predicate { year <= ($0.year ?? other) }) { year <= ($0.year ?? other) }
        try expect(#Predicate { ($0.year ?? other) != year }) { ($0.year ?? other) != year }
        try expect(#Predicate { [year, 5].contains($0.year ?? other) }) {
          [year, 5].contains($0.year ?? other)
        }
      }
    }
    for start in ["", "B", "Za", "x"] {
      try expect(#Predicate { ($0.artist ?? "Bo").starts(with: start) }) {
        ($0.artist ?? "Bo").starts(with: start)
      }
    }
    let plan = try store.explain(
      Album.self, where: #Predicate { ($0.year ?? 0) == 1970 })
    #expect(plan.indexes == ["year"] && plan.isAnsweredByIndex)
  }

  @Test("A unique index of a subclass is its own, and ignores values that equal nothing")
  func unique() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Work.self, Album.self, LiveAlbum.self)
    func insert(_ work: Work, _ rating: Double) -> Work {
      work.rating = rating
      store.insert(work)
      return work
    }
    _ = [insert(Album(), 1), insert(LiveAlbum(), 1), insert(LiveAlbum(), .nan)]
    try store.saveChanges()
    _ = [insert(Album(), 1), insert(LiveAlbum(), .nan)]
    try store.saveChanges()
    #expect(try store.object(LiveAlbum.self, where: \.rating, is: 1)?.rowID == 2)
    #expect(try store.object(LiveAlbum.self, where: \.rating, is: .nan) == nil)
    _ = insert(LiveAlbum(), 1)
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .notUnique)
  }
}
