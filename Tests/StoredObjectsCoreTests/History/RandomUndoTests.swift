import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Undo and redo at random")
struct RandomUndoTests {
  @Test(
    "After random steps, undo, redo, saves and reopening, each undo restores the earlier state")
  func randomly() throws {
    var random = Seeds.generator(for: "RandomUndoTests")
    for round in 0..<40 {
      // Undoing twice as often as doing, and the other way round, for long histories.
      var run = try RandomUndoRun(random.next(), doing: round % 2 == 0 ? 10 : 20)
      for _ in 0..<200 { try run.step() }
      try run.finish()
    }
  }
}

/// The contents of a store, as plain values by row.
private struct Snapshot: Equatable {
  var tracks: [UInt32: String] = [:]
  var mixes: [UInt32: [String]] = [:]

  init() {}

  init(_ store: Store) throws {
    for track in try store.allObjects(of: Track.self) { tracks[track.rowID] = track.title }
    for mix in try store.allObjects(of: Mix.self) {
      let parts: [StoredObject?] = mix.tracks + [mix.sublist, mix.anything]
      mixes[mix.rowID] = [mix.name] + parts.map { $0.map { "\(type(of: $0)) \($0.rowID)" } ?? "-" }
    }
  }
}

private struct RandomUndoRun: TransactionWalk {
  private let disk = MemoryDisk()
  private(set) var store: Store
  private(set) var history: StoreUndoManager
  private var random: SeededGenerator
  var model = SnapshotHistory(Snapshot())
  private var held: [StoredObject] = []
  var nextName = 0

  /// How often of 30 steps something is done, and not undone.
  private let doing: Int

  init(_ seed: UInt64, doing: Int) throws {
    self.doing = doing
    random = SeededGenerator(seed: seed)
    store = try historyStore(disk)
    history = try StoreUndoManager(savedIn: store, as: "Undo", levelsOfUndo: 0)
    store.undoManager = history
  }

  mutating func chance(_ number: Int) -> Int {
    Int.random(in: 0..<number, using: &random)
  }

  mutating func step() throws {
    let choice = chance(44)
    switch choice {
    case 0..<doing: try doSomething()
    case doing..<30: try undo()
    case 30..<34: try redo()
    case 34..<37: try save()
    case 37: held.removeAll()
    case 38: try discard()
    case 39: try reopen()
    default: try transact()
    }
    let found = try Snapshot(store)
    if found != model.now { throw Difference(choice: choice, found: found, expected: model.now) }
  }

  struct Difference: Error {
    let choice: Int
    let found, expected: Snapshot
  }

  mutating func finish() throws {
    try save()
    try reopen()
    while history.canUndo { try undo() }
    #expect(try Snapshot(store) == Snapshot())
  }

  private mutating func undo() throws {
    try history.undo()
    model.undo()
  }

  private mutating func redo() throws {
    try history.redo()
    model.redo()
  }

  private mutating func save() throws {
    try store.saveChanges()
    model.save()
  }

  private mutating func discard() throws {
    store.discardChanges()
    model.discard()
  }

  private mutating func reopen() throws {
    try save()
    held.removeAll()
    store.dissolveAllRelationships()
    try store.backend.close()
    store = try historyStore(disk)
    history = try StoreUndoManager(savedIn: store, as: "Undo", levelsOfUndo: 0)
    store.undoManager = history
  }

  private mutating func doSomething() throws {
    // Some edits change nothing, or a list to itself: they are steps, too.
    history.beginUndoGrouping("step")
    for _ in 0...chance(4) { try edit() }
    history.endUndoGrouping()
    model.step(
      to: try Snapshot(store), isUndoable: history.undoActionNames.count > model.before.count)
  }

  func contents() throws -> Snapshot { try Snapshot(store) }

  mutating func edit() throws {
    let tracks = try store.allObjects(of: Track.self)
    let mixes = try store.allObjects(of: Mix.self)
    nextName += 1
    switch chance(8) {
    case 0: insert(Track("t\(nextName)"))
    case 1: insert(Mix("m\(nextName)", tracks.filter { _ in chance(2) == 0 }))
    case 2: tracks.randomElement(using: &random)?.title += "+"
    case 3: try deleteTrack(tracks, mixes)
    case 4: try deleteMix(mixes)
    default: try editList(tracks, mixes)
    }
  }

  private mutating func insert(_ object: StoredObject) {
    store.insert(object)
    if chance(2) == 0 { held.append(object) }
  }

  private mutating func deleteTrack(_ tracks: [Track], _ mixes: [Mix]) throws {
    guard let track = tracks.randomElement(using: &random) else { return }
    for mix in mixes where mix.tracks.contains(track) { mix.tracks.removeAll { $0 == track } }
    for mix in mixes where mix.anything === track { mix.anything = nil }
    store.delete(track)
  }

  private mutating func deleteMix(_ mixes: [Mix]) throws {
    guard let mix = mixes.randomElement(using: &random) else { return }
    store.delete(mix)
    for mix in mixes {
      if mix.sublist?.isDeleted == true { mix.sublist = nil }
      if mix.anything?.isDeleted == true { mix.anything = nil }
    }
  }

  private mutating func editList(_ tracks: [Track], _ mixes: [Mix]) throws {
    guard let mix = mixes.randomElement(using: &random),
      let track = tracks.randomElement(using: &random)
    else { return }
    switch chance(5) {
    case 0: mix.tracks.insert(track, at: chance(mix.tracks.count + 1))
    case 1: mix.tracks.append(track)
    case 2: mix.tracks.shuffle(using: &random)
    case 3: if !mix.tracks.isEmpty { mix.tracks.remove(at: chance(mix.tracks.count)) }
    default:
      (mix.sublist, mix.anything) = (
        chance(3) == 0 ? mixes.randomElement(using: &random) : nil, track
      )
    }
  }
}
