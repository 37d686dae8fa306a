import Locks
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoredObjectsCore

private struct Refusal: Error {}

/// Two objects that hold each other.
private final class Knot: StoredObject {
  @Content var other: Knot?
  override func readContent(from buffer: inout DataBuffer) throws {
    other = try buffer.readObject(of: Knot.self)
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(other) }
}

private func container(_ backend: any StoreBackend) throws -> StoreContainer {
  try StoreContainer(backend: backend, classes: [Song.self, Playlist.self, Knot.self])
}

private func titles(_ container: StoreContainer) async throws -> [String] {
  try await container.read { try $0.allObjects(of: Song.self).map(\.title) }
}

@Suite("A container", .hangLimit)
struct ContainerTests {
  @Test("Changes of a write are saved when it returns, and the next read sees them")
  func writesAndReads() async throws {
    let container = try container(MemoryBackend())
    let row = try await container.write { store in
      let song = Song("a", 1)
      store.insert(song)
      return song.rowID
    }
    let title = try await container.read { try $0.object(Song.self, rowID: row)?.title }
    #expect(title == "a")
    #expect(try container.makeStore().allObjects(of: Song.self).map(\.title) == ["a"])
  }

  @Test("A write that throws changes nothing, and those that wait with it are saved")
  func failingWrite() async throws {
    let container = try container(MemoryBackend())
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          do {
            try await container.write { store in
              store.insert(Song("\(number)", 1))
              if number % 3 == 0 { throw Refusal() }
            }
            return true
          } catch {
            return false
          }
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(outcomes == 133)
    let numbers = try await titles(container).compactMap { Int($0) }
    #expect(numbers.sorted() == (0..<200).filter { $0 % 3 != 0 })
  }

  @Test("Writes that wait together share a commit, and see the ones before")
  func sharesCommits() async throws {
    let backend = FailingBackend(try MemoryBackend())
    let container = try container(backend)
    let row = try await container.write { store in
      let song = Song("counter", 0)
      store.insert(song)
      return song.rowID
    }
    let before = backend.commitCount
    // The first one holds up the others until all of them wait.
    let gate = SharedLock(0)
    await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await container.write { store in
            gate.change { $0 += 1 }
            if gate.withLock({ $0 }) == 1 { gate.change(once: { $0 >= 100 }) { _ in } }
            try store.object(Song.self, rowID: row)?.seconds += 1
          }
        }
      }
      // All tasks have come to their write by then, but for those that the pool has no thread for.
      group.addTask {
        while container.writes.waitingCount < 99 { await Task.yield() }
        gate.change { $0 += 100 }
      }
    }
    let count = try await container.read { try $0.object(Song.self, rowID: row)?.seconds }
    #expect(count == 100)
    #expect(1...2 ~= backend.commitCount - before)
  }

  @Test("If a commit of several writes fails, each is tried alone")
  func failingCommit() async throws {
    let backend = FailingBackend(try MemoryBackend())
    let container = try container(backend)
    try await container.write { $0.insert(Song("first", 1)) }
    let gate = SharedLock(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await container.write { _ in gate.change(once: { $0 }) { _ in } }
      }
      for number in 0..<10 {
        group.addTask { try await container.write { $0.insert(Song("\(number)", 1)) } }
      }
      group.addTask {
        while container.writes.waitingCount < 10 { await Task.yield() }
        backend.failCommits()
        gate.change { $0 = true }
      }
      try await group.waitForAll()
    }
    #expect(try await titles(container).count == 11)
    #expect(try await Set(titles(container)).count == 11)
  }

  @Test("A write runs again if another store has saved data that it has read")
  func conflicts() async throws {
    let container = try container(MemoryBackend())
    let row = try await container.write { store in
      let song = Song("counter", 0)
      store.insert(song)
      return song.rowID
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          let actor = container.makeActor()
          for _ in 0..<50 {
            try await actor.perform { store in
              try store.transaction(attempts: 1000) {
                try store.object(Song.self, rowID: row)?.seconds += 1
              }
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<50 {
          try await container.write { try $0.object(Song.self, rowID: row)?.seconds += 1 }
        }
      }
      try await group.waitForAll()
    }
    let count = try await container.read { try $0.object(Song.self, rowID: row)?.seconds }
    #expect(count == 150)
  }

  @Test("A read that changes an object is an error, and the change is discarded")
  func changesInRead() async throws {
    let container = try container(MemoryBackend())
    try await container.write { $0.insert(Song("a", 1)) }
    let error = await #expect(throws: StoreError.self) {
      try await container.read { try $0.allObjects(of: Song.self)[0].title = "changed" }
    }
    #expect(error?.code == .readOnly)
    #expect(try await titles(container) == ["a"])
  }

  @Test("A read of a damaged record throws, though the property returned a default")
  func unreadableRecord() async throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let list = Playlist()
    list.songs = songs
    store.insert(list)
    try store.saveChanges()
    try fixture.overwrite(Song.self, songs[0].rowID, [1])
    let container = try container(fixture.backend)
    let row = list.rowID
    let error = await #expect(throws: StoreError.self) {
      try await container.read { try $0.object(Playlist.self, rowID: row)?.songs.first?.title }
    }
    #expect(error?.code == .contentUnavailable)
    let name = try await container.read { try $0.object(Playlist.self, rowID: row)?.title }
    #expect(name == "")
  }

  @Test("Objects in cycles are released at the end of a read or a write")
  func releasesCycles() async throws {
    let container = try container(MemoryBackend())
    try await container.write { store in
      let knots = (Knot(), Knot())
      (knots.0.other, knots.1.other) = (knots.1, knots.0)
      store.insert(knots.0)
      store.insert(knots.1)
    }
    for _ in 0..<3 {
      let living = try await container.read { store in
        let before = store.classes.reduce(0) { $0 + $1.livingCount }
        for knot in try store.allObjects(of: Knot.self) { #expect(knot.other?.other === knot) }
        return before
      }
      #expect(living == 0)
      let inWriter = try await container.write { store in
        store.classes.reduce(0) { $0 + $1.livingCount }
      }
      #expect(inWriter == 0)
    }
  }

  @Test("A write or a read that is cancelled while it waits does not run")
  func cancellation() async throws {
    let container = try StoreContainer(
      backend: MemoryBackend(), classes: [Song.self], readerCount: 1)
    let gate = SharedLock(false)
    let blockers = [
      Task { try await container.write { _ in gate.change(once: { $0 }) { _ in } } },
      Task { try await container.read { _ in gate.change(once: { $0 }) { _ in } } },
    ]
    while container.writes.waitingCount > 0 || container.readers.idleCount > 0 {
      await Task.yield()
    }
    let write = Task { try await container.write { $0.insert(Song("a", 1)) } }
    let read = Task { try await container.read { _ in Issue.record("it has run") } }
    while container.writes.waitingCount == 0 || container.readers.waitingCount == 0 {
      await Task.yield()
    }
    write.cancel()
    read.cancel()
    await #expect(throws: CancellationError.self) { try await read.value }
    gate.change { $0 = true }
    await #expect(throws: CancellationError.self) { try await write.value }
    for blocker in blockers { try await blocker.value }
    #expect(try await titles(container).isEmpty)
  }

  @Test("A snapshot sees one commit, in all its stores, for as long as it is held")
  func snapshot() async throws {
    let container = try container(MemoryBackend())
    try await container.write { $0.insert(Song("a", 1)) }
    let snapshot = try container.snapshot()
    try await container.write { store in
      try store.allObjects(of: Song.self)[0].title = "b"
      store.insert(Song("c", 1))
    }
    #expect(snapshot.commitNumber == 1)
    for _ in 0..<2 {
      let store = try snapshot.makeStore()
      #expect(try store.allObjects(of: Song.self).map(\.title) == ["a"])
      store.insert(Song("d", 1))
      let error = #expect(throws: StoreError.self) { try store.saveChanges() }
      #expect(error?.code == .readOnly)
    }
    #expect(try await titles(container).sorted() == ["b", "c"])
  }

  @Test("Listeners get every save of every store, in order, until they stop")
  func changes() async throws {
    let container = try container(MemoryBackend())
    let changes = try container.committedChanges()
    let row = try await container.write { store in
      let song = Song("a", 1)
      store.insert(song)
      return song.rowID
    }
    try await container.makeActor().perform { store in
      try store.object(Song.self, rowID: row)?.title = "b"
      try store.saveChanges()
    }
    try await container.write { $0.delete(try #require(try $0.object(Song.self, rowID: row))) }
    var found: [StoreChanges.Rows] = []
    for await change in changes {
      found.append(change[Song.self])
      if found.count == 3 { break }
    }
    #expect(found.map(\.inserted) == [[row], [], []])
    #expect(found.map(\.updated) == [[], [row], []])
    #expect(found.map(\.deleted) == [[], [], [row]])
  }

  @Test("After the container is closed, reads and writes throw closed")
  func closes() async throws {
    let container = try container(MemoryBackend())
    try await container.write { $0.insert(Song("a", 1)) }
    #expect(try await titles(container) == ["a"])
    try await container.close()
    let reading = await #expect(throws: StoreError.self) { try await titles(container) }
    #expect(reading?.code == .closed)
    let writing = await #expect(throws: StoreError.self) {
      try await container.write { $0.insert(Song("b", 1)) }
    }
    #expect(writing?.code == .closed)
  }

  @Test("Classes that the backend can't hold are an error when it opens")
  func refusesClasses() throws {
    let error = #expect(throws: StoreError.self) {
      try StoreContainer(backend: MemoryBackend(), classes: [Song.self, Song.self])
    }
    #expect(error?.code == .registeredTwice)
  }
}
