import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Does something in one of its calls, once for each call that is not made by it itself.
private final class Actor: StoreDelegate {
  enum Call: CaseIterable { case willInsert, willDelete, willUpdate, didChange, didSave }
  var calls: [String] = []
  var call: Call?
  var action: ((Store, StoredObject?) throws -> Void)?
  private var isActing = false

  private func hear(_ call: Call, _ store: Store, _ object: StoredObject? = nil) {
    calls.append("\(call) \((object as? Song)?.title ?? "")")
    guard call == self.call, !isActing else { return }
    isActing = true
    defer { isActing = false }
    #expect(throws: Never.self) { try action?(store, object) }
  }
  func store(_ store: Store, willInsert object: StoredObject) { hear(.willInsert, store, object) }
  func store(_ store: Store, willDelete object: StoredObject) { hear(.willDelete, store, object) }
  func store(_ store: Store, willUpdate object: StoredObject) { hear(.willUpdate, store, object) }
  func storeDidChange(_ store: Store) { hear(.didChange, store) }
  func storeDidSave(_ store: Store) { hear(.didSave, store) }
  func take() -> [String] {
    defer { calls = [] }
    return calls
  }
}

@Suite("Delegates that act on the store") struct ReentrantDelegateTests {
  @Test("A save in storeDidChange saves the new value")
  func savesInDidChange() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let actor = Actor()
    store.delegate = actor
    (actor.call, actor.action) = (.didChange, { store, _ in try store.saveChanges() })
    songs[0].title = "new"
    #expect(!store.hasUnsavedChanges)
    #expect(try fixture.savedTitles() == ["new", "b"])
    songs[0].title += "er"
    #expect(try fixture.savedTitles() == ["newer", "b"])
    store.insert(Song("c", 1))
    store.delete(songs[1])
    #expect(try fixture.savedTitles() == ["newer", "c"])
    #expect(!store.hasUnsavedChanges)
  }

  @Test("Whatever a delegate does in any call, nothing is lost", arguments: 0..<6)
  func everything(_ number: Int) throws {
    let actions: [(Store, StoredObject?) throws -> Void] = [
      { store, _ in try store.saveChanges() },
      { store, object in
        (object as? Song)?.seconds += 1
        try store.allObjects(of: Song.self).last?.seconds += 1
      },
      { store, _ in store.discardChanges() },
      { store, _ in store.insert(Song("by the delegate", 1)) },
      { store, _ in try store.undoManager?.undo() },
      { store, object in if let object { store.delete(object) } },
    ]
    for call in Actor.Call.allCases {
      for (hasHistory, isByHand) in [(false, false), (true, false), (false, true), (true, true)] {
        let fixture = try Fixture()
        let (store, songs) = try fixture.store(songs: "a", "b", "c")
        if hasHistory { store.undoManager = StoreUndoManager() }
        let actor = Actor()
        store.delegate = actor
        (actor.call, actor.action) = (call, actions[number])
        if isByHand { songs[0].willUpdate() }
        songs[0].title = "a2"
        songs[1].title = "b2"
        store.delete(songs[2])
        store.insert(Song("d", 1))
        // A save writes the content in memory, whatever was saved before.
        try store.saveChanges()
        actor.call = nil
        try store.saveChanges()
        let memory = try store.allObjects(of: Song.self).map { "\($0.title) \($0.seconds)" }
        let saved = try fixture.store().allObjects(of: Song.self).map {
          "\($0.title) \($0.seconds)"
        }
        #expect(memory == saved, "\(call) \(hasHistory) \(isByHand)")
        #expect(!store.hasUnsavedChanges)
      }
    }
  }

  @Test("A value that is set after the delegate has saved or discarded is kept and saved")
  func savesInWillUpdate() throws {
    for discards in [false, true] {
      let fixture = try Fixture()
      let (store, songs) = try fixture.store(songs: "a")
      let actor = Actor()
      store.delegate = actor
      (actor.call, actor.action) = (
        .willUpdate,
        { store, _ in if discards { store.discardChanges() } else { try store.saveChanges() } }
      )
      songs[0].title = "new"
      #expect(songs[0].title == "new" && store.hasUnsavedChanges)
      try store.saveChanges()
      #expect(try fixture.savedTitles() == ["new"])
    }
  }

  @Test("A delegate is called for undo and redo as for edits, and can save")
  func undo() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    let history = StoreUndoManager()
    store.undoManager = history
    history.group {
      songs[0].title = "a2"
      store.delete(songs[1])
      store.insert(Song("d", 1))
    }
    try store.saveChanges()
    let actor = Actor()
    store.delegate = actor
    try history.undo()
    #expect(
      actor.take() == ["willUpdate a2", "willDelete d", "willInsert b", "didChange "])
    (actor.call, actor.action) = (.didChange, { store, _ in try store.saveChanges() })
    try history.redo()
    #expect(
      Set(actor.take()) == [
        "willDelete b", "willInsert d", "didChange ", "didSave ",
      ])
    #expect(try fixture.savedTitles() == ["a2", "c", "d"])
    #expect(!store.hasUnsavedChanges && history.canUndo && !history.canRedo)
    try history.undo()
    #expect(try fixture.savedTitles() == ["a", "b", "c"])
  }

  @Test("A delegate is not called for an undo that a buffer prevents")
  func forbiddenUndo() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let history = StoreUndoManager()
    store.undoManager = history
    try history.group {
      songs[0].title = "a2"
      try store.setBuffer(named: "name") { $0.write("1") }
    }
    try store.saveChanges()
    let table = try fixture.store()
    try table.setBuffer(named: "name") { $0.write("2") }
    try table.saveChanges()
    let actor = Actor()
    store.delegate = actor
    (actor.call, actor.action) = (.willUpdate, { _, object in (object as? Song)?.seconds = 99 })
    expectStoreError(.conflict) { try history.undo() }
    #expect(actor.take().isEmpty && songs[0].title == "a2" && songs[0].seconds == 1)
  }

  @Test("An edit of a delegate during an undo is undone with it")
  func editsInUndo() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let history = StoreUndoManager()
    store.undoManager = history
    songs[0].title = "a2"
    try store.saveChanges()
    let actor = Actor()
    store.delegate = actor
    (actor.call, actor.action) = (.willUpdate, { _, _ in songs[1].seconds = 99 })
    try history.undo()
    #expect(songs[0].title == "a" && songs[1].seconds == 99 && history.canRedo)
    actor.call = nil
    try history.redo()
    #expect(songs[0].title == "a2" && songs[1].seconds == 1 && !history.canRedo)
    try history.undo()
    #expect(songs[0].title == "a" && songs[1].seconds == 99)
  }

  @Test("A deletion with all its consequences is one change")
  func cascade() throws {
    let store = try linkedStore(MemoryDisk())
    let disc = Disc()
    disc.tunes = (0..<3).map { Tune("\($0)") }
    store.insert(disc)
    for tune in disc.tunes { store.insert(tune) }
    try store.saveChanges()
    let actor = Actor()
    store.delegate = actor
    (actor.call, actor.action) = (.didChange, { store, _ in try store.saveChanges() })
    store.delete(disc)
    #expect(
      actor.take().filter { $0.hasPrefix("did") } == ["didChange ", "didSave ", "didChange "])
    #expect(try store.count(of: Tune.self) == 0 && !store.hasUnsavedChanges)
  }
}
