import Foundation
import Observation
import StoredObjectsTestSupport
import Synchronization
import Testing

@testable import StoredObjectsCore

/// A song with a setter written by hand, and a reference.
private final class Hit: StoredObject {
  @Content var title = ""
  @Content var tags: [String] = []
  @Content var singer: Singer?
  private var playCount = 0

  var plays: Int {
    get {
      checkForContent()
      return playCount
    }
    set {
      willUpdate()
      playCount = newValue
    }
  }

  var singerName: String { singer?.name ?? "" }
  /// A value for predicates that is not observed.
  static let limit = Mutex(0)
  var isAboveLimit: Bool { plays > Self.limit.withLock(\.self) }

  convenience init(_ title: String, plays: Int = 0) {
    self.init()
    (self.title, playCount) = (title, plays)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    tags = try buffer.read([String].self)
    singer = try buffer.readObject(of: Singer.self)
    playCount = try buffer.readInt()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(tags)
    buffer.write(singer)
    buffer.write(playCount)
  }
}

private class Singer: StoredObject {
  @Content var name = ""
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(name) }
}

private final class Tenor: Singer {}

@Suite("Live results", .serialized)
struct LiveResultsTests {
  private let backend: MemoryBackend
  private let store: Store

  init() throws {
    backend = try MemoryBackend()
    store = Store(backend: backend)
    try store.register(Hit.self, Singer.self)
    for title in ["a", "b", "c"] { store.insert(Hit(title)) }
    try store.saveChanges()
  }

  private func titles(_ results: LiveResults<Hit>) -> [String] { results.objects.map(\.title) }

  private func byTitle() throws -> LiveResults<Hit> {
    try store.results(Hit.self, sortedBy: [.ascending(\.title)])
  }

  /// The number of notifications while a closure runs; the observer reads again after each.
  private func reports(
    _ read: @escaping () -> Void, _ change: () throws -> Void
  ) rethrows -> Int {
    let reports = Mutex(0)
    withObservationTracking(read) { reports.withLock { $0 += 1 } }
    try change()
    return reports.withLock(\.self)
  }

  @Test("An edit is in the results when they are next read, in its position")
  func edits() throws {
    let results = try byTitle()
    let hit = results[0]
    hit.title = "bb"
    #expect(titles(results) == ["b", "bb", "c"])
    hit.title = "d"
    #expect(titles(results) == ["b", "c", "d"])
    #expect(results.index(of: hit) == 2)
    store.delete(hit)
    #expect(titles(results) == ["b", "c"] && !results.contains(hit))
    store.insert(hit)
    #expect(results.count == 3)
    store.discardChanges()
    #expect(titles(results) == ["a", "b", "c"])
  }

  @Test("A handwritten setter is followed, too, and observers are notified")
  func handwritten() throws {
    let played = try store.results(Hit.self, where: #Predicate { $0.plays > 1 })
    let hit = try #require(try store.first(Hit.self, where: #Predicate { $0.title == "b" }))
    let told = reports {
      _ = played.count
    } _: {
      hit.plays = 2
    }
    #expect(told == 1 && played.count == 1)
    #expect(
      reports {
        _ = played.count
      } _: {
        hit.plays = 3
      } == 1)
    #expect(played[0] === hit)
    hit.plays = 0
    #expect(played.isEmpty)
  }

  @Test("Observers are notified once, after the change, and not of a change without effect")
  func observers() throws {
    let results = try store.results(Hit.self, where: #Predicate { $0.title > "b" })
    let hits = try store.allObjects(of: Hit.self)
    #expect(
      reports {
        _ = results.count
      } _: {
        hits[0].title = "aa"
      } == 0)
    #expect(
      reports {
        _ = results.count
      } _: {
        hits[0].title = "x"
        hits[1].title = "y"
      } == 1)
    #expect(results.count == 3)
    #expect(
      reports {
        _ = results.count
      } _: {
        store.discardChanges()
      } == 1)
    #expect(results.count == 1)
    #expect(
      try reports {
        _ = results.count
      } _: {
        try store.saveChanges()
      } == 0)
  }

  @Test("A handler sees the results before its edits, which come with the next change")
  func handlers() throws {
    let results = try byTitle()
    /// `@unchecked Sendable`: the handler is called by the change, on the same thread.
    struct Handed: @unchecked Sendable {
      let store: Store
      let results: LiveResults<Hit>
    }
    let handed = Handed(store: store, results: results)
    let counts = Mutex([Int]())
    withObservationTracking {
      _ = results.count
    } onChange: {
      counts.withLock { $0.append(handed.results.count) }
      handed.store.insert(Hit("from the handler"))
    }
    store.insert(Hit("z"))
    #expect(counts.withLock(\.self) == [3])
    #expect(results.count == 5)
    #expect(try store.count(of: Hit.self) == 5)
  }

  @Test("While a property is changed in place, its object is unchanged")
  func inPlace() throws {
    let results = try store.results(Hit.self, where: #Predicate { $0.tags.contains("x") })
    let hit = try #require(try store.allObjects(of: Hit.self).first)
    func change(_ tags: inout [String]) {
      tags.append("x")
      #expect(results.isEmpty)
      store.insert(Hit("other"))
      #expect(results.isEmpty)
    }
    change(&hit.tags)
    #expect(results.count == 1)
    hit.tags = []
    #expect(results.isEmpty)
  }

  @Test("A delegate reads results in each of its calls")
  func delegate() throws {
    final class Reader: StoreDelegate {
      var read: () -> [String] = { [] }
      var log: [String] = []
      private func note(_ call: String) { log.append(call + read().joined()) }
      func store(_ store: Store, willInsert object: StoredObject) { note("willInsert ") }
      func store(_ store: Store, willDelete object: StoredObject) { note("willDelete ") }
      func store(_ store: Store, willUpdate object: StoredObject) { note("willUpdate ") }
      func storeDidChange(_ store: Store) { note("did ") }
      func storeDidSave(_ store: Store) { note("saved ") }
    }
    let (reader, results) = (Reader(), try byTitle())
    reader.read = { titles(results) }
    store.delegate = reader
    let hit = results[0]
    hit.title = "x"
    store.insert(Hit("d"))
    store.delete(hit)
    try store.saveChanges()
    #expect(
      reader.log == [
        "willUpdate abc", "did bcx", "willInsert bcx", "did bcdx", "willDelete bcdx", "did bcd",
        "saved bcd", "did bcd",
      ])
    reader.read = { [] }
  }

  @Test("A delegate gets no more calls because of results")
  func delegateCalls() throws {
    final class Counter: StoreDelegate {
      var count = 0
      func storeDidChange(_ store: Store) { count += 1 }
    }
    let (counter, results) = (Counter(), try byTitle())
    store.delegate = counter
    let hit = results[0]
    for number in 0..<5 {
      hit.title = "\(number)"
      _ = results.count
    }
    #expect(counter.count == 1)
  }

  @Test("A list of the results stays as it is while they change")
  func lists() throws {
    let results = try byTitle()
    for hit in results { hit.title = "z" + hit.title }
    for hit in results.objects { store.delete(hit) }
    #expect(results.isEmpty)
    store.discardChanges()
    #expect(results.map(\.title) == ["a", "b", "c"])
  }

  @Test("Changes of referenced objects count, saved here or elsewhere, inserted early or late")
  func references() throws {
    let results = try store.results(
      Hit.self, where: #Predicate { $0.singerName != "" }, sortedBy: [.ascending(\.singerName)])
    let hits = try store.allObjects(of: Hit.self)
    let (nina, ella) = (Singer(), Singer())
    (nina.name, ella.name) = ("Nina", "Ella")
    (hits[0].singer, hits[1].singer) = (nina, ella)
    #expect(titles(results) == ["b", "a"])
    store.insert(nina)
    store.insert(ella)
    let changes = results.changes()
    try store.saveChanges()
    #expect(changes.takePending().isEmpty)
    ella.name = "Olla"
    #expect(titles(results) == ["a", "b"])
    try store.saveChanges()
    let other = Store(backend: backend)
    try other.register(Hit.self, Singer.self)
    for singer in try other.allObjects(of: Singer.self) where singer.name == "Nina" {
      singer.name = ""
    }
    try other.saveChanges()
    #expect(titles(results) == ["a", "b"])
    store.mergeChanges()
    #expect(titles(results) == ["b"])
  }

  @Test("Reads of objects are reported only while results need them")
  func tracking() throws {
    do {
      let results = try store.results(Hit.self, where: #Predicate { $0.singerName == "" })
      #expect(results[0].state.contains(.observed) && results.count == 3)
    }
    let hit = try #require(try store.first(Hit.self))
    #expect(!hit.state.contains(.observed) && store.liveQueries == nil)
    let results = try store.results(Singer.self, where: #Predicate { $0.name == "" })
    #expect(!hit.state.contains(.observed) && results.isEmpty)
  }

  @Test("Reloading finds unobserved changes, and reports the difference")
  func reload() throws {
    Hit.limit.withLock { $0 = 0 }
    let results = try store.results(Hit.self, where: #Predicate { $0.isAboveLimit })
    let changes = results.changes()
    Hit.limit.withLock { $0 = -1 }
    #expect(results.isEmpty)
    try results.reload()
    #expect(results.count == 3)
    #expect(changes.takePending().map(\.inserted.count) == [3])
    try results.reload()
    #expect(changes.takePending().isEmpty)
  }

  @Test("Objects of a subclass are found when it is registered")
  func subclasses() throws {
    let results = try store.results(Singer.self, includingSubclasses: true)
    try store.register(Tenor.self)
    store.insert(Tenor())
    store.insert(Singer())
    #expect(results.objects.ids.map(\.className) == ["Singer", "Tenor"])
  }

  @Test("An object for which the predicate throws is left out, and the results have the error")
  func failures() throws {
    let named = #Predicate<Hit> { $0.singer!.name == "x" }
    #expect(throws: StoreError.self) { try store.results(Hit.self, where: named) }
    let singer = Singer()
    singer.name = "x"
    store.insert(singer)
    let hits = try store.allObjects(of: Hit.self)
    for hit in hits { hit.singer = singer }
    let results = try store.results(Hit.self, where: named)
    #expect(results.count == 3 && results.failure == nil)
    hits[0].singer = nil
    #expect(results.count == 2 && results.failure?.code == .notEvaluable)
    #expect(throws: StoreError.self) { try results.reload() }
    hits[0].singer = singer
    try results.reload()
    #expect(results.count == 3 && results.failure == nil)
  }

  @Test("Results do not keep objects alive, and the store does not keep results alive")
  func lifetime() throws {
    weak var weakStore: Store?
    weak var weakQuery: ResultsQuery?
    do {
      let store = Store(backend: backend)
      try store.register(Hit.self, Singer.self)
      var results: LiveResults? = try store.results(Hit.self, sortedBy: [.ascending(\.title)])
      results?[1].title = "x"
      try store.saveChanges()
      #expect(results?.count == 3)
      #expect(store.registration(of: Hit.self)?.livingCount == 0)
      (weakStore, weakQuery) = (store, results?.query)
      let list = results?.objects
      results = nil
      #expect(weakQuery == nil && store.liveQueries == nil)
      #expect(list?.map(\.title) == ["a", "c", "x"])
    }
    #expect(weakStore == nil)
  }

  @Test("A count is right, and observers of isEmpty are notified of that only")
  func counts() throws {
    let played = try store.liveCount(of: Hit.self, where: #Predicate { $0.title > "b" })
    let hits = try store.allObjects(of: Hit.self)
    #expect(played.value == 1 && !played.isEmpty)
    #expect(
      reports {
        _ = played.isEmpty
      } _: {
        hits[0].title = "x"
      } == 0)
    #expect(
      reports {
        _ = played.isEmpty
      } _: {
        hits[0].title = "a"
        hits[2].title = "a"
      } == 1)
    #expect(played.value == 0 && played.isEmpty)
  }

  @Test("A deleted object that is restored is followed")
  func objects() throws {
    let hit = try #require(try store.allObjects(of: Hit.self).first)
    let live = try store.liveObject(hit.id)
    #expect(live.object === hit)
    #expect(
      reports {
        _ = live.object
      } _: {
        store.delete(hit)
      } == 1)
    #expect(live.object == nil && !live.exists)
    store.discardChanges()
    #expect(live.object === hit)
    #expect(throws: StoreError.self) { try store.liveObject(Hit().id) }
  }
}
