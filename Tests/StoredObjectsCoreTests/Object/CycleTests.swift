import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import Testing

/// Says nothing of how its references are dropped.
private final class Loop: StoredObject {
  static let living = Atomic(0)
  @Content var next: Loop?
  @Content var others: [Loop] = []
  @Content var list: ObjectList<Loop> = []
  var helper: Loop?
  /// Without Content.
  var plain: [Loop] = []

  required init() {
    super.init()
    Self.living.wrappingAdd(1, ordering: .relaxed)
  }
  deinit { Self.living.wrappingSubtract(1, ordering: .relaxed) }
  static var count: Int { living.load(ordering: .relaxed) }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(next)
    buffer.write(others)
    buffer.write(list)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    next = try buffer.readObject(of: Loop.self)
    others = try buffer.readObjects(of: Loop.self)
    list = try buffer.readList(of: Loop.self)
  }
}

/// An owner and what it owns, which know each other.
private final class Owner: StoredObject {
  @Content var parts: [Part] = []
  override class var relationships: [Relationship] {
    [Relationship(\Owner.parts, deleteRule: .cascade, inverse: \Part.owner)]
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(parts) }
  override func readContent(from buffer: inout DataBuffer) throws {
    parts = try buffer.readObjects(of: Part.self)
  }
}

private final class Part: StoredObject {
  static let living = Atomic(0)
  @Content var owner: Owner?
  required init() {
    super.init()
    Self.living.wrappingAdd(1, ordering: .relaxed)
  }
  deinit { Self.living.wrappingSubtract(1, ordering: .relaxed) }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(owner) }
  override func readContent(from buffer: inout DataBuffer) throws {
    owner = try buffer.readObject(of: Owner.self)
  }
}

@Suite("Objects in cycles", .serialized) struct CycleTests {
  private func openStore(_ disk: MemoryDisk = MemoryDisk()) throws -> Store {
    let store = Store(backend: try MemoryBackend(disk: disk))
    try store.register(Loop.self, Part.self, Owner.self)
    return store
  }

  /// Rings of every kind of property.
  @discardableResult
  private func insertRings(in store: Store) -> [Loop] {
    let loops = (0..<30).map { _ in Loop() }
    for (index, loop) in loops.enumerated() {
      let next = loops[index / 3 * 3 + (index + 1) % 3]
      loop.next = next
      loop.others = [next, loop, next]
      loop.list = [next]
      if index < 9 { loop.helper = next }
      if index < 6 { loop.plain = [loop, next] }
      store.insert(loop)
    }
    return loops
  }

  @Test("An owner and its parts are freed after they are deleted and saved")
  func cascade() throws {
    let store = try openStore()
    for _ in 0..<6 {
      do {
        let owner = Owner()
        owner.parts = (0..<100).map { _ in Part() }
        store.insert(owner)
        for part in owner.parts { store.insert(part) }
        try store.saveChanges()
        #expect(owner.parts[7].owner === owner)
        store.delete(owner)
        try store.saveChanges()
        #expect(owner.parts.count == 100 && owner.parts[7].owner == nil)
      }
      #expect(Part.living.load(ordering: .relaxed) == 0)
    }
  }

  @Test("Deleted objects in cycles are freed without relationships, whenever each was deleted")
  func deleted() throws {
    let store = try openStore()
    do {
      let loops = insertRings(in: store)
      try store.saveChanges()
      for loop in loops { (loop.next, loop.others, loop.list) = (nil, [], []) }
      for loop in loops { loop.plain = [loops[0], loop] }
      store.delete(loops[3])
      try store.saveChanges()
      for loop in loops.reversed() { store.delete(loop) }
      try store.saveChanges()
    }
    #expect(Loop.count == 0)
  }

  @Test("A deleted object that is inserted again after the save keeps its references")
  func insertedAgain() throws {
    let store = try openStore()
    let (first, second) = (Loop(), Loop())
    first.next = second
    for loop in [first, second] { store.insert(loop) }
    try store.saveChanges()
    store.delete(first)
    try store.saveChanges()
    store.insert(first)
    #expect(first.next === second)
    try store.saveChanges()
    // Owner and parts, too: the inverse says the rest.
    let (owner, part) = (Owner(), Part())
    for object in [owner, part] { store.insert(object) }
    owner.parts = [part]
    try store.saveChanges()
    store.delete(owner)
    try store.saveChanges()
    store.insert(owner)
    store.insert(part)
    #expect(owner.parts == [part] && part.owner === owner)
    try store.saveChanges()
  }

  @Test("Objects that only refer to each other are freed with their store, and no others")
  func storeGone() throws {
    var (kept, copied): (Loop?, [Loop]) = (nil, [])
    do {
      let store = try openStore()
      store.undoManager = StoreUndoManager()
      let loops = insertRings(in: store)
      try store.saveChanges()
      loops[20].others.append(loops[0])
      // One ring in a variable, one in an array that a property shares.
      kept = loops[4]
      copied = loops[1].plain
    }
    #expect(Loop.count == 6)
    #expect(kept?.next?.next?.next === kept && kept?.helper === kept?.next)
    #expect(copied.count == 2)
    #expect(copied[1].next?.helper === copied[1].next?.next)
    for loop in [kept, copied[0]] {
      var next = loop
      while let loop = next {
        next = loop.next
        (loop.next, loop.others, loop.list, loop.helper, loop.plain) = (nil, [], [], nil, [])
      }
    }
  }

  @Test("Cycles of classes without relationships are freed by dissolveAllRelationships()")
  func dissolved() throws {
    let store = try openStore()
    do {
      let loops = insertRings(in: store)
      for loop in loops { (loop.helper, loop.plain) = (nil, []) }
    }
    try store.saveChanges()
    #expect(Loop.count == 30)
    store.dissolveAllRelationships()
    #expect(Loop.count == 0)
  }
}
