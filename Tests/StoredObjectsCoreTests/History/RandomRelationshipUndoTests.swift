import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Undo and redo of relationships at random")
struct RandomRelationshipUndoTests {
  @Test(
    """
    Random undo always restores the earlier state: of both sides of relationships, of cascades and \
    of packed lists, before and after saves
    """)
  func randomly() throws {
    var random = Seeds.generator(for: "RandomRelationshipUndoTests")
    for round in 0..<30 {
      // Undoing twice as often as doing, and the other way round, for long histories.
      var run = try RelationshipUndoRun(random.next(), doing: round % 2 == 0 ? 10 : 20)
      for _ in 0..<150 { try run.step() }
      try run.finish()
    }
  }

  @Test(
    "With a limited depth, exactly the last steps are undone", arguments: 1...3)
  func depth(levels: Int) throws {
    var random = Seeds.generator(for: "RandomRelationshipUndoTests.depth")
    var run = try RelationshipUndoRun(random.next(), doing: 30, levelsOfUndo: levels)
    for _ in 0..<150 { try run.step() }
    try run.finish()
  }
}

/// The contents of a store, as plain values by row.
private struct LinkSnapshot: Equatable {
  private var lines: [String] = []

  init() {}

  init(_ store: Store) throws {
    for clip in try store.allObjects(of: Clip.self) {
      lines.append(
        "clip \(clip.rowID) \(clip.name) \(clip.reels.rowIDs) \(clip.box?.rowID ?? 0)")
    }
    for reel in try store.allObjects(of: Reel.self) {
      lines.append("reel \(reel.rowID) \(reel.name) \(reel.clips.rowIDs)")
    }
    for box in try store.allObjects(of: Box.self) {
      lines.append("box \(box.rowID) \(box.clips.rowIDs) \(box.seen.rowIDs)")
    }
  }

  /// Whether both sides of every relationship say the same.
  static func isConsistent(_ store: Store) throws -> Bool {
    let clips = try store.allObjects(of: Clip.self)
    for reel in try store.allObjects(of: Reel.self) {
      for clip in clips
      where clip.reels.count(where: { $0 === reel }) != reel.clips.count(where: { $0 === clip }) {
        return false
      }
      guard reel.clips.allSatisfy({ !$0.isDeleted }) else { return false }
    }
    for box in try store.allObjects(of: Box.self) {
      for clip in clips where (clip.box === box) != box.clips.contains(clip) { return false }
      guard box.seen.allSatisfy({ !$0.isDeleted }) else { return false }
    }
    return true
  }
}

private struct RelationshipUndoRun: TransactionWalk {
  private let disk = MemoryDisk()
  private(set) var store: Store
  private(set) var history: StoreUndoManager
  private var random: SeededGenerator
  var model: SnapshotHistory<LinkSnapshot>
  var nextName = 0
  /// How often of 30 steps something is done, and not undone.
  private let doing: Int
  private let levelsOfUndo: Int

  init(_ seed: UInt64, doing: Int, levelsOfUndo: Int = 0) throws {
    (self.doing, self.levelsOfUndo) = (doing, levelsOfUndo)
    random = SeededGenerator(seed: seed)
    store = try listedStore(disk)
    history = try StoreUndoManager(savedIn: store, as: "Undo", levelsOfUndo: levelsOfUndo)
    store.undoManager = history
    model = SnapshotHistory(LinkSnapshot(), limit: levelsOfUndo)
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
    case 37: try refresh()
    case 38: try discard()
    case 39: try reopen()
    default: try transact()
    }
    let found = try LinkSnapshot(store)
    if found != model.now { throw Difference(choice: choice, found: found, expected: model.now) }
    #expect(try LinkSnapshot.isConsistent(store))
    #expect(history.undoActionNames.count == model.before.count)
    if levelsOfUndo > 0 { #expect(model.before.count <= levelsOfUndo) }
  }

  struct Difference: Error {
    let choice: Int
    let found, expected: LinkSnapshot
  }

  mutating func finish() throws {
    try save()
    try reopen()
    while history.canUndo {
      try undo()
      #expect(try LinkSnapshot(store) == model.now)
    }
    if levelsOfUndo == 0 { #expect(try LinkSnapshot(store) == LinkSnapshot()) }
    while history.canRedo {
      try redo()
      #expect(try LinkSnapshot(store) == model.now)
    }
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

  /// Releases loaded content, so that lists are read and packed again.
  private mutating func refresh() throws {
    try save()
    for clip in try store.allObjects(of: Clip.self) { store.refresh(clip) }
    for reel in try store.allObjects(of: Reel.self) { store.refresh(reel) }
  }

  private mutating func reopen() throws {
    try save()
    store.dissolveAllRelationships()
    try store.backend.close()
    store = try listedStore(disk)
    history = try StoreUndoManager(savedIn: store, as: "Undo", levelsOfUndo: levelsOfUndo)
    store.undoManager = history
  }

  private mutating func doSomething() throws {
    let last = history.undoActionNames.first
    nextName += 1
    history.beginUndoGrouping("step \(nextName)")
    for _ in 0...chance(4) { try edit() }
    history.endUndoGrouping()
    model.step(
      to: try LinkSnapshot(store), isUndoable: history.undoActionNames.first != last)
  }

  func contents() throws -> LinkSnapshot { try LinkSnapshot(store) }

  mutating func edit() throws {
    let clips = try store.allObjects(of: Clip.self)
    let reels = try store.allObjects(of: Reel.self)
    let boxes = try store.allObjects(of: Box.self)
    nextName += 1
    switch chance(14) {
    case 0...1: store.insert(Clip("c\(nextName)"))
    case 2:
      let some = clips.filter { _ in chance(3) == 0 }
      store.insert(Reel("r\(nextName)", some + some.prefix(1)))
    case 3: if boxes.count < 3 { store.insert(Box()) }
    case 4: if let clip = clips.randomElement(using: &random) { store.delete(clip) }
    case 5: if let reel = reels.randomElement(using: &random) { store.delete(reel) }
    case 6: if let box = boxes.randomElement(using: &random) { store.delete(box) }
    case 7: clips.randomElement(using: &random)?.name += "+"
    case 8...9: editBoxes(clips, boxes)
    case 10: editClip(clips, reels)
    default: editReel(clips, reels)
    }
  }

  private mutating func editReel(_ clips: [Clip], _ reels: [Reel]) {
    guard let reel = reels.randomElement(using: &random),
      let clip = clips.randomElement(using: &random)
    else { return }
    let count = reel.clips.count
    switch chance(6) {
    case 0: reel.clips.insert(clip, at: chance(count + 1))
    case 1: reel.clips.append(clip)
    case 2: if count > 0 { reel.clips.move(from: chance(count), to: chance(count)) }
    case 3: if count > 0 { reel.clips.remove(at: chance(count)) }
    case 4: reel.clips.removeAll(clip)
    default: reel.clips = ObjectList(clips.shuffled(using: &random).prefix(4))
    }
  }

  private mutating func editClip(_ clips: [Clip], _ reels: [Reel]) {
    guard let clip = clips.randomElement(using: &random),
      let reel = reels.randomElement(using: &random)
    else { return }
    switch chance(3) {
    case 0: clip.reels.append(reel)
    case 1: clip.reels = []
    default: clip.reels.insert(reel, at: chance(clip.reels.count + 1))
    }
  }

  private mutating func editBoxes(_ clips: [Clip], _ boxes: [Box]) {
    guard let box = boxes.randomElement(using: &random),
      let clip = clips.randomElement(using: &random)
    else { return }
    switch chance(5) {
    case 0: clip.box = box
    case 1: clip.box = nil
    case 2: if !box.clips.contains(clip) { box.clips.insert(clip, at: chance(box.clips.count + 1)) }
    case 3: box.seen.insert(clip, at: chance(box.seen.count + 1))
    default: box.seen = []
    }
  }
}
