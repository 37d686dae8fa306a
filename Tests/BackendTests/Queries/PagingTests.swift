import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Pages")
struct PagingTests {
  private func store(_ count: Int) throws -> (Store, [Track]) {
    let store = try MemoryLocation().openStore(of: Track.self)
    let tracks = (0..<count).map { number in
      let track = Track()
      (track.genre, track.isLive, track.seconds) = ("Jazz", true, Int32(number))
      track.title = "\(number % 7)"
      store.insert(track)
      return track
    }
    try store.saveChanges()
    return (store, tracks)
  }

  @Test(
    "A page continues after its last object, also if values have changed since",
    arguments: ["Abc", "Jazz", "Zydeco"], [false, true])
  func lastObjectHasLeft(genre: String, isDescending: Bool) throws {
    let (store, tracks) = try store(1000)
    let order: [QueryOrder<Track>] =
      isDescending ? [.descending(\.seconds)] : [.ascending(\.seconds)]
    for isSaved in [false, true] {
      let last = tracks[isSaved ? 200 : 100]
      last.genre = genre
      if isSaved { try store.saveChanges() }
      let page = try store.fetch(
        Track.self, where: #Predicate { $0.genre == "Jazz" && $0.isLive }, sortedBy: order,
        limit: 5, after: last)
      let behind: [Int32] = (1...5).map { last.seconds + (isDescending ? -$0 : $0) }
      #expect(page.map(\.seconds) == behind)
    }
  }

  @Test("A page is right also if the sort property is a part of the condition")
  func orderWithAllProperties() throws {
    let (store, tracks) = try store(100)
    tracks[50].genre = "Abc"
    let page = try store.fetch(
      Track.self, where: #Predicate { $0.genre == "Jazz" },
      sortedBy: [.ascending(\.genre), .ascending(\.isLive), .ascending(\.seconds)], limit: 3,
      after: tracks[50])
    #expect(page.map(\.seconds) == [0, 1, 2])
  }

  @Test("A page after an object that was deleted and saved skips no object with equal values")
  func lastObjectIsGone() throws {
    let (store, tracks) = try store(70)
    for isDescending in [false, true] {
      let order: [QueryOrder<Track>] =
        isDescending ? [.descending(\.title)] : [.ascending(\.title)]
      let last = tracks[isDescending ? 38 : 31]
      store.delete(last)
      try store.saveChanges()
      let expected = try store.fetch(Track.self, sortedBy: order)
        .filter { isDescending ? $0.title <= "3" : $0.title >= "3" }
      #expect(try store.fetch(Track.self, sortedBy: order, after: last) == expected)
      let plain = try store.fetch(
        Track.self, where: #Predicate { $0.title.contains("") }, sortedBy: order, after: last)
      #expect(plain == expected)
    }
  }

  @Test("Without an order a page reads only its own objects, the first and the last one alike")
  func unordered() throws {
    let backend = FailingBackend(try MemoryBackend())
    let filling = Store(backend: backend)
    try filling.register(Track.self)
    for _ in 0..<20_000 { filling.insert(Track()) }
    try filling.saveChanges()
    // A record that nobody can read, and that no page comes to.
    let table = try backend.table(named: "Track")
    try backend.base.commit { $0.update(10_000, in: table, [1, 2, 3]) }
    let store = Store(backend: backend)
    try store.register(Track.self)

    let before = backend.readCount
    #expect(try store.fetch(Track.self, limit: 20).map(\.rowID) == Array(2..<22))
    #expect(try store.first(Track.self)?.rowID == 2)
    #expect(try store.first(Track.self, where: #Predicate { $0.title == "" })?.rowID == 2)
    #expect(try store.fetch(Track.self, limit: 3, offset: 5).map(\.rowID) == [7, 8, 9])
    let deep = try store.fetch(Track.self, limit: 3, offset: 1000)
    #expect(deep.map(\.rowID) == [1002, 1003, 1004])
    let last = try #require(try store.object(Track.self, rowID: 19_990))
    let page = try store.fetch(Track.self, limit: 5, after: last)
    #expect(page.map(\.rowID) == Array(19_991..<19_996))
    #expect(try store.fetch(Track.self, limit: 20, after: last).count == 11)
    #expect(backend.readCount - before < 150)
    #expect(try store.explain(Track.self, limit: 20).touchedCount == 20)
    #expect(throws: StoreError.self) { try store.fetch(Track.self) }
  }

  @Test(
    "Deleted and unsaved objects are treated in these pages as in all others", arguments: [0, 1, 2])
  func unorderedWithGaps(deleting: Int) throws {
    let (store, tracks) = try store(3000)
    for (number, track) in tracks.enumerated() {
      let isDeleted = deleting == 0 ? number % 3 == 0 : deleting == 1 ? number < 2950 : number > 20
      if isDeleted { store.delete(track) }
    }
    try store.saveChanges()
    let new = Track()
    store.insert(new)
    for track in try store.allObjects(of: Track.self) where track.seconds % 5 == 0 {
      track.title = "changed"
    }
    store.delete(tracks[deleting == 1 ? 2990 : 10])
    for predicate in [nil, #Predicate<Track> { $0.seconds % 2 == 0 }] {
      let all = try store.allObjects(of: Track.self)
        .filter { predicate == nil || $0.seconds % 2 == 0 }
      var found: [Track] = []
      while true {
        let page = try store.fetch(Track.self, where: predicate, limit: 20, after: found.last)
        if page.isEmpty { break }
        found += page
      }
      #expect(found == all)
      let part = try store.fetch(Track.self, where: predicate, limit: 9, offset: 7)
      #expect(part == Array(all.dropFirst(7).prefix(9)))
    }
  }

  @Test("Skipping keys of an index costs less than reading all objects, and reads none of them")
  func offsets() throws {
    let (store, tracks) = try store(20_000)
    // An unsaved object in the middle is no reason to read what is passed over.
    tracks[5].seconds = 100
    tracks[6].title = "unsaved"
    store.dissolveAllRelationships()
    for offset in [12_000, 16_000, 19_990] {
      let plan = try store.explain(
        Track.self, sortedBy: [.ascending(\.seconds)], limit: 10, offset: offset)
      #expect(plan.indexes == ["seconds"] && plan.isOrderedByIndex)
      let all = try store.allObjects(of: Track.self)
        .sorted { ($0.seconds, $0.rowID) < ($1.seconds, $1.rowID) }
      let page = try store.fetch(
        Track.self, sortedBy: [.ascending(\.seconds)], limit: 10, offset: offset)
      #expect(page == Array(all[offset..<offset + 10]))
    }
  }

  @Test("Pages of all objects of a snapshot are right at every offset, and after an object")
  func pagesOfSnapshots() throws {
    let (store, tracks) = try store(700)
    for number in stride(from: 3, to: 700, by: 7) { store.delete(tracks[number]) }
    try store.saveChanges()
    let snapshot = Store(backend: try store.backend.snapshot())
    try snapshot.register(Track.self)
    let all = try snapshot.allObjects(of: Track.self).sorted { $0.rowID < $1.rowID }
    #expect(all.count == 600)
    for offset in [0, 1, 62, 63, 64, 300, 590, 599, 600, 601, .max] {
      for limit in [1, 20, 1000] {
        let page = try snapshot.fetch(Track.self, limit: limit, offset: offset)
        #expect(page == Array(all.dropFirst(offset).prefix(limit)))
        let last = all[min(offset, 599)]
        let later = try snapshot.fetch(Track.self, limit: limit, after: last)
        #expect(later == Array(all.dropFirst(min(offset, 599) + 1).prefix(limit)))
      }
    }
  }

  @Test("Skipping keys is right at every offset, also with unsaved objects among them")
  func offsetsAmongUnsaved() throws {
    let (store, tracks) = try store(60)
    for number in [0, 3, 30, 59] { tracks[number].seconds = Int32((number * 7) % 60) }
    for _ in 0..<3 { store.insert(Track()) }
    store.delete(tracks[12])
    let all = try store.allObjects(of: Track.self)
      .sorted { ($0.seconds, $0.rowID) < ($1.seconds, $1.rowID) }
    for offset in 0...all.count {
      let page = try store.fetch(
        Track.self, sortedBy: [.ascending(\.seconds)], limit: 5, offset: offset)
      #expect(page == Array(all.dropFirst(offset).prefix(5)), "offset \(offset)")
    }
  }
}
