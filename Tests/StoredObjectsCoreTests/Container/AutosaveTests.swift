import StoredObjectsTestSupport
import Synchronization
import TestFiles
import Testing

@testable import StoredObjectsCore

private func container(_ backend: any StoreBackend) throws -> StoreContainer {
  try StoreContainer(backend: backend, classes: [Song.self])
}

/// The errors that handlers get.
private final class Failures: Sendable {
  private let errors = Mutex<[StoreError.Code]>([])
  var codes: [StoreError.Code] { errors.withLock { $0 } }
  func append(_ error: StoreError) { errors.withLock { $0.append(error.code) } }
}

private func titles(_ container: StoreContainer) async throws -> [String] {
  try await container.read { try $0.allObjects(of: Song.self).map(\.title) }
}

/// Waits until something is so, at most ten seconds.
private func wait(until isSo: () async throws -> Bool) async throws {
  for _ in 0..<2000 {
    if try await isSo() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("It did not happen in time.")
}

@Suite("Actors with autosave", .hangLimit)
struct AutosaveTests {
  @Test("Changes are saved when the call that makes them returns")
  func eachCall() async throws {
    let container = try container(MemoryBackend())
    let failures = Failures()
    let actor = container.makeActor(autosave: .afterEachCall { failures.append($1) })
    try await actor.perform { $0.insert(Song("a", 1)) }
    #expect(try await titles(container) == ["a"])
    try await actor.perform { try $0.allObjects(of: Song.self)[0].title = "b" }
    #expect(try await titles(container) == ["b"])
    #expect(failures.codes.isEmpty)
  }

  @Test("A call that changes nothing saves nothing")
  func nothing() async throws {
    let backend = FailingBackend(try MemoryBackend())
    let container = try container(backend)
    let actor = container.makeActor(autosave: .afterEachCall { _, _ in })
    let count = backend.commitCount
    _ = try await actor.perform { try $0.count(of: Song.self) }
    #expect(backend.commitCount == count)
  }

  @Test("Changes of many calls are saved together, after a delay")
  func later() async throws {
    let backend = FailingBackend(try MemoryBackend())
    let container = try container(backend)
    let delay = Duration.milliseconds(300)
    let actor = container.makeActor(autosave: .after(delay) { _, _ in })
    let count = backend.commitCount
    let start = ContinuousClock.now
    for number in 0..<100 { try await actor.perform { $0.insert(Song("\(number)", 1)) } }
    try await wait { try await titles(container).count == 100 }
    // On a busy machine the calls take longer than the delay.
    let delays = Int((ContinuousClock.now - start) / delay)
    #expect((1...max(1, delays)).contains(backend.commitCount - count))
    try await actor.perform { $0.insert(Song("last", 1)) }
    try await wait { try await titles(container).count == 101 }
  }

  @Test("Changes of a released actor are saved")
  func released() async throws {
    let container = try container(MemoryBackend())
    var actor: StoreActor? = container.makeActor(autosave: .after(.milliseconds(50)) { _, _ in })
    try await actor?.perform { $0.insert(Song("a", 1)) }
    actor = nil
    try await wait { try await titles(container) == ["a"] }
  }

  @Test("Closing the container saves pending changes")
  func closed() async throws {
    let disk = MemoryDisk()
    let first = try container(MemoryBackend(disk: disk))
    let failures = Failures()
    let actor = first.makeActor(autosave: .after(.seconds(600)) { failures.append($1) })
    try await actor.perform { $0.insert(Song("a", 1)) }
    try await first.close()
    #expect(failures.codes.isEmpty)
    #expect(try await titles(container(MemoryBackend(disk: disk))) == ["a"])
  }

  @Test("The handler gets the error, and changes that it keeps are saved after the next call")
  func failure() async throws {
    let backend = FailingBackend(try MemoryBackend())
    let container = try container(backend)
    let failures = Failures()
    let actor = container.makeActor(autosave: .after(.milliseconds(20)) { failures.append($1) })
    backend.failCommits()
    try await actor.perform { $0.insert(Song("a", 1)) }
    try await wait { failures.codes == [.ioError] }
    #expect(try await titles(container) == [])
    try await actor.perform { _ in }
    try await wait { try await titles(container) == ["a"] }
  }

  @Test("The handler can discard changes that conflict with another store's")
  func conflict() async throws {
    let container = try container(MemoryBackend())
    let row = try await container.write { store in
      let song = Song("a", 1)
      store.insert(song)
      return song.rowID
    }
    let actor = container.makeActor(
      autosave: .after(.milliseconds(200)) { store, error in
        if error.code == .conflict { store.discardChanges() }
      })
    try await actor.perform { try $0.object(Song.self, rowID: row)?.title = "mine" }
    try await container.write { try $0.object(Song.self, rowID: row)?.title = "theirs" }
    try await wait { try await actor.perform { !$0.hasUnsavedChanges } }
    #expect(try await titles(container) == ["theirs"])
  }
}
