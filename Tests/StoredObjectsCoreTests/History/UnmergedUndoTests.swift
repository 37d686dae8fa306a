import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Undo of changes that other stores have changed, without merging")
struct UnmergedUndoTests {
  let disk = MemoryDisk()
  let store: Store
  let other: Store
  let history = StoreUndoManager()

  init() throws {
    store = try historyStore(disk)
    other = Store(backend: store.backend)
    try other.register(Track.self, Mix.self)
    store.undoManager = history
  }

  private func title(_ row: UInt32 = 2) throws -> String? {
    let third = Store(backend: store.backend)
    try third.register(Track.self, Mix.self)
    return try third.object(Track.self, rowID: row)?.title
  }

  private func rename(to title: String, _ row: UInt32 = 2) throws {
    try #require(try other.object(Track.self, rowID: row)).title = title
    try other.saveChanges()
  }

  @Test(
    "Undoing a saved change does not overwrite that of another store, in memory or not",
    arguments: [false, true])
  func undoOfChange(isHeld: Bool) throws {
    var track: Track? = Track("a")
    if let track {
      store.insert(track)
      try store.saveChanges()
      history.group { track.title = "b" }
      try store.saveChanges()
    }
    if !isHeld { track = nil }
    try rename(to: "theirs")
    expectStoreError(.conflict) { try history.undo() }
    #expect(history.canUndo && !store.hasUnsavedChanges)
    #expect(track.map { $0.title == "b" } ?? true)
    try store.saveChanges()
    #expect(try title() == "theirs")
  }

  @Test("Redo does not either", arguments: [false, true])
  func redoOfChange(isHeld: Bool) throws {
    var track: Track? = Track("a")
    if let track {
      store.insert(track)
      try store.saveChanges()
      history.group { track.title = "b" }
      try store.saveChanges()
      try history.undo()
      try store.saveChanges()
    }
    if !isHeld { track = nil }
    try rename(to: "theirs")
    try history.redo()
    #expect(!history.canRedo && !store.hasUnsavedChanges)
    #expect(track.map { $0.title == "a" } ?? true)
    #expect(try title() == "theirs")
  }

  @Test("Undoing an insertion does not delete what another store has changed")
  func undoOfInsertion() throws {
    let track = Track("a")
    history.group { store.insert(track) }
    try store.saveChanges()
    try rename(to: "theirs")
    expectStoreError(.conflict) { try history.undo() }
    try store.saveChanges()
    #expect(try title() == "theirs")
  }

  @Test(
    "Undoing an insertion removes the object from lists of another store",
    arguments: [false, true])
  func undoOfInsertionReferredTo(isNewReferrer: Bool) throws {
    let first = try linkedStore(MemoryDisk())
    first.undoManager = history
    first.insert(Disc())
    try first.saveChanges()
    let tune = Tune("a")
    history.group { first.insert(tune) }
    try first.saveChanges()

    let second = Store(backend: first.backend)
    try second.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    if isNewReferrer { second.insert(Disc()) }
    let theirs = try #require(try second.allObjects(of: Disc.self).last)
    theirs.favourites = try second.allObjects(of: Tune.self)
    try second.saveChanges()

    first.mergeChanges()
    try history.undo()
    let disc = try #require(try first.allObjects(of: Disc.self).last)
    #expect(disc.favourites == [] && tune.isDeleted)
    try history.redo()
    #expect(disc.favourites == [tune] && !tune.isDeleted)
    try history.undo()
    try first.saveChanges()
    #expect(try first.check().findings == [])
  }

  @Test("A save of another store between undo and its save is a conflict, written or not")
  func savedBetween() throws {
    let (track, mix) = (Track("a"), Mix("m"))
    store.insert(track)
    store.insert(mix)
    try store.saveChanges()
    // The step takes nothing back of the track, which is what it was before.
    history.group {
      track.title = "b"
      track.title = "a"
      mix.name = "o"
    }
    try store.saveChanges()
    try history.undo()
    try rename(to: "theirs")
    expectStoreError(.conflict) { try store.saveChanges() }
    store.discardChanges()
    #expect(track.title == "theirs" && mix.name == "o")
  }

  @Test("A saved history does not delete an object that was changed without the history")
  func savedInsertion() throws {
    store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
    store.undoManager?.group { store.insert(Track("a")) }
    store.undoManager?.group { store.insert(Mix("m")) }
    try store.saveChanges()
    try store.backend.close()

    let between = try historyStore(disk)
    try #require(try between.object(Track.self, rowID: 2)).title = "theirs"
    try between.saveChanges()
    try between.backend.close()

    let last = try historyStore(disk)
    last.undoManager = try StoreUndoManager(savedIn: last, as: "Undo")
    try last.undoManager?.undo()
    #expect(try last.count(of: Mix.self) == 0)
    let error = expectStoreError(.conflict) { try last.undoManager?.undo() }
    #expect(error?.location.rowID == 2)
    #expect(try last.object(Track.self, rowID: 2)?.title == "theirs")
    try last.undoManager?.redo()
    #expect(try last.count(of: Mix.self) == 1)
  }

  @Test("It does not delete again or overwrite a buffer that was changed without it, either")
  func savedDeletionAndBuffer() throws {
    let saved = try StoreUndoManager(savedIn: store, as: "Undo")
    store.undoManager = saved
    let track = Track("a")
    store.insert(track)
    try store.saveChanges()
    try saved.group { try store.setBuffer(named: "n") { $0.write("1") } }
    saved.group { store.delete(track) }
    try saved.undo()
    try store.saveChanges()
    try store.backend.close()

    let between = try historyStore(disk)
    try #require(try between.object(Track.self, rowID: 2)).title = "theirs"
    try between.setBuffer(named: "n") { $0.write("theirs") }
    try between.saveChanges()
    try between.backend.close()

    let last = try historyStore(disk)
    let history = try StoreUndoManager(savedIn: last, as: "Undo")
    last.undoManager = history
    expectStoreError(.conflict) { try history.redo() }
    let error = expectStoreError(.conflict) { try history.undo() }
    #expect(error?.message.contains("\"n\"") == true)
    #expect(try last.object(Track.self, rowID: 2)?.title == "theirs")
    var buffer = try #require(try last.buffer(named: "n"))
    #expect(try buffer.readString() == "theirs")
  }
}
