import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Relationships of lists whose objects are created on access")
struct ListRelationshipTests {
  let disk = MemoryDisk()
  let store: Store
  let a = Clip("a")
  let b = Clip("b")
  let c = Clip("c")
  let x = Reel("x")
  let y = Reel("y")

  init() throws {
    store = try listedStore(disk)
    for object in [a, b, c, x, y] { store.insert(object) }
    try store.saveChanges()
  }

  private func reopened() throws -> Store {
    try store.saveChanges()
    store.dissolveAllRelationships()
    try store.backend.close()
    return try listedStore(disk)
  }

  @Test(
    "A new object equals one that is edited before and after its insertion",
    arguments: [0, 1, 2, 3], [1, 2, 3])
  func insertedBetweenEdits(newCount: Int, appended: Int) throws {
    let clip = Clip("a")
    store.insert(clip)
    try store.saveChanges()
    clip.name += "+"
    let reel = Reel("r", Array(repeating: clip, count: newCount))
    store.insert(reel)
    for _ in 0..<appended { clip.reels.append(reel) }
    let most = max(newCount, appended)
    #expect(Array(clip.reels) == Array(repeating: reel, count: most))
    #expect(Array(reel.clips) == Array(repeating: clip, count: most))
    try store.saveChanges()
    #expect(try store.check().findings == [])
  }

  @Test("The other side follows inserts, moves, removals and reassignment, with repeats")
  func edits() {
    x.clips = [a, b, a]
    #expect(a.reels == [x, x] && b.reels == [x] && c.reels == [])
    y.clips.append(a)
    #expect(a.reels == [x, x, y])
    x.clips.remove(at: 0)
    #expect(a.reels == [x, y])
    x.clips.insert(c, at: 1)
    #expect(c.reels == [x] && x.clips == [b, c, a])
    a.reels.removeAll(x)
    #expect(x.clips == [b, c])
    b.reels = [y, x, y]
    #expect(x.clips == [b, c] && y.clips == [a, b, b])
  }

  @Test("Both sides are read in their orders, and updated after they were only read")
  func reload() throws {
    x.clips = [a, b, a]
    y.clips = [c, a]
    a.reels.move(from: 2, to: 0)
    let second = try reopened()
    let reel = try #require(try second.object(Reel.self, rowID: 2))
    #expect(reel.clips.map(\.name) == ["a", "b", "a"])
    #expect(reel.clips[0].reels.map(\.name) == ["y", "x", "x"])
    reel.clips.remove(at: 2)
    #expect(try second.object(Clip.self, rowID: 2)?.reels.map(\.name) == ["y", "x"])
    try second.object(Clip.self, rowID: 4)?.reels.append(reel)
    #expect(reel.clips.map(\.name) == ["a", "b", "c"])
    try second.saveChanges()
    try second.backend.close()
    let third = try listedStore(disk)
    #expect(try third.object(Reel.self, rowID: 2)?.clips.map(\.name) == ["a", "b", "c"])
    #expect(try third.object(Clip.self, rowID: 2)?.reels.map(\.name) == ["y", "x"])
  }

  @Test("A move changes the list and no other object")
  func move() throws {
    x.clips = [a, b, c, a]
    try store.saveChanges()
    x.clips.move(from: 0, to: 2)
    #expect(x.hasUnsavedChanges && x.clips == [b, c, a, a])
    #expect(![a, b, c].contains { $0.hasUnsavedChanges })
  }

  @Test("A reference to one object moves from list to list")
  func toOne() {
    let (first, second) = (Box(), Box())
    store.insert(first)
    store.insert(second)
    first.clips = [a, b]
    #expect(a.box === first && b.box === first)
    a.box = second
    #expect(first.clips == [b] && second.clips == [a])
    second.clips.append(b)
    #expect(first.clips.isEmpty && b.box === second)
  }

  @Test("Nullify removes a deleted object from all positions in all lists, loaded or not")
  func nullify() throws {
    x.clips = [a, b, a, c, a]
    y.clips = [a]
    let boxes = [Box(), Box()]
    for box in boxes { store.insert(box) }
    boxes[0].seen = [a, b, a]
    boxes[1].seen = [c, a]
    let second = try reopened()
    second.delete(try #require(try second.object(Clip.self, rowID: 2)))
    try second.saveChanges()
    second.dissolveAllRelationships()
    try second.backend.close()
    let third = try listedStore(disk)
    #expect(
      try third.allObjects(of: Reel.self).map { $0.clips.map(\.name) } == [["b", "c"], []])
    #expect(
      try third.allObjects(of: Box.self).map { $0.seen.map(\.name) } == [["b"], ["c"]])
  }

  @Test("Cascade and deny work for lists that were not read")
  func cascadeAndDeny() throws {
    let (box, shelf) = (Box(), Shelf())
    store.insert(box)
    store.insert(shelf)
    (box.clips, shelf.clips) = ([a, b], [c])
    let second = try reopened()
    second.delete(try #require(try second.object(Box.self, rowID: 2)))
    let read = try #require(try second.object(Shelf.self, rowID: 2))
    second.delete(read)
    let error = #expect(throws: StoreError.self) { try second.saveChanges() }
    #expect(error?.code == .deleteDenied)
    second.insert(read)
    try second.saveChanges()
    #expect(try second.allObjects(of: Clip.self).map(\.name) == ["c"])
  }

  @Test("Undo and redo restore lists of both sides, before and after a save")
  func undo() throws {
    let history = StoreUndoManager()
    store.undoManager = history
    history.group { x.clips = [a, b, a] }
    history.group { x.clips.move(from: 0, to: 1) }
    history.group { store.delete(a) }
    #expect(x.clips == [b])
    try store.saveChanges()
    try history.undo()
    #expect(x.clips == [b, a, a] && a.reels == [x, x])
    try history.undo()
    #expect(x.clips == [a, b, a])
    try store.saveChanges()
    try history.undo()
    #expect(x.clips.isEmpty && a.reels.isEmpty && b.reels.isEmpty)
    while history.canRedo { try history.redo() }
    #expect(x.clips == [b] && a.isDeleted)
    let second = try reopened()
    #expect(try second.object(Reel.self, rowID: 2)?.clips.map(\.name) == ["b"])
  }

  @Test("A list with an object that is inserted later is undone with it")
  func stranger() throws {
    let history = StoreUndoManager()
    store.undoManager = history
    let late = Clip("late")
    history.group { x.clips.append(late) }
    history.group { store.insert(late) }
    #expect(late.reels == [x])
    try history.undo()
    #expect(x.clips.array == [late])
    try history.undo()
    #expect(x.clips.isEmpty)
    try history.redo()
    try history.redo()
    #expect(x.clips == [late] && late.reels == [x])
    try store.saveChanges()
  }
}
