import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// An object that notes which steps have visited it.
private final class Item: StoredObject {
  /// The step that inserted it, from 1; 0 for one from before.
  @Content var origin: UInt32 = 0
  @Content var visits: [UInt32] = []
  @Content var next: Item?

  override class var layout: ClassLayout? {
    ClassLayout(
      Item.self,
      [
        StoredProperty("origin", UInt32.self), StoredProperty("visits", [UInt32].self),
        StoredProperty("next", Item?.self),
      ])
  }
  override class var indexes: [AttributeIndex] { [AttributeIndex("origin", \Item.origin)] }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(origin)
    buffer.write(visits)
    buffer.write(next)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    origin = try buffer.readUInt32()
    visits = try buffer.read()
    next = try buffer.readObject(of: Item.self)
  }
}

@Suite("Random migrations")
struct RandomMigrationTests {
  /// Steps that visit every object, delete some and insert others, by their rows.
  private func steps(_ count: Int, _ batchSizes: [Int]) -> [Migration] {
    (1...count).map { number in
      Migration("step \(number)") { migration in
        for pass in 0...number % 2 {
          try migration.forEach(Item.self, batchSize: batchSizes[number - 1]) { item, _ in
            guard pass == 0 else { return item.visits.append(100 + UInt32(number)) }
            item.visits.append(UInt32(number))
            if (item.rowID + UInt32(number)) % 7 == 0 {
              let new = Item()
              new.origin = UInt32(number)
              new.next = item
              migration.store.insert(new)
            }
          }
        }
      }
    }
  }

  /// The steps that an object has to be visited by.
  ///
  /// A second pass of a step sees what the first has inserted.
  private func expected(_ origin: UInt32, _ count: Int) -> [UInt32] {
    (1...UInt32(count)).flatMap { number -> [UInt32] in
      let second = number % 2 == 1 ? [100 + number] : []
      if number < origin { return [] }
      return number == origin ? second : [number] + second
    }
  }

  @Test(
    "Programs of several versions, killed at any commit, visit each object once per step",
    arguments: TestedBackend.usual)
  func chains(backend kind: TestedBackend) throws {
    var random = Seeds.generator(for: "migrations by chance, \(kind.rawValue)")
    for _ in 0..<8 { try run(kind, &random) }
  }

  private func run(_ kind: TestedBackend, _ random: inout SeededGenerator) throws {
    let count = Int.random(in: 1...5, using: &random)
    let batchSizes = (0..<count).map { _ in [1, 2, 5, 100].randomElement(using: &random) ?? 1 }
    let items = Int.random(in: 0...12, using: &random)
    try kind.withLocation { location in
      let first = try location.open(readOnly: false)
      let store = Store(backend: first)
      try store.register(Item.self)
      for _ in 0..<items { store.insert(Item()) }
      try store.saveChanges()
      try first.close()
      for known in [Int.random(in: 1...count, using: &random), count] {
        let steps = Array(steps(count, batchSizes).prefix(known))
        var isDone = false
        while !isDone {
          let backend = FailingBackend(try location.open(readOnly: false))
          backend.failCommits(after: .random(in: 1...9, using: &random), times: .max)
          do {
            try Store(backend: backend).migrate(steps, registering: [Item.self])
            isDone = true
          } catch let error as StoreError where error.code == .ioError {}
          try backend.close()
        }
      }
      let last = try location.open(readOnly: true)
      let reader = Store(backend: last)
      #expect(try reader.migrate(steps(count, batchSizes), registering: [Item.self]) == [])
      let found = try reader.allObjects(of: Item.self)
      #expect(found.count >= items)
      for item in found { #expect(item.visits == expected(item.origin, count)) }
      #expect(try reader.check().isSound)
      try last.close()
    }
  }

  @Test("A migration of 50,000 objects that refer to each other has one batch in memory")
  func boundedMemory() throws {
    let count = 50_000
    let backend = try MemoryBackend()
    do {
      let store = Store(backend: backend)
      try store.register(Link.self)
      var last: Link?
      for _ in 0..<count {
        let link = Link()
        link.other = last
        last?.other = link
        store.insert(link)
        last = link
      }
      try store.saveChanges()
      store.dissolveAllRelationships()
    }
    #expect(Link.living.withLock { $0 } == 0)
    let store = Store(backend: backend)
    var most = 0
    try store.migrate(
      [
        Migration("count") { migration in
          try migration.forEach(Link.self) { link, _ in
            link.number += 1 + (link.other?.number ?? 0) * 0
          }
        }
      ], registering: [Link.self]
    ) { _ in most = max(most, Link.living.withLock { $0 }) }
    #expect(most < 4000, "\(most) of \(count) objects were in memory")
    var sum = 0
    try store.enumerate(Link.self) { link, _ in sum += Int(link.number) }
    #expect(sum == count)
  }
}

/// An object that is counted while it is in memory.
private final class Link: StoredObject {
  static let living = Locked(0)
  @Content var number: UInt32 = 0
  @Content var other: Link?

  required init() {
    super.init()
    Self.living.withLock { $0 += 1 }
  }
  deinit { Self.living.withLock { $0 -= 1 } }

  override class var layout: ClassLayout? {
    ClassLayout(
      Link.self, [StoredProperty("number", UInt32.self), StoredProperty("other", Link?.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(other)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
    other = try buffer.readObject(of: Link.self)
  }
}
