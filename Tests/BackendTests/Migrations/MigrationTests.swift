import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Migrations")
struct MigrationTests {
  /// Songs 2 to count + 1 by three artists, with one of two genres or none, and two playlists.
  static func makeOld(_ backend: any StoreBackend, count: Int = 10) throws {
    let store = Store(backend: backend)
    try store.register(Before.classes)
    let genres = ["folk", "jazz"].map { name in
      let genre = Before.Genre()
      (genre.name, genre.rank, genre.note) = (name, UInt16(name.utf8.count), "n")
      store.insert(genre)
      return genre
    }
    genres[1].note = nil
    let songs = (0..<count).map { number in
      let song = Before.Song()
      (song.title, song.artistName) = ("song \(number)", "artist \(number % 3)")
      song.genre = number % 3 == 2 ? nil : genres[number % 3]
      song.anything = number % 2 == 0 ? genres[0] : nil
      store.insert(song)
      return song
    }
    for list in [songs, [songs[0], songs[0]]] {
      let playlist = Before.Playlist()
      playlist.songs = list
      store.insert(playlist)
    }
    try store.saveChanges()
    // So that no reference leads to a genre, which will be retired.
    for song in songs { song.anything = song.anything == nil ? nil : songs[0] }
    try store.saveChanges()
    // Makes indexes.
    _ = try store.first(Before.Song.self, where: #Predicate { $0.title == "song 1" })
    _ = try store.first(Before.Genre.self, where: #Predicate { $0.name == "folk" })
  }

  static func expectNew(_ store: Store, count: Int = 10) throws {
    let tracks = try store.allObjects(of: After.Track.self)
    #expect(tracks.map(\.rowID) == (0..<count).map { UInt32($0) + 2 })
    #expect(tracks.map(\.title) == (0..<count).map { "song \($0)" })
    #expect(tracks.map { $0.artist?.name } == (0..<count).map { "artist \($0 % 3)" })
    #expect(tracks.map(\.genreName) == (0..<count).map { ["folk", "jazz", nil][$0 % 3] })
    // Each was visited once by each of two steps.
    #expect(tracks.allSatisfy { $0.visits == 2 })
    let artists = try store.allObjects(of: After.Artist.self)
    #expect(artists.map(\.name).sorted() == ["artist 0", "artist 1", "artist 2"])
    #expect(artists.map { Int($0.visits) }.reduce(0, +) == count)
    #expect(tracks.allSatisfy { $0.anything === ($0.rowID % 2 == 0 ? tracks[0] : nil) })
    let lists = try store.allObjects(of: After.Playlist.self)
    #expect(lists.map(\.songs) == [tracks, [tracks[0], tracks[0]]])
    let found = try store.fetch(After.Track.self, where: #Predicate { $0.title == "song 1" })
    #expect(found.map(\.rowID) == [3])
    let names = try store.backend.tableNames().sorted()
    #expect(names == ["Artist", "Playlist", "Track"])
    #expect(try store.backend.orderedTableNames().allSatisfy { !$0.name.hasPrefix("Genre") })
    #expect(try store.backend.orderedTableNames().allSatisfy { $0.kind == .index })
    #expect(try store.bufferNames().isEmpty)
    #expect(try store.check().findings == [])
  }

  @Test(
    "Steps run once, in order, over classes that are renamed, split and retired",
    arguments: TestedBackend.allCases)
  func whole(backend kind: TestedBackend) throws {
    try kind.withLocation { location in
      var backend = try location.open(readOnly: false)
      try Self.makeOld(backend)
      try backend.close()
      backend = try location.open(readOnly: false)
      let store = Store(backend: backend)
      let heard = SharedLock<[MigrationProgress]>([])
      let steps = After.migrations()
      let taken = try store.migrate(steps, registering: After.classes) { progress in
        heard.withLock { $0.append(progress) }
      }
      #expect(taken == steps.map(\.name))
      try Self.expectNew(store)
      let progress = heard.withLock { $0 }
      #expect(progress.filter { $0.step == steps[1].name }.map(\.done) == [3, 6, 9, 10])
      #expect(progress.allSatisfy { $0.total == 10 && $0.className != "" })
      try backend.close()
      backend = try location.open(readOnly: false)
      let again = Store(backend: backend)
      let number = backend.lastCommitNumber
      #expect(try again.migrate(steps, registering: After.classes) == [])
      #expect(backend.lastCommitNumber == number)
      try Self.expectNew(again)
      let track = After.Track()
      again.insert(track)
      #expect(track.rowID == 12)
      try again.saveChanges()
      try backend.close()
      // The files of the old names are gone; encrypted ones have other names.
      if let directory = (location as? DirectoryLocation)?.directory {
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!files.contains { $0.hasPrefix("Song") || $0.hasPrefix("Genre") }, "\(files)")
        #expect(kind.isEncrypted || files.contains { $0.hasPrefix("Track") })
      }
    }
  }

  @Test(
    "A migration that fails at any commit is resumed, and visits each object once",
    arguments: TestedBackend.usual)
  func resumed(backend kind: TestedBackend) throws {
    try kind.withLocation { location in
      var backend = FailingBackend(try location.open(readOnly: false))
      try Self.makeOld(backend)
      var failures = 0
      while true {
        try backend.close()
        backend = FailingBackend(try location.open(readOnly: false))
        let store = Store(backend: backend)
        // One commit goes through each time.
        backend.failCommits(after: 1, times: .max)
        do {
          try store.migrate(After.migrations(), registering: After.classes)
          break
        } catch let error as StoreError where error.code == .ioError {
          failures += 1
          try #require(failures < 100)
          backend.stopFailing()
          try expectRefused(backend, store)
        }
      }
      #expect(failures > 8)
      backend.stopFailing()
      let store = Store(backend: backend)
      try store.migrate(After.migrations(), registering: After.classes)
      try Self.expectNew(store)
      try backend.close()
    }
  }

  /// Nobody works on a store with a step that is not finished, nor saves to one between two steps.
  private func expectRefused(_ backend: FailingBackend, _ failed: Store) throws {
    try failed.setBuffer(named: "x") { $0.write("y") }
    #expect(throws: StoreError.self) { try failed.saveChanges() }
    let other = Store(backend: backend)
    do {
      try other.register(After.Playlist.self)
    } catch {
      #expect(error.code == .unfinishedMigration)
      return
    }
    other.insert(After.Playlist())
    #expect(throws: StoreError.self) { try other.saveChanges() }
  }

  @Test("An error in a step keeps the finished batches, and the next call does the rest")
  func thrown() throws {
    struct Stop: Error {}
    let disk = MemoryDisk()
    let backend = try MemoryBackend(disk: disk)
    try Self.makeOld(backend)
    let visited = SharedLock<[UInt32]>([])
    func steps(failingAt row: UInt32?) -> [Migration] {
      [
        .rename("Song", to: "Track"),
        Migration("visit") { migration in
          try migration.forEach(After.Track.self, batchSize: 4) { track, _ in
            if track.rowID == row { throw Stop() }
            visited.withLock { $0.append(track.rowID) }
            track.visits += 1
          }
        },
      ]
    }
    let store = Store(backend: backend)
    #expect(throws: Stop.self) {
      try store.migrate(steps(failingAt: 8), registering: After.classes)
    }
    #expect(!store.hasUnsavedChanges)
    // The same store goes on.
    try store.migrate(steps(failingAt: nil), registering: After.classes)
    #expect(visited.withLock { $0 } == [2, 3, 4, 5, 6, 7, 6, 7, 8, 9, 10, 11])
    #expect(try store.allObjects(of: After.Track.self).allSatisfy { $0.visits == 1 })
  }

  @Test("A program without the last step can read the store and not write it")
  func olderProgram() throws {
    let disk = MemoryDisk()
    let backend = try MemoryBackend(disk: disk)
    try Self.makeOld(backend)
    let steps = After.migrations()
    try Store(backend: backend).migrate(steps, registering: After.classes)
    backend.close()
    let reopened = try MemoryBackend(disk: disk)
    let older = Store(backend: reopened)
    try older.register(After.Playlist.self)
    #expect(try older.count(of: After.Playlist.self) == 2)
    older.insert(After.Playlist())
    #expect(throws: StoreError.self) { try older.saveChanges() }
    #expect(older.hasUnsavedChanges)
    let error = #expect(throws: StoreError.self) {
      try Store(backend: reopened).migrate(Array(steps.dropLast()), registering: [])
    }
    #expect(error?.code == .newerVersion && error?.message.contains("retire Genre") == true)
    #expect(try reopened.tableNames().count == 3)
  }

  @Test("Steps in a different order are refused, and new steps at the end are not")
  func order() throws {
    let backend = try MemoryBackend()
    func migrate(_ names: String...) throws -> [String] {
      try Store(backend: backend).migrate(
        names.map { Migration($0) { _ in } }, registering: [])
    }
    #expect(try migrate("a", "b") == ["a", "b"])
    #expect(try migrate("a", "b", "c") == ["c"])
    for names in [["b", "a", "c"], ["a", "x", "b", "c"]] {
      let error = #expect(throws: StoreError.self) {
        try Store(backend: backend).migrate(
          names.map { Migration($0) { _ in } }, registering: [])
      }
      #expect(error?.code == .migrationOrder)
    }
    let error = #expect(throws: StoreError.self) { try migrate("a", "b", "c", "c") }
    #expect(error?.code == .invalidArgument)
    // Others on the same backend know the steps, too.
    let store = Store(backend: backend)
    try store.register(After.Artist.self)
    store.insert(After.Artist())
    try store.saveChanges()
  }

  @Test("A migration needs exclusive access, and no unsaved changes before a pass")
  func alone() throws {
    let backend = try MemoryBackend()
    try Self.makeOld(backend)
    let other = Store(backend: backend)
    let store = Store(backend: backend)
    let error = #expect(throws: StoreError.self) {
      try store.migrate(After.migrations(), registering: After.classes)
    }
    #expect(error?.code == .inUse)
    withExtendedLifetime(other) {}
  }

  @Test("Changes before a pass are refused, and those after the last one are saved with the step")
  func betweenPasses() throws {
    let backend = try MemoryBackend()
    let store = Store(backend: backend)
    func step(_ body: @escaping @Sendable (MigrationContext) throws -> Void) -> [Migration] {
      [Migration("step", body)]
    }
    let error = #expect(throws: StoreError.self) {
      try store.migrate(
        step { migration in
          migration.store.insert(After.Artist())
          try migration.forEach(After.Artist.self) { _, _ in }
        }, registering: After.classes)
    }
    #expect(error?.code == .unsavedChanges)
    try store.migrate(
      step { migration in
        try migration.forEach(After.Artist.self) { _, _ in }
        migration.store.insert(After.Artist())
      }, registering: After.classes)
    #expect(try store.count(of: After.Artist.self) == 1)
  }

  @Test("A step that saves is refused, and so is a delegate that does")
  func savingInStep() throws {
    final class Saver: StoreDelegate {
      var codes: [StoreError.Code] = []
      func storeDidChange(_ store: Store) {
        do throws(StoreError) { try store.saveChanges() } catch { codes.append(error.code) }
      }
    }
    let backend = try MemoryBackend()
    try Self.makeOld(backend)
    let store = Store(backend: backend)
    let saver = Saver()
    store.delegate = saver
    try store.migrate(After.migrations(), registering: After.classes)
    #expect(!saver.codes.isEmpty && saver.codes.allSatisfy { $0 == .unfinishedMigration })
    try Self.expectNew(store)
    store.delegate = nil
    let error = #expect(throws: StoreError.self) {
      let step = Migration("save") { migration in
        migration.store.insert(After.Artist())
        try migration.store.saveChanges()
      }
      try store.migrate(After.migrations() + [step], registering: After.classes)
    }
    #expect(error?.code == .unfinishedMigration)
  }

  @Test("A read-only store is not migrated, and can be used if no step is due")
  func readOnly() throws {
    let disk = MemoryDisk()
    let backend = try MemoryBackend(disk: disk)
    try Self.makeOld(backend)
    backend.close()
    func migrate(readOnly: Bool) throws {
      let backend = try MemoryBackend(disk: disk, isReadOnly: readOnly)
      defer { backend.close() }
      let store = Store(backend: backend)
      try store.migrate(After.migrations(), registering: After.classes)
      #expect(try store.count(of: After.Track.self) == 10)
    }
    let error = #expect(throws: StoreError.self) { try migrate(readOnly: true) }
    #expect(error?.code == .readOnly)
    try migrate(readOnly: false)
    try migrate(readOnly: true)
  }

  @Test(
    "A half-migrated directory can be moved, and its migration continues",
    arguments: TestedBackend.onDisk)
  func moved(backend kind: TestedBackend) throws {
    try withTemporaryDirectory { root in
      let (old, new) = (root + "/old", root + "/new")
      var backend = FailingBackend(try kind.open(old))
      try Self.makeOld(backend)
      backend.failCommits(after: 4, times: .max)
      #expect(throws: StoreError.self) {
        try Store(backend: backend).migrate(After.migrations(), registering: After.classes)
      }
      try backend.close()
      try FileManager.default.moveItem(atPath: old, toPath: new)
      backend = FailingBackend(try kind.open(new))
      let store = Store(backend: backend)
      try store.migrate(After.migrations(), registering: After.classes)
      try Self.expectNew(store)
      try backend.close()
    }
  }

  @Test("A damaged list of migrations is an error, not an empty list")
  func damaged() throws {
    let disk = MemoryDisk()
    let backend = try MemoryBackend(disk: disk)
    try Store(backend: backend).migrate([Migration("a") { _ in }], registering: [])
    try backend.commit { $0.set("..migrations", [1, 2, 3, 4, 5, 6, 7, 8, 9]) }
    let store = Store(backend: backend)
    let error = #expect(throws: StoreError.self) { try store.register(After.Artist.self) }
    #expect(error?.code == .damaged)
    #expect(throws: StoreError.self) { try store.migrate([], registering: []) }
  }
}
