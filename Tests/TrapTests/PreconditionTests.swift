import StoredObjectsCore
import Testing

/// A class that nothing is special about.
private final class Song: StoredObject {}

/// A class whose objects look themselves up when they are no longer there.
private final class Lingering: StoredObject {
  var keep: (Lingering?) -> Void = { _ in }

  deinit { keep(try? store?.object(Lingering.self, rowID: rowID)) }
}

/// A store that knows all classes above.
private func makeStore() throws -> Store {
  let store = Store(backend: try MemoryBackend())
  try store.register(Song.self, Lingering.self)
  return store
}

@Suite("Errors of the caller that end the program, as documented")
struct PreconditionTests {
  /// Expects that a program ended with this message, where messages are compiled in.
  private func expect(
    _ message: String, in result: ExitTest.Result?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let result = try #require(result, sourceLocation: sourceLocation)
    #if DEBUG
      let text = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(text.contains(message), sourceLocation: sourceLocation)
    #endif
  }

  @Test("Inserting an object of a class that is not registered")
  func insertUnregistered() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Store(backend: try MemoryBackend()).insert(Song())
    }
    try expect("Register Song with the store before inserting.", in: result)
  }

  @Test("Inserting an object that is in another store")
  func insertForeign() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (store, other, song) = (try makeStore(), try makeStore(), Song())
      other.insert(song)
      store.insert(song)
    }
    try expect("The object is in another store: delete it there first.", in: result)
  }

  @Test("Undoing a commit inside of a transaction, or of a group of changes")
  func undoCommit() async throws {
    var result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try makeStore()
      try store.transaction { try store.undo(commit: 1) }
    }
    try expect("undo(commit:) inside of a transaction", in: result)
    result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try makeStore()
      store.undoManager = StoreUndoManager()
      try store.undoManager?.group { try store.undo(commit: 1) }
    }
    try expect("undo(commit:) inside of a group", in: result)
  }

  @Test("Deleting an object that is in another store")
  func deleteForeign() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (store, other, song) = (try makeStore(), try makeStore(), Song())
      other.insert(song)
      store.delete(song)
    }
    try expect("The object is in another store.", in: result)
  }

  @Test("Upgrading in batches of zero objects")
  func emptyBatches() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try makeStore().upgradeObjects(of: Song.self, batchSize: 0)
    }
    try expect("A batch has at least one object.", in: result)
  }

  @Test("Keeping an object that was fetched in its own deinit")
  func resurrection() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try makeStore()
      var kept: [Lingering?] = []
      let object = Lingering()
      object.keep = { kept.append($0) }
      store.insert(object)
      _ = consume object
      // The store releases the object, and nothing else refers to it.
      try store.saveChanges()
      _ = kept
    }
    try expect("deallocated with non-zero retain count", in: result)
  }
}

@Suite("Calls that look like errors of the caller and are allowed")
struct HarmlessTests {
  @Test("Inserting twice, deleting twice, and deleting an object in no store do nothing")
  func repetition() throws {
    let (store, song) = (try makeStore(), Song())
    store.delete(song)
    store.insert(song)
    store.insert(song)
    store.delete(song)
    store.delete(song)
    #expect(!store.hasUnsavedChanges)
  }
}
