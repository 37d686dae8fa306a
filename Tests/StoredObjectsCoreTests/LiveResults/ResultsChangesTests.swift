import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// A list on a screen.
private actor Screen {
  private let store: Store
  private let results: LiveResults<Song>
  private var task: Task<Void, Never>?
  private(set) var changes: [ResultsChange<Song>] = []
  private(set) var counts: [Int] = []
  private(set) var events: [ObjectChange] = []
  private(set) var hasEnded = false

  init() throws {
    store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    results = try store.results(Song.self, sortedBy: [.ascending(\.title)])
  }

  func listen() {
    task = Task {
      for await change in results.changes() { changes.append(change) }
      hasEnded = true
    }
  }

  func count() throws {
    let count = try store.liveCount(of: Song.self)
    Task { for await value in count.values() { counts.append(value) } }
  }

  func follow(_ id: ObjectID<Song>) throws {
    let live = try store.liveObject(id)
    Task { for await change in live.changes() { events.append(change) } }
  }

  func insert(_ titles: [String]) -> [ObjectID<Song>] {
    titles.map { title in
      let song = Song(title, 1)
      store.insert(song)
      return song.id
    }
  }

  func edit(_ edit: @Sendable (Song) -> Void) { results.objects.forEach(edit) }

  func delete(_ id: ObjectID<Song>) throws {
    if let song = try store.object(id) { store.delete(song) }
  }

  func cancel() async {
    task?.cancel()
    await task?.value
  }

  /// Lets everything run that waits.
  func settle(until isDone: @Sendable (isolated Screen) -> Bool) async {
    for _ in 0..<10_000 where !isDone(self) { await Task.yield() }
  }
}

@Suite("Changes of live results")
struct ResultsChangesTests {
  @Test("Edits in one go are one change, and the sequence ends with its task")
  func coalescing() async throws {
    let screen = try Screen()
    await screen.listen()
    await screen.settle { _ in false }
    let ids = await screen.insert(["c", "a", "b"])
    await screen.settle { !$0.changes.isEmpty }
    #expect(await screen.changes.map { $0.inserted.map(\.id) } == [[ids[1], ids[2], ids[0]]])
    await screen.edit { $0.title = $0.title == "a" ? "z" : $0.title }
    await screen.settle { $0.changes.count > 1 }
    let move = try #require(await screen.changes.last)
    #expect(move.moved.map { [$0.from.index, $0.to.index] } == [[0, 2]])
    #expect(move.removed.isEmpty && move.inserted.isEmpty && move.count == 3)
    await screen.cancel()
    #expect(await screen.hasEnded)
    #expect(await screen.changes.count == 2)
  }

  @Test("Counts and objects have the values after each go")
  func values() async throws {
    let screen = try Screen()
    try await screen.count()
    await screen.settle { $0.counts == [0] }
    let ids = await screen.insert(["c", "a"])
    try await screen.follow(ids[0])
    await screen.settle { $0.counts == [0, 2] }
    _ = await screen.insert(["d", "e"])
    await screen.edit { $0.seconds += 1 }
    await screen.settle { $0.counts == [0, 2, 4] && $0.events == [.updated] }
    try await screen.delete(ids[0])
    await screen.settle { $0.events.count == 2 }
    #expect(await screen.counts == [0, 2, 4, 3])
    #expect(await screen.events == [.updated, .deleted])
  }

  @Test("More changes than rows become one change of all")
  func reset() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    let songs = (0..<300).map { Song("\($0)", 0) }
    for song in songs { store.insert(song) }
    let results = try store.results(Song.self, sortedBy: [.ascending(\.seconds)])
    let changes = results.changes()
    for number in 1...10 {
      for song in songs { song.seconds = UInt32(number) }
      #expect(results.count == 300)
    }
    let pending = changes.takePending()
    #expect(pending.count == 3 && pending[0].isReset && pending[0].count == 300)
  }
}
