import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Two stores on one backend, neither of which merges unless a test says so.
@Suite("Relationships in stores that have not merged")
struct UnmergedRelationshipTests {
  let disk = MemoryDisk()
  let first: Store
  let second: Store

  init() throws {
    first = try linkedStore(disk)
    second = Store(backend: first.backend)
    try second.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
  }

  /// Tunes and lists of tunes, saved and held by both stores.
  private func fill(
    tunes: Int, lists: [[Int]]
  ) throws -> (mine: ([Tune], [TuneList]), theirs: ([Tune], [TuneList])) {
    let mine = (0..<tunes).map { Tune("\($0)") }
    for tune in mine { first.insert(tune) }
    for (number, tunes) in lists.enumerated() {
      first.insert(TuneList("\(number)", tunes.map { mine[$0] }))
    }
    try first.saveChanges()
    return (
      (mine, try first.allObjects(of: TuneList.self)),
      (try second.allObjects(of: Tune.self), try second.allObjects(of: TuneList.self))
    )
  }

  /// Whether both sides of the inverse on disk say the same, and no reference leads nowhere.
  private func expectSound(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let third = Store(backend: first.backend)
    try third.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    for list in try third.allObjects(of: TuneList.self) {
      for tune in try third.allObjects(of: Tune.self) {
        #expect(
          list.tunes.count { $0 === tune } == tune.lists.count { $0 === list },
          "list \(list.rowID) and tune \(tune.rowID)", sourceLocation: sourceLocation)
      }
    }
    #expect(try third.check().findings == [], sourceLocation: sourceLocation)
  }

  @Test("An inverse updated by an outdated object is a conflict, and discarding keeps theirs")
  func outdatedOtherSide() throws {
    let (mine, theirs) = try fill(tunes: 1, lists: [[]])
    theirs.1[0].tunes = theirs.0
    try second.saveChanges()
    // The tune is read as the other store has saved it, and the list is as it was.
    first.refresh(mine.0[0])
    #expect(mine.0[0].lists == [mine.1[0]] && mine.1[0].tunes == [])
    mine.0[0].lists = []
    expectStoreError(.conflict) { try first.saveChanges() }
    try expectSound()
    first.discardChanges()
    #expect(mine.0[0].lists == [mine.1[0]] && mine.1[0].tunes == mine.0)
    mine.0[0].lists = []
    try first.saveChanges()
    #expect(mine.1[0].tunes == [])
    try expectSound()
  }

  @Test(
    "Merging does not hide that conflict, and keeping the store's changes makes both sides agree")
  func keepOutdatedOtherSide() throws {
    let (mine, theirs) = try fill(tunes: 2, lists: [[1]])
    theirs.1[0].tunes = theirs.0
    try second.saveChanges()
    first.refresh(mine.0[0])
    mine.0[0].lists = []
    // Reading the other side brings it up to date, by what it was before.
    #expect(mine.1[0].tunes == [mine.0[1]])
    first.mergeChanges()
    expectStoreError(.conflict) { try first.saveChanges() }
    first.keepConflictingChanges()
    #expect(mine.0[0].lists == [] && mine.1[0].tunes == [mine.0[1]])
    try first.saveChanges()
    try expectSound()
  }

  @Test("A change of the other side between the edit and the save is a conflict, too")
  func laterChangeOfOtherSide() throws {
    let (mine, theirs) = try fill(tunes: 2, lists: [[0], []])
    // Nothing is to be done about the list: it has the tune already.
    mine.0[0].lists.append(mine.1[1])
    theirs.1[0].tunes = [theirs.0[1]]
    try second.saveChanges()
    expectStoreError(.conflict) { try first.saveChanges() }
    first.keepConflictingChanges()
    try first.saveChanges()
    try expectSound()
  }

  @Test("Keeping changes to both ends of a relationship leaves them in agreement")
  func keepBothEnds() throws {
    let (mine, theirs) = try fill(tunes: 2, lists: [[0], [1]])
    theirs.1[0].tunes = [theirs.0[1], theirs.0[0], theirs.0[1]]
    theirs.0[0].name = "theirs"
    try second.saveChanges()
    mine.1[0].tunes = []
    mine.0[1].name = "mine"
    expectStoreError(.conflict) { try first.saveChanges() }
    first.keepConflictingChanges()
    try first.saveChanges()
    #expect(mine.0[1].name == "mine" && mine.1[0].tunes == [])
    try expectSound()
  }

  @Test("A tune that another store has moved to another disc leaves that one if changes are kept")
  func oneToMany() throws {
    let discs = [Disc(), Disc(), Disc()]
    let tune = Tune("a")
    for disc in discs { first.insert(disc) }
    discs[0].tunes = [tune]
    first.insert(tune)
    try first.saveChanges()
    let theirs = try second.allObjects(of: Disc.self)
    theirs[1].tunes = try second.allObjects(of: Tune.self)
    try second.saveChanges()
    discs[2].tunes = [tune]
    expectStoreError(.conflict) { try first.saveChanges() }
    first.keepConflictingChanges()
    try first.saveChanges()
    #expect(tune.disc === discs[2] && discs[0].tunes == [] && discs[1].tunes == [])
    try expectSound()
  }

  @Test("A store that is the only one, or has merged, has no conflict")
  func noConflict() throws {
    let (mine, theirs) = try fill(tunes: 2, lists: [[0]])
    theirs.1[0].tunes.append(theirs.0[1])
    try second.saveChanges()
    first.mergeChanges()
    mine.0[1].lists = []
    try first.saveChanges()
    mine.0[0].lists = []
    try first.saveChanges()
    #expect(mine.1[0].tunes == [])
    try expectSound()
  }
}
