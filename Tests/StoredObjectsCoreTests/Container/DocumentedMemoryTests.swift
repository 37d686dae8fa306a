import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

// The code of TestingWithStoresInMemory.md, as it is there: a test compares.

private struct SongExists: Error {
  let title: String
}

struct MusicLibrary: Sendable {
  let container: StoreContainer

  func add(_ title: String, seconds: UInt32) async throws {
    try await container.write { store in
      guard try store.fetch(Song.self, where: #Predicate { $0.title == title }).isEmpty else {
        throw SongExists(title: title)
      }
      store.insert(Song(title, seconds))
    }
  }
}

@Suite("The examples of testing in memory")
struct DocumentedMemoryTests {
  @Test("A title is added once")
  func duplicate() async throws {
    let library = MusicLibrary(
      container: try StoreContainer(backend: MemoryBackend(), classes: [Song.self]))
    try await library.add("Feeling Good", seconds: 174)
    await #expect(throws: SongExists.self) {
      try await library.add("Feeling Good", seconds: 175)
    }
    let lengths = try await library.container.read { store in
      try store.allObjects(of: Song.self).map(\.seconds)
    }
    #expect(lengths == [174])
  }

  @Test("A playlist keeps its order and its repeats")
  func order() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self, Playlist.self)
    let (first, second) = (Song("a", 1), Song("b", 2))
    let playlist = Playlist()
    playlist.songs = [second, first, second]
    for object in [first, second, playlist] { store.insert(object) }
    try store.saveChanges()
    #expect(playlist.songs.map(\.title) == ["b", "a", "b"])
  }

  @Test("Songs are there when the program starts again")
  func restart() throws {
    let disk = MemoryDisk()
    let backend = try MemoryBackend(disk: disk)
    let store = Store(backend: backend)
    try store.register(Song.self)
    store.insert(Song("Feeling Good", 174))
    try store.saveChanges()
    backend.close()

    let next = Store(backend: try MemoryBackend(disk: disk))
    try next.register(Song.self)
    #expect(try next.allObjects(of: Song.self).map(\.title) == ["Feeling Good"])
  }

  @Test("The second of two edits is refused")
  func conflict() throws {
    let backend = try MemoryBackend()
    let (mine, theirs) = (Store(backend: backend), Store(backend: backend))
    for store in [mine, theirs] { try store.register(Song.self) }
    let song = Song("Feeling Good", 174)
    mine.insert(song)
    try mine.saveChanges()

    song.seconds = 175
    try #require(try theirs.object(Song.self, rowID: song.rowID)).seconds = 176
    try theirs.saveChanges()
    let error = #expect(throws: StoreError.self) { try mine.saveChanges() }
    #expect(error?.code == .conflict)
  }

  @Test("A song that can't be saved is not there")
  func fullDisk() async throws {
    let backend = FailingBackend(try MemoryBackend())
    let library = MusicLibrary(
      container: try StoreContainer(backend: backend, classes: [Song.self]))
    backend.failCommits(with: StoreError(.ioError, "The disk is full."))
    await #expect(throws: StoreError.self) { try await library.add("a", seconds: 1) }
    let count = try await library.container.read { try $0.count(of: Song.self) }
    #expect(count == 0)
  }

  @Test("Songs are counted on every backend", arguments: [true, false])
  func counted(inMemory: Bool) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let backend: any StoreBackend =
      inMemory ? try MemoryBackend() : try CDBBackend(directory: directory.path)
    let store = Store(backend: backend)
    try store.register(Song.self)
    store.insert(Song("a", 1))
    try store.saveChanges()
    #expect(try store.count(of: Song.self) == 1)
  }
}
