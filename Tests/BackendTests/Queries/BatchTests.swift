import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

private struct Refusal: Error {}

@Suite("Updates and deletions by queries") struct BatchTests {
  private func filled(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Track.self)
    for number in 0..<100 {
      let track = Track()
      (track.seconds, track.title) = (Int32(number), "T\(number)")
      store.insert(track)
    }
    try store.saveChanges()
    return store
  }

  private func reopened(_ store: Store) throws -> Store {
    let other = Store(backend: store.backend)
    try other.register(Track.self)
    return other
  }

  @Test("An update is one with the next save")
  func update() throws {
    let store = try filled(MemoryBackend())
    let count = try store.update(Track.self, where: #Predicate { $0.seconds < 10 }) {
      $0.genre = "old"
    }
    #expect(count == 10)
    let old = #Predicate<Track> { $0.genre == "old" }
    #expect(try store.count(of: Track.self, where: old) == 10)
    #expect(try reopened(store).count(of: Track.self, where: old) == 0)
    try store.saveChanges()
    #expect(try reopened(store).count(of: Track.self, where: old) == 10)
  }

  @Test(
    "Batches are saved one by one, and no object is visited twice", arguments: TestedBackend.usual)
  func batches(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let store = try filled(location.open(readOnly: false))
      let before = store.lastCommit?.number ?? 0
      // Each moves to a place of the index that is still to come.
      weak var first: Track?
      let count = try store.update(
        Track.self, where: #Predicate { $0.seconds >= 10 }, savingEvery: 20
      ) { track in
        if track.seconds == 10 { first = track }
        track.seconds += 1000
        #expect(track.seconds < 1050 || first == nil)
      }
      #expect(count == 90)
      #expect((store.lastCommit?.number ?? 0) - before == 5)
      let moved = #Predicate<Track> { $0.seconds >= 1000 && $0.seconds < 2000 }
      #expect(try reopened(store).count(of: Track.self, where: moved) == 90)
      #expect(try store.delete(Track.self, where: moved, savingEvery: 50) == 90)
      #expect(try reopened(store).count(of: Track.self) == 10)
      #expect(try store.check().findings == [])
      try store.backend.close()
    }
  }

  @Test("A failed batch is discarded, and earlier batches stay saved")
  func failure() throws {
    let store = try filled(MemoryBackend())
    #expect(throws: Refusal.self) {
      try store.update(Track.self, savingEvery: 30) { track in
        if track.seconds == 70 { throw Refusal() }
        track.genre = "new"
      }
    }
    #expect(!store.hasUnsavedChanges)
    #expect(try store.count(of: Track.self, where: #Predicate { $0.genre == "new" }) == 60)
    store.insert(Track())
    let error = #expect(throws: StoreError.self) {
      try store.delete(Track.self, savingEvery: 10)
    }
    #expect(error?.code == .unsavedChanges)
    store.discardChanges()
    #expect(throws: StoreError.self) { try store.delete(Track.self, savingEvery: 0) }
    #expect(try store.count(of: Track.self) == 100)
  }

  @Test("Values of properties are those of the matching objects, in the order of the query")
  func values() throws {
    let store = try filled(MemoryBackend())
    let titles = try store.values(of: Track.self, \.title, where: #Predicate { $0.seconds > 96 })
    #expect(titles == ["T97", "T98", "T99"])
    let pairs = try store.values(
      of: Track.self, \.seconds, \.title, sortedBy: [.descending(\.seconds)], limit: 2, offset: 1)
    #expect(pairs.map(\.0) == [98, 97] && pairs.map(\.1) == ["T98", "T97"])
    let triples = try store.values(
      of: Track.self, \.genre, \.isLive, \.seconds, where: #Predicate { $0.genre == "" }, limit: 3,
      offset: 5)
    #expect(triples.map(\.2) == [5, 6, 7] && triples.allSatisfy { $0.0.isEmpty && !$0.1 })
    let track = try #require(try store.first(Track.self, where: \.seconds, is: 50))
    track.seconds = -1
    let new = Track()
    new.seconds = 5000
    store.insert(new)
    let all = try store.allObjects(of: Track.self)
    #expect(try store.values(of: Track.self, \.seconds) == all.map(\.seconds))
    #expect(try store.values(of: Track.self, \.original).allSatisfy { $0 == nil })
    #expect(try store.values(of: Track.self, \.seconds, limit: 0) == [])
  }
}
