import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// An object with an index and texts, of which a program renames the class.
private class Titled: StoredObject {
  @Content var title = ""
  @Content var year: UInt32 = 0

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(year)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    year = try buffer.readUInt32()
  }
}

private final class Song: Titled {
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("title", \Song.title), AttributeIndex("year", \Song.year)]
  }
  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("title", \Song.title)]
  }
}

private final class Tune: Titled {
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("title", \Tune.title), AttributeIndex("year", \Tune.year)]
  }
  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("title", \Tune.title)]
  }
}

@Suite("Indexes of renamed classes")
struct RenamedIndexTests {
  private static let migrations = [Migration.rename("Song", to: "Tune")]

  private func title(_ number: Int, _ padding: Int) -> String {
    "song number \(number)" + String(repeating: " la", count: padding / 3)
  }

  /// Songs with all their indexes.
  private func make(_ backend: any StoreBackend, count: Int, padding: Int = 0) throws {
    let store = Store(backend: backend)
    try store.register(Song.self)
    for number in 0..<count {
      let song = Song()
      (song.title, song.year) = (title(number, padding), UInt32(number % 10))
      store.insert(song)
    }
    try store.saveChanges()
    try store.buildIndexes()
    _ = try store.search(Song.self, "number")
  }

  /// Expects that everything is found without anything being built.
  private func expectIndexed(
    _ backend: any StoreBackend, count: Int, padding: Int = 0
  ) throws {
    let store = Store(backend: backend)
    try store.migrate(Self.migrations, registering: [Tune.self])
    let last = backend.lastCommitNumber
    let title = title(7, padding)
    let found = try store.fetch(Tune.self, where: #Predicate { $0.title == title })
    #expect(found.map(\.rowID) == [9])
    #expect(try store.count(of: Tune.self, where: #Predicate { $0.year == 3 }) == count / 10)
    #expect(try store.search(Tune.self, "7").map(\.object.rowID) == [9])
    #expect(backend.lastCommitNumber == last, "an index was built")
    #expect(try backend.orderedTableNames().allSatisfy { $0.name.hasPrefix("Tune") })
    #expect(try store.check().findings == [])
  }

  @Test("They are kept and not built again", arguments: TestedBackend.allCases)
  func kept(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var backend = try location.open()
      try make(backend, count: 40)
      try backend.close()
      for _ in 0..<2 {
        backend = try location.open()
        try expectIndexed(backend, count: 40)
        try backend.close()
      }
    }
  }

  @Test("A rename killed at any commit continues, and has complete indexes at the end")
  func killed() throws {
    let disk = MemoryDisk()
    var backend = FailingBackend(try MemoryBackend(disk: disk))
    // So that the records, and the keys of the titles, take several commits each.
    try make(backend, count: 20_000, padding: 500)
    var failures = 0
    while true {
      try backend.close()
      backend = FailingBackend(try MemoryBackend(disk: disk))
      // One commit goes through each time.
      backend.failCommits(after: 1, times: .max)
      if (try? Store(backend: backend).migrate(Self.migrations, registering: [])) != nil { break }
      failures += 1
      try #require(failures < 20)
    }
    #expect(failures > 4)
    backend.stopFailing()
    try expectIndexed(backend, count: 20_000, padding: 500)
    try backend.close()
  }

  @Test("Keys of an earlier attempt under the new name do not appear in the index")
  func leftOver() throws {
    let backend = try MemoryBackend()
    try make(backend, count: 40)
    let index = try #require(
      try backend.orderedTableNames().first { $0.name.hasSuffix("title") && $0.kind == .index })
    let name = OrderedTableName("Tune" + index.name.dropFirst("Song".count), kind: .index)
    var changes = ChangeSet()
    changes.set([1, 2, 3], to: [], in: try backend.orderedTable(name))
    try backend.commit(changes)
    try expectIndexed(backend, count: 40)
  }
}
