import Observation
import StoredObjectsTestSupport
import Synchronization
import TestFiles
import Testing

@testable import StoredObjectsCore

private func container(_ backend: any StoreBackend) throws -> StoreContainer {
  try StoreContainer(backend: backend, classes: [Song.self])
}

private final class Notices: Sendable {
  private let number = Mutex(0)
  var count: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}

/// Keeps objects alive, and does not touch them.
private final class Kept: @unchecked Sendable { var songs: [Song?] = [] }

/// A view with a store that merges automatically.
private actor Screen {
  private var store: Store?
  private var results: LiveResults<Song>?
  private var song: Song?
  /// The number of notifications of observers.
  let notices = Notices()

  init(_ container: StoreContainer) throws {
    let store = try container.makeStore()
    results = try store.results(Song.self, sortedBy: [.ascending(\.title)])
    self.store = store
  }

  func begin() { store?.mergeAutomatically() }

  func hold(_ row: UInt32) throws { song = try store?.object(Song.self, rowID: row) }

  var titles: [String] { results?.objects.map(\.title) ?? [] }
  var heldTitle: String? { song?.title }

  func edit(_ title: String) { song?.title = title }
  func save() throws { try store?.saveChanges() }
  func discard() { store?.discardChanges() }

  /// Returns the title before and after five saves of another store, in one job.
  func titlesAroundSaves(of row: UInt32, _ number: Int, _ container: StoreContainer) throws
    -> [String?]
  {
    let before = song?.title
    let other = try container.makeStore()
    for part in 1...5 {
      try other.object(Song.self, rowID: row)?.title = "\(number * 5 - 5 + part)"
      try other.saveChanges()
    }
    return [before, song?.title]
  }

  /// Verifies that observers are notified on this actor.
  func observe() {
    withObservationTracking {
      _ = results?.count
    } onChange: { [self] in
      preconditionIsolated()
      notices.add()
    }
  }

  /// Releases the store; returns whether it was freed.
  func release() -> Bool {
    weak let released = store
    (store, results, song) = (nil, nil, nil)
    return released == nil
  }

  /// Waits until something is so; other jobs of the actor run meanwhile.
  func wait(until isSo: @Sendable (isolated Screen) -> Bool) async {
    while !isSo(self) { try? await Task.sleep(for: .milliseconds(1)) }
  }
}

@Suite("Automatic merging", .hangLimit)
struct AutomaticMergingTests {
  @Test("A store on an actor has what others save, without a call")
  func follows() async throws {
    let container = try container(MemoryBackend())
    let screen = try Screen(container)
    // A save from before is merged, too.
    try await container.write { $0.insert(Song("a", 1)) }
    await screen.begin()
    await screen.wait { $0.titles == ["a"] }
    await screen.observe()
    try await container.write { $0.insert(Song("b", 1)) }
    await screen.wait { $0.titles == ["a", "b"] }
    #expect(screen.notices.count == 1)
    let row = try await container.write { store in
      let song = try store.allObjects(of: Song.self)[0]
      song.title = "c"
      return song.rowID
    }
    await screen.wait { $0.titles == ["b", "c"] }
    try await screen.hold(row)
    try await container.write { try $0.object(Song.self, rowID: row)?.title = "d" }
    await screen.wait { $0.heldTitle == "d" }
    try await container.write { store in
      if let song = try store.object(Song.self, rowID: row) { store.delete(song) }
    }
    await screen.wait { $0.titles == ["b"] }
  }

  @Test("Nothing changes within a job of the actor, and saves in between are merged together")
  func jobs() async throws {
    let container = try container(MemoryBackend())
    let row = try await container.write { store in
      let song = Song("0", 1)
      store.insert(song)
      return song.rowID
    }
    let screen = try Screen(container)
    await screen.begin()
    try await screen.hold(row)
    for number in 1...20 {
      let earlier = "\(number * 5 - 5)"
      await screen.wait { $0.heldTitle == earlier }
      let titles = try await screen.titlesAroundSaves(of: row, number, container)
      #expect(titles == [earlier, earlier])
    }
    await screen.wait { $0.heldTitle == "100" }
  }

  @Test("Objects with unsaved changes stay, and their save is a conflict")
  func conflict() async throws {
    let container = try container(MemoryBackend())
    let row = try await container.write { store in
      let song = Song("a", 1)
      for object in [song, Song("b", 1)] { store.insert(object) }
      return song.rowID
    }
    let screen = try Screen(container)
    await screen.begin()
    try await screen.hold(row)
    await screen.edit("mine")
    try await container.write { store in
      for song in try store.allObjects(of: Song.self) { song.title += "!" }
    }
    await screen.wait { $0.titles == ["b!", "mine"] }
    let error = await #expect(throws: StoreError.self) { try await screen.save() }
    #expect(error?.code == .conflict)
    await screen.discard()
    #expect(await screen.titles == ["a!", "b!"])
  }

  @Test("A store that is released is freed, and nothing merges any longer")
  func release() async throws {
    let backend = try MemoryBackend()
    let container = try container(backend)
    let screen = try Screen(container)
    await screen.begin()
    await screen.begin()
    try await container.write { $0.insert(Song("a", 1)) }
    await screen.wait { $0.titles == ["a"] }
    #expect(await screen.release())
    try await container.write { $0.insert(Song("b", 1)) }
    #expect(backend.coordinator.listenerCount == 0)
  }

  @Test("An actor with a store that merges is freed when nobody refers to it")
  func releasedActor() async throws {
    let backend = try MemoryBackend()
    let container = try container(backend)
    var screen: Screen? = try Screen(container)
    await screen?.begin()
    try await container.write { $0.insert(Song("a", 1)) }
    await screen?.wait { $0.titles == ["a"] }
    weak let released = screen
    screen = nil
    while released != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(backend.coordinator.listenerCount == 0)
  }

  @Test("An actor that merges automatically sees the last commit in each call")
  func actors() async throws {
    let container = try container(MemoryBackend())
    let row = try await container.write { store in
      let song = Song("a", 1)
      store.insert(song)
      return song.rowID
    }
    let merging = container.makeActor(mergesAutomatically: true)
    let keeping = container.makeActor()
    let kept = Kept()
    for actor in [merging, keeping] {
      try await actor.perform { store in
        let song = try store.object(Song.self, rowID: row)
        #expect(song?.title == "a")
        kept.songs.append(song)
      }
    }
    try await container.write { try $0.object(Song.self, rowID: row)?.title = "b" }
    let title = { @Sendable (store: Store) in try store.object(Song.self, rowID: row)?.title }
    #expect(try await merging.perform(title) == "b")
    #expect(try await keeping.perform(title) == "a")
    // Unsaved changes stay.
    try await merging.perform { try $0.object(Song.self, rowID: row)?.title = "mine" }
    try await container.write { try $0.object(Song.self, rowID: row)?.title = "c" }
    #expect(try await merging.perform(title) == "mine")
  }
}
