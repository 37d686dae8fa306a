import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Cases that random walks of two stores have found.
@Suite("Objects that another store has deleted or restored")
struct DeletedElsewhereTests {
  let first: Store
  let second: Store
  let history = StoreUndoManager()

  init() throws {
    first = try linkedStore(MemoryDisk())
    second = Store(backend: first.backend)
    try second.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
  }

  private func saveDisc() throws -> (disc: Disc, sleeve: Sleeve, tune: Tune) {
    let (disc, sleeve, tune) = (Disc(), Sleeve(), Tune("a"))
    disc.sleeve = sleeve
    first.insert(disc)
    first.insert(sleeve)
    first.insert(tune)
    try first.saveChanges()
    return (disc, sleeve, tune)
  }

  @Test(
    "A rule that deletes an object deleted elsewhere does not read it, and the save is a conflict")
  func cascade() throws {
    let mine = try saveDisc()
    let theirs = try #require(try second.allObjects(of: Disc.self).first)
    theirs.favourites = try second.allObjects(of: Tune.self)
    first.delete(mine.sleeve)
    try first.saveChanges()
    second.mergeChanges()
    second.delete(theirs)
    #expect(second.fetchFailures.isEmpty)
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    #expect(try second.count(of: Disc.self) == 0 && second.fetchFailures.isEmpty)
    #expect(try second.check().findings == [])
  }

  @Test("An object that was restored and deleted again is not found after another store deletes it")
  func deletedAgain() throws {
    let tune = try saveDisc().tune
    let theirs = try #require(try second.allObjects(of: Tune.self).first)
    second.delete(theirs)
    first.undoManager = history
    first.delete(tune)
    try first.saveChanges()
    try history.undo()
    #expect(try first.fetch(Tune.self).count == 1)
    first.delete(tune)
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    for _ in 0..<2 {
      #expect(try first.fetch(Tune.self).isEmpty)
      #expect(try first.allObjects(of: Tune.self).isEmpty)
      #expect(try first.count(of: Tune.self) == 0)
      first.mergeChanges()
    }
    try first.saveChanges()
    #expect(try first.count(of: Tune.self) == 0)
  }

  @Test("An edit whose other side was deleted by another store does not read it")
  func displaced() throws {
    let mine = try saveDisc()
    let theirs = try #require(try second.allObjects(of: Disc.self).first)
    // Read as the other end of the disc, and by nothing else.
    #expect(theirs.sleeve != nil)
    let sleeve = Sleeve()
    second.insert(sleeve)
    theirs.sleeve = sleeve
    first.delete(mine.disc)
    first.delete(mine.sleeve)
    try first.saveChanges()
    expectStoreError(.conflict) { try second.saveChanges() }
    #expect(second.fetchFailures.isEmpty)
    second.keepConflictingChanges()
    try second.saveChanges()
    #expect(try second.allObjects(of: Disc.self).map(\.sleeve) == [sleeve])
    #expect(sleeve.disc === theirs)
    #expect(try second.check().findings == [])
  }

  @Test("Taking an object from one that another store has deleted does not read the deleted one")
  func displacedOwner() throws {
    let mine = try saveDisc()
    let theirs = try #require(try second.allObjects(of: Sleeve.self).first)
    #expect(theirs.disc != nil)
    let disc = Disc()
    second.insert(disc)
    theirs.disc = disc
    first.delete(mine.disc)
    try first.saveChanges()
    expectStoreError(.conflict) { try second.saveChanges() }
    #expect(second.fetchFailures.isEmpty)
    second.keepConflictingChanges()
    try second.saveChanges()
    #expect(disc.sleeve === theirs && theirs.disc === disc)
    #expect(try second.check().findings == [])
  }

  @Test("Inserting and deleting an object that another store saves in between is a conflict")
  func broughtBack() throws {
    let mine = try saveDisc()
    let theirs = try #require(try second.allObjects(of: Disc.self).first)
    theirs.favourites = try second.allObjects(of: Tune.self)
    first.undoManager = history
    history.group { first.delete(mine.disc) }
    try first.saveChanges()
    try history.undo()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    first.delete(mine.disc)
    mine.tune.name = "b"
    expectStoreError(.conflict) { try first.saveChanges() }
    first.discardChanges()
    #expect(try first.count(of: Disc.self) == 1)
    #expect(try first.allObjects(of: Disc.self).map(\.favourites) == [[mine.tune]])
    #expect(try first.check().findings == [])
  }

  /// A list that undo brings back in the first store, and that the second one saves again.
  private func bringBackTwice(
    _ edit: (TuneList) throws -> Void
  ) throws -> (tune: Tune, list: TuneList, theirs: TuneList) {
    let (tune, list) = (Tune("a"), TuneList("list"))
    first.insert(tune)
    first.insert(list)
    try first.saveChanges()
    let theirs = try #require(try second.allObjects(of: TuneList.self).first)
    try edit(theirs)
    first.undoManager = history
    history.group { first.delete(list) }
    try first.saveChanges()
    try history.undo()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    first.mergeChanges()
    return (tune, list, theirs)
  }

  @Test("Discarding an object that was restored here and elsewhere gives the other one")
  func broughtBackTwice() throws {
    let (tune, list, _) = try bringBackTwice { $0.tunes = try second.allObjects(of: Tune.self) }
    #expect(tune.lists == [list])
    expectStoreError(.conflict) { try first.saveChanges() }
    first.discardChanges()
    #expect(list.store === first && list.tunes == [tune] && tune.lists == [list])
    tune.name = "b"
    try first.saveChanges()
    #expect(try first.count(of: TuneList.self) == 1)
    #expect(try first.check().findings == [])
  }

  @Test("Discarding an object that was restored elsewhere and deleted again removes it")
  func broughtBackAndDeleted() throws {
    let (tune, list, theirs) = try bringBackTwice { $0.name = "theirs" }
    second.delete(theirs)
    try second.saveChanges()
    first.discardChanges()
    #expect(list.store == nil && tune.lists == [])
    try first.saveChanges()
    #expect(try first.count(of: TuneList.self) == 0)
    #expect(try first.check().findings == [])
  }

  @Test("No step restores references that were dropped to keep the store's changes")
  func droppedReferences() throws {
    let mine = try saveDisc()
    second.undoManager = history
    let theirs = try #require(try second.allObjects(of: Disc.self).first)
    try history.group { theirs.favourites = try second.allObjects(of: Tune.self) }
    first.delete(mine.tune)
    try first.saveChanges()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    #expect(theirs.favourites == [] && !history.canUndo)
    try second.saveChanges()
    #expect(try second.check().findings == [])
  }

  @Test(
    "An object that is restored in two stores is counted once, with and without an index",
    arguments: [false, true])
  func restoredTwice(_ isDeletedAgain: Bool) throws {
    try first.register(Score.self)
    try second.register(Score.self)
    let score = Score(7)
    first.insert(score)
    try first.saveChanges()
    let theirs = try #require(try second.allObjects(of: Score.self).first)
    theirs.points = 8
    first.undoManager = history
    first.delete(score)
    try first.saveChanges()
    try history.undo()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    if isDeletedAgain {
      second.delete(theirs)
      try second.saveChanges()
    }
    for _ in 0..<2 {
      #expect(try first.count(of: Score.self) == 1)
      #expect(try first.count(of: Score.self, where: #Predicate { $0.points > 5 }) == 1)
      #expect(try first.count(of: Score.self, where: #Predicate { $0.points == 7 }) == 1)
      #expect(try first.fetch(Score.self).map(\.points) == [7])
      first.mergeChanges()
    }
    first.keepConflictingChanges()
    try first.saveChanges()
    #expect(try first.count(of: Score.self, where: #Predicate { $0.points > 5 }) == 1)
    #expect(try first.count(of: Score.self) == 1)
  }

  @Test(
    """
    Adding an object to a list while it is deleted and restored elsewhere is a conflict, after \
    which both sides agree
    """)
  func broughtBackWhileListed() throws {
    let mine = try saveDisc()
    first.insert(TuneList("list"))
    try first.saveChanges()
    let list = try #require(try second.allObjects(of: TuneList.self).first)
    list.tunes = try second.allObjects(of: Tune.self)
    first.undoManager = history
    history.group { first.delete(mine.tune) }
    try first.saveChanges()
    second.mergeChanges()
    // Finds out what the edit has changed.
    _ = try second.allObjects(of: Disc.self)
    try history.undo()
    try first.saveChanges()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    first.mergeChanges()
    let lists = try first.allObjects(of: TuneList.self)
    #expect(lists.map(\.tunes) == [[mine.tune]])
    #expect(mine.tune.lists == lists)
  }
}

/// An object with an index by which it can be counted.
private final class Score: StoredObject {
  @Content var points = 0

  convenience init(_ points: Int) {
    self.init()
    self.points = points
  }

  override class var indexes: [AttributeIndex] { [AttributeIndex("points", \Score.points)] }
  override func readContent(from buffer: inout DataBuffer) throws { points = try buffer.readInt() }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(points) }
}
