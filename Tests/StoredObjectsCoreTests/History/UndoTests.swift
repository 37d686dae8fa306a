import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Undo and redo")
struct UndoTests {
  let disk = MemoryDisk()
  let store: Store
  let history = StoreUndoManager()

  init() throws {
    store = try historyStore(disk)
    store.undoManager = history
  }

  private func reopened() throws -> Store {
    try store.backend.close()
    return try historyStore(disk)
  }

  @Test("Named steps undo and redo an edited property")
  func property() throws {
    let track = Track("a")
    history.group("Add") { store.insert(track) }
    history.group("Rename") { track.title = "b" }
    #expect(history.undoActionNames == ["Rename", "Add"] && history.redoActionName == nil)
    try history.undo()
    #expect(track.title == "a" && history.undoActionName == "Add")
    #expect(history.redoActionName == "Rename")
    try history.redo()
    #expect(track.title == "b" && !history.canRedo)
  }

  @Test("A second step sees a change to an object that the first has changed")
  func secondStep() throws {
    let track = Track("a")
    store.insert(track)
    try store.saveChanges()
    for title in ["b", "c", "d"] { history.group { track.title = title } }
    for title in ["c", "b", "a"] {
      try history.undo()
      #expect(track.title == title)
    }
  }

  @Test("An insert is undone and redone, as the same object in the same row")
  func insert() throws {
    let track = Track("a")
    store.insert(track)
    let row = track.rowID
    try history.undo()
    #expect(try store.count(of: Track.self) == 0 && track.isDeleted && !store.hasUnsavedChanges)
    try history.redo()
    #expect(track.rowID == row && !track.isDeleted)
    #expect(try store.allObjects(of: Track.self) == [track])
    try store.saveChanges()
    #expect(try reopened().object(Track.self, rowID: row)?.title == "a")
  }

  @Test("A save is undone by the next save")
  func undoSave() throws {
    let (a, b) = (Track("a"), Track("b"))
    let mix = Mix("mix", [a, b, a])
    history.group("Fill") { for object in [a, b, mix] { store.insert(object) } }
    try store.saveChanges()
    history.group("Change") {
      mix.tracks = [b]
      store.delete(a)
    }
    try store.saveChanges()
    #expect(a.rowID == 0)
    try history.undo()
    #expect(a.rowID == 2 && mix.tracks == [a, b, a])
    try store.saveChanges()
    try history.undo()
    try store.saveChanges()
    #expect(try store.count(of: Mix.self) == 0 && store.count(of: Track.self) == 0)
    try history.redo()
    try store.saveChanges()
    let second = try reopened()
    let read = try #require(try second.object(Mix.self, rowID: 2))
    #expect(read.tracks.map(\.title) == ["a", "b", "a"])
  }

  @Test("Undoing a deletion restores its cascade and its positions in lists")
  func cascade() throws {
    let track = Track("a")
    let (outer, inner) = (Mix("outer", [track, track]), Mix("inner", [track]))
    outer.sublist = inner
    for object in [track, outer, inner] { store.insert(object) }
    try store.saveChanges()
    history.group { store.delete(outer) }
    #expect(inner.isDeleted && outer.tracks.isEmpty)
    try history.undo()
    #expect(!inner.isDeleted && outer.tracks == [track, track] && outer.sublist === inner)
    try history.redo()
    try store.saveChanges()
    try history.undo()
    #expect(outer.sublist === inner && outer.tracks == [track, track])
    try store.saveChanges()
    let second = try reopened()
    #expect(try second.object(Mix.self, rowID: 2)?.sublist?.tracks.count == 1)
  }

  @Test("An object that was freed is restored as another instance in the same row")
  func freed() throws {
    store.insert(Track("a"))
    store.insert(Mix("mix", [try #require(try store.object(Track.self, rowID: 2))]))
    try store.saveChanges()
    history.group {
      (try? store.object(Mix.self, rowID: 2))??.tracks = []
      if let track = try? store.object(Track.self, rowID: 2) { store.delete(track) }
    }
    try store.saveChanges()
    try history.undo()
    #expect(try store.object(Mix.self, rowID: 2)?.tracks.map(\.title) == ["a"])
  }

  @Test("A list can have an object that is inserted later")
  func stranger() throws {
    let mix = Mix("mix")
    store.insert(mix)
    try store.saveChanges()
    let (track, other) = (Track("late"), Mix("stranger"))
    history.group { (mix.tracks, mix.anything) = ([track], other) }
    history.group { mix.name = "renamed" }
    history.group { store.insert(track) }
    try history.undo()
    try history.undo()
    #expect(mix.tracks == [track] && mix.anything === other && mix.name == "mix")
    try history.undo()
    #expect(mix.tracks.isEmpty && mix.anything == nil)
    try history.redo()
    #expect(mix.tracks == [track] && mix.anything === other)
  }

  @Test("A new change removes the redo steps")
  func newChange() throws {
    let track = Track("a")
    store.insert(track)
    history.group { track.title = "b" }
    try history.undo()
    history.group { track.title = "c" }
    #expect(!history.canRedo)
    try history.redo()
    #expect(track.title == "c")
  }

  @Test("Nested groups are one step, and changes outside of groups end with the next one")
  func groups() throws {
    let track = Track("a")
    store.insert(track)
    history.group("outer") {
      history.group("inner") { track.title = "b" }
      track.title = "c"
    }
    #expect(history.undoActionNames == ["outer", ""])
    try history.undo()
    #expect(track.title == "a")
    try history.undo()
    #expect(!history.canUndo && track.isDeleted)
    try history.undo()
  }

  @Test("The number of kept steps is limited")
  func depth() throws {
    history.levelsOfUndo = 2
    let track = Track("0")
    store.insert(track)
    try store.saveChanges()
    for title in ["1", "2", "3"] { history.group { track.title = title } }
    while history.canUndo { try history.undo() }
    #expect(track.title == "1")
    while history.canRedo { try history.redo() }
    #expect(track.title == "3")
    history.levelsOfUndo = 1
    #expect(history.undoActionNames.count == 1)
    try history.undo()
    #expect(track.title == "2" && !history.canUndo)
  }

  @Test("Discarding resets the history to the last save")
  func discard() throws {
    let track = Track("a")
    history.group("Add") { store.insert(track) }
    try store.saveChanges()
    history.group("Rename") { track.title = "b" }
    try history.undo()
    try history.undo()
    store.discardChanges()
    #expect(history.undoActionNames == ["Add"] && !history.canRedo && track.title == "a")
    try history.undo()
    try store.saveChanges()
    #expect(try store.count(of: Track.self) == 0)
  }

  @Test("Named buffers belong to a step")
  func names() throws {
    func text() throws -> String? {
      var buffer = try store.buffer(named: "n")
      return try buffer?.readString()
    }
    try history.group { try store.setBuffer(named: "n") { $0.write("1") } }
    try history.group { try store.setBuffer(named: "n") { $0.write("2") } }
    try history.group { try store.removeBuffer(named: "n") }
    try history.undo()
    #expect(try text() == "2")
    try history.undo()
    try store.saveChanges()
    #expect(try text() == "1")
    try history.undo()
    #expect(try text() == nil)
    try history.redo()
    #expect(try text() == "1")
  }

  @Test("An object that another store has changed since is not overwritten silently")
  func conflict() throws {
    let track = Track("a")
    let mix = Mix("mix", [track])
    store.insert(track)
    store.insert(mix)
    try store.saveChanges()
    history.group { mix.name = "ours" }
    try store.saveChanges()
    let other = Store(backend: store.backend)
    try other.register(Track.self, Mix.self)
    try #require(try other.object(Mix.self, rowID: 2)).name = "theirs"
    try other.saveChanges()
    store.mergeChanges()
    let error = #expect(throws: StoreError.self) { try history.undo() }
    #expect(error?.code == .conflict && mix.name == "theirs" && history.canUndo)
  }

  @Test("Redo does not overwrite a change of another store")
  func conflictOfRedo() throws {
    let mix = Mix("mix")
    store.insert(mix)
    try store.saveChanges()
    history.group { mix.name = "ours" }
    try history.undo()
    #expect(history.canRedo)
    try store.saveChanges()
    let other = Store(backend: store.backend)
    try other.register(Track.self, Mix.self)
    try #require(try other.object(Mix.self, rowID: 2)).name = "theirs"
    try other.saveChanges()
    store.mergeChanges()
    #expect(!history.canRedo)
    try history.redo()
    #expect(mix.name == "theirs")
  }

  @Test("An edit to a long list is recorded by the bytes that differ", arguments: [100, 5])
  func differences(levels: Int) throws {
    let persistent = try StoreUndoManager(savedIn: store, as: "Undo", levelsOfUndo: levels)
    store.undoManager = persistent
    let tracks = (0..<10_000).map { Track("\($0)") }
    for track in tracks { store.insert(track) }
    let mix = Mix("mix", tracks)
    store.insert(mix)
    try store.saveChanges()
    persistent.removeAllActions()
    var before: [[Track]] = []
    for index in 0..<20 {
      before.append(mix.tracks)
      persistent.group { mix.tracks.insert(mix.tracks.remove(at: 5_000 + index), at: 5_000) }
    }
    try store.saveChanges()
    let name = try #require(try store.buffer(named: "Undo"))
    #expect(name.remainingCount < 20 * 300)
    let last = mix.tracks
    while persistent.canUndo { try persistent.undo() }
    #expect(mix.tracks == before.suffix(levels).first)
    while persistent.canRedo { try persistent.redo() }
    #expect(mix.tracks == last)
  }

  @Test("A saved history undoes and redoes changes of another run")
  func runs() throws {
    store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
    let track = Track("a")
    store.undoManager?.group("Add") {
      store.insert(track)
      store.insert(Mix("mix", [track, track]))
    }
    try store.saveChanges()
    store.undoManager?.group("Rename") { track.title = "b" }
    try store.saveChanges()

    var next = try reopened()
    next.undoManager = try StoreUndoManager(savedIn: next, as: "Undo")
    #expect(next.undoManager?.undoActionNames == ["Rename", "Add"])
    try next.undoManager?.undo()
    try next.undoManager?.undo()
    try next.saveChanges()
    try next.backend.close()

    next = try historyStore(disk)
    next.undoManager = try StoreUndoManager(savedIn: next, as: "Undo")
    #expect(try next.count(of: Mix.self) == 0)
    #expect(next.undoManager?.canUndo == false && next.undoManager?.redoActionName == "Add")
    try next.undoManager?.redo()
    try next.undoManager?.redo()
    #expect(try next.object(Mix.self, rowID: 2)?.tracks.map(\.title) == ["b", "b"])
  }

  @Test("A change without a history is not overwritten by a saved one")
  func foreignRun() throws {
    store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
    let track = Track("a")
    store.insert(track)
    try store.saveChanges()
    store.undoManager?.group { track.title = "b" }
    try store.saveChanges()
    store.undoManager = nil
    track.title = "c"
    try store.saveChanges()

    let next = try reopened()
    next.undoManager = try StoreUndoManager(savedIn: next, as: "Undo")
    let error = #expect(throws: StoreError.self) { try next.undoManager?.undo() }
    #expect(error?.code == .conflict && error?.location.rowID == 2)
  }

  @Test("A damaged history is reported, and the objects are unchanged")
  func damaged() throws {
    try store.setBuffer(named: "Undo") { $0.write(UInt32(7)) }
    #expect(throws: StoreError.self) { try StoreUndoManager(savedIn: store, as: "Undo") }
  }
}
