import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Delete rules")
struct DeleteRuleTests {
  let disk = MemoryDisk()
  let store: Store
  let a = Tune("a")
  let b = Tune("b")
  let c = Tune("c")

  init() throws {
    store = try linkedStore(disk)
    for object in [a, b, c] { store.insert(object) }
  }

  private func reopened() throws -> Store {
    try store.saveChanges()
    store.dissolveAllRelationships()
    try store.backend.close()
    return try linkedStore(disk)
  }

  @Test("Nullify removes a deleted object from all positions in all lists, loaded or not")
  func nullify() throws {
    for name in ["x", "y"] { store.insert(TuneList(name, [a, b, a, c, a])) }
    let second = try reopened()
    let tune = try #require(try second.object(Tune.self, rowID: 2))
    second.delete(tune)
    try second.saveChanges()
    let lists = try second.allObjects(of: TuneList.self)
    #expect(lists.map { $0.tunes.map(\.name) } == [["b", "c"], ["b", "c"]])
    second.delete(lists[0])
    try second.saveChanges()
    #expect(try second.object(Tune.self, rowID: 3)?.lists == [lists[1]])
  }

  @Test("The same is true without an inverse")
  func nullifyWithoutInverse() throws {
    let discs = (0..<3).map { _ in Disc() }
    for disc in discs { store.insert(disc) }
    discs[0].favourites = [a, b, a]
    discs[2].favourites = [c, a]
    let second = try reopened()
    for tune in try second.allObjects(of: Tune.self).prefix(2) { second.delete(tune) }
    try second.saveChanges()
    #expect(
      try second.allObjects(of: Disc.self).map { $0.favourites.map(\.name) } == [[], [], ["c"]])
  }

  @Test("References that are added and removed after the first deletion are found as well")
  func indexIsKept() throws {
    let (first, second) = (Disc(), Disc())
    store.insert(first)
    store.insert(second)
    first.favourites = [a, b]
    store.delete(a)
    #expect(first.favourites == [b])
    second.favourites = [c, b, c]
    try store.saveChanges()
    store.undoManager = StoreUndoManager()
    store.delete(c)
    #expect(second.favourites == [b])
    try store.undoManager?.undo()
    #expect(second.favourites == [c, b, c])
    store.delete(c)
    #expect(second.favourites == [b])
    store.discardChanges()
    store.delete(c)
    #expect(second.favourites == [b])
    try store.saveChanges()
  }

  @Test("References that another store has saved are found, too", arguments: [false, true])
  func indexAndOtherStores(savesBetween: Bool) throws {
    let disc = Disc()
    store.insert(disc)
    try store.saveChanges()
    // The first deletion makes the index.
    store.delete(b)
    try store.saveChanges()
    let other = Store(backend: store.backend)
    try other.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    let theirs = Disc()
    other.insert(theirs)
    theirs.favourites = [try #require(try other.object(Tune.self, rowID: c.rowID))]
    try other.saveChanges()
    if savesBetween {
      disc.favourites = [a]
      try store.saveChanges()
    }
    store.delete(c)
    try store.saveChanges()
    #expect(try store.object(Disc.self, rowID: theirs.rowID)?.favourites == [])
  }

  @Test("So are references that undo has restored")
  func indexAndUndo() throws {
    let disc = Disc()
    store.insert(disc)
    disc.favourites = [a]
    try store.saveChanges()
    let history = StoreUndoManager()
    store.undoManager = history
    history.group { disc.favourites = [] }
    // Makes the index, which says that nobody refers to the tune.
    history.group { store.delete(c) }
    try history.undo()
    store.delete(b)
    try history.undo()
    try history.undo()
    #expect(disc.favourites == [a])
    store.delete(a)
    #expect(disc.favourites == [])
  }

  @Test("Cascade deletes the parts of an object, and their parts")
  func cascade() throws {
    let disc = Disc()
    let sleeve = Sleeve()
    let list = TuneList("x", [a, c])
    for object in [disc, sleeve, list] { store.insert(object) }
    (disc.tunes, disc.sleeve) = ([a, b], sleeve)
    store.delete(disc)
    #expect(a.isDeleted && b.isDeleted && !c.isDeleted && sleeve.isDeleted)
    #expect(list.tunes == [c])
    try store.saveChanges()
    #expect(try store.count(of: Tune.self) == 1)
  }

  @Test("A cascade can be ten thousand objects deep")
  func deepCascade() throws {
    var branch = Branch()
    let root = branch
    store.insert(root)
    for _ in 0..<10_000 {
      let child = Branch()
      child.parent = branch
      store.insert(child)
      branch = child
    }
    try store.saveChanges()
    store.delete(root)
    #expect(try store.count(of: Branch.self) == 0)
    try store.saveChanges()
    store.dissolveAllRelationships()
  }

  @Test("Deny refuses the save until the other object is deleted, too")
  func deny() throws {
    let sleeve = Sleeve()
    store.insert(sleeve)
    sleeve.guards = [a]
    try store.saveChanges()
    store.delete(sleeve)
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .deleteDenied && error?.location.rowID == sleeve.rowID)
    store.delete(a)
    try store.saveChanges()
    #expect(try store.count(of: Sleeve.self) == 0)
  }

  @Test("No action keeps the reference, and refuses to save it")
  func noAction() throws {
    let sleeve = Sleeve()
    store.insert(sleeve)
    sleeve.unguarded = a
    try store.saveChanges()
    store.delete(a)
    #expect(sleeve.unguarded === a && !sleeve.hasUnsavedChanges)
    sleeve.unguarded = a
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .notEncodable)
  }

  @Test("Inserting a deleted object again restores its other sides")
  func undelete() throws {
    let list = TuneList("x", [a, b])
    store.insert(list)
    try store.saveChanges()
    store.delete(a)
    #expect(list.tunes == [b])
    store.insert(a)
    #expect(list.tunes == [a, b] && a.lists == [list])
  }

  @Test("Undo restores an object and its positions, and redo removes it again")
  func undo() throws {
    let list = TuneList("x", [a, b, a, c])
    let disc = Disc()
    store.insert(list)
    store.insert(disc)
    disc.tunes = [a]
    try store.saveChanges()
    let history = StoreUndoManager()
    store.undoManager = history
    history.group("Delete") { store.delete(disc) }
    #expect(a.isDeleted && list.tunes == [b, c])
    try store.saveChanges()
    try history.undo()
    #expect(list.tunes == [a, b, a, c] && a.lists == [list, list] && disc.tunes == [a])
    try store.saveChanges()
    try history.redo()
    #expect(a.isDeleted && list.tunes == [b, c])
    try store.saveChanges()
  }
}
