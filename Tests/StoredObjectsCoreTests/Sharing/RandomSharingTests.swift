import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Random operations of two stores")
struct RandomSharingTests {
  @Test(
    """
    After random edits of relationships by two stores, with undo and named buffers and rare \
    merges, both sides agree on disk, all references are valid, and both stores can save
    """, arguments: [0, 5, 50])
  func relationships(merging: Int) throws {
    var random = Seeds.generator(for: "RandomSharingTests \(merging)")
    for _ in 0..<25 {
      var run = try SharingRun(random.next(), merging: merging)
      for _ in 0..<150 { try run.step() }
      try run.finish()
    }
  }

  @Test("No update of objects or named buffers is lost, however seldom stores merge")
  func counters() throws {
    var random = Seeds.generator(for: "RandomSharingTests counters")
    for _ in 0..<40 {
      var run = try CounterRun(random.next())
      for _ in 0..<150 { try run.step() }
      try run.finish()
    }
  }
}

private struct SharingRun {
  private let backend: any StoreBackend
  private var stores: [Store]
  private var random: SeededGenerator
  /// How often of a hundred steps a store merges.
  private let merging: Int
  private var saves = 0
  private var conflicts = 0

  init(_ seed: UInt64, merging: Int) throws {
    random = SeededGenerator(seed: seed)
    self.merging = merging
    stores = [try linkedStore(MemoryDisk())]
    backend = stores[0].backend
    stores.append(try Self.open(backend))
    for store in stores { store.undoManager = StoreUndoManager() }
  }

  private static func open(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    return store
  }

  private mutating func chance(_ number: Int) -> Int {
    Int.random(in: 0..<number, using: &random)
  }

  mutating func step() throws {
    let store = stores[chance(2)]
    if chance(100) < merging { store.mergeChanges() }
    switch chance(20) {
    case 0..<12: try edit(store)
    case 12: try takeBack(store)
    case 13:
      let text = "\(chance(1000))"
      try store.setBuffer(named: "b\(chance(3))") { $0.write(text) }
    case 14: store.discardChanges()
    default: try save(store)
    }
    #expect(store.fetchFailures.isEmpty)
  }

  mutating func finish() throws {
    for store in stores { try save(store) }
    for store in stores {
      store.mergeChanges()
      #expect(try Self.lines(store) == Self.lines(Self.open(backend)))
      store.dissolveAllRelationships()
    }
  }

  // MARK: Saving

  private mutating func save(_ store: Store) throws {
    do {
      try store.saveChanges()
    } catch {
      guard error.code == .conflict else { throw error }
      conflicts += 1
      // Trying again, and merging, changes nothing.
      if chance(2) == 0 { store.mergeChanges() }
      expectStoreError(.conflict) { try store.saveChanges() }
      if chance(2) == 0 { store.discardChanges() } else { store.keepConflictingChanges() }
      try store.saveChanges()
    }
    saves += 1
    try expectSound()
  }

  private func expectSound() throws {
    let store = try Self.open(backend)
    #expect(try store.check().findings == [])
    let tunes = try store.allObjects(of: Tune.self)
    for list in try store.allObjects(of: TuneList.self) {
      for tune in tunes {
        #expect(list.tunes.count { $0 === tune } == tune.lists.count { $0 === list })
      }
    }
    for disc in try store.allObjects(of: Disc.self) {
      for tune in tunes { #expect((tune.disc === disc) == disc.tunes.contains(tune)) }
      if let sleeve = disc.sleeve { #expect(sleeve.disc === disc) }
    }
    for sleeve in try store.allObjects(of: Sleeve.self) {
      if let disc = sleeve.disc { #expect(disc.sleeve === sleeve) }
    }
    for branch in try store.allObjects(of: Branch.self) {
      #expect(branch.children.allSatisfy { $0.parent === branch })
      if let parent = branch.parent { #expect(parent.children.contains(branch)) }
    }
    store.dissolveAllRelationships()
  }

  private static func lines(_ store: Store) throws -> [String] {
    var lines: [String] = []
    for tune in try store.allObjects(of: Tune.self) {
      lines.append("\(tune.rowID) \(tune.name) \(tune.lists.map(\.rowID)) \(tune.disc?.rowID ?? 0)")
    }
    for list in try store.allObjects(of: TuneList.self) {
      lines.append("list \(list.rowID) \(list.name) \(list.tunes.map(\.rowID))")
    }
    for disc in try store.allObjects(of: Disc.self) {
      lines.append(
        """
        disc \(disc.rowID) \(disc.tunes.map(\.rowID)) \(disc.favourites.map(\.rowID)) \
        \(disc.sleeve?.rowID ?? 0)
        """)
    }
    return lines
  }

  // MARK: Editing

  private mutating func takeBack(_ store: Store) throws {
    do {
      if chance(3) == 0 { try store.undoManager?.redo() } else { try store.undoManager?.undo() }
    } catch {
      guard error.code == .conflict else { throw error }
      store.undoManager?.removeAllActions()
    }
  }

  private mutating func edit(_ store: Store) throws {
    let tunes = try store.allObjects(of: Tune.self)
    let lists = try store.allObjects(of: TuneList.self)
    let discs = try store.allObjects(of: Disc.self)
    let branches = try store.allObjects(of: Branch.self)
    guard let tune = tunes.randomElement(using: &random),
      let list = lists.randomElement(using: &random),
      let disc = discs.randomElement(using: &random),
      let branch = branches.randomElement(using: &random)
    else { return insertAll(store) }
    switch chance(16) {
    case 0: store.insert(Tune("\(chance(100))"))
    case 1: store.insert(TuneList("\(chance(100))", [tune]))
    case 2: store.insert(Disc())
    case 3: store.insert(Branch())
    case 4: if tunes.count > 3 { store.delete(tune) }
    case 5: if lists.count > 2 { store.delete(list) }
    case 6: if discs.count > 2 { store.delete(disc) }
    case 7: if branches.count > 3 { store.delete(branch) }
    case 8: list.tunes.append(tune)
    case 9: list.tunes = tunes.filter { _ in Bool.random(using: &random) }
    case 10: tune.lists = lists.filter { _ in Bool.random(using: &random) }
    case 11: tune.disc = chance(3) == 0 ? nil : disc
    case 12: disc.favourites = tunes.filter { _ in Bool.random(using: &random) }
    case 13: branch.parent = branches.randomElement(using: &random)
    case 14:
      let sleeve = Sleeve()
      store.insert(sleeve)
      disc.sleeve = sleeve
    default: tune.name += "+"
    }
  }

  private func insertAll(_ store: Store) {
    for number in 0..<4 {
      store.insert(Tune("\(number)"))
      store.insert(TuneList("\(number)"))
      store.insert(Disc())
      store.insert(Branch())
    }
  }
}

/// Counters in objects and in named buffers, that two stores raise.
private struct CounterRun {
  private let backend: any StoreBackend
  private let stores: [Store]
  private var held: [[Tune]] = [[], []]
  private var random: SeededGenerator
  /// The unsaved increments of a store, by counter; those below 0 are buffers.
  private var raised: [[Int: Int]] = [[:], [:]]
  private var saved: [Int: Int] = [:]

  init(_ seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    let first = try linkedStore(MemoryDisk())
    let second = Store(backend: first.backend)
    try second.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    (stores, backend) = ([first, second], first.backend)
    for _ in 0..<3 { first.insert(Tune("0")) }
    try first.saveChanges()
  }

  private mutating func chance(_ number: Int) -> Int {
    Int.random(in: 0..<number, using: &random)
  }

  private func count(_ name: String, in store: Store) throws -> Int {
    var buffer = try store.buffer(named: name)
    return Int(try buffer?.readInt64() ?? 0)
  }

  mutating func step() throws {
    let number = chance(2)
    let store = stores[number]
    switch chance(10) {
    case 0..<3:
      let row = 2 + chance(3)
      let tune = try #require(try store.object(Tune.self, rowID: UInt32(row)))
      if chance(2) == 0 { held[number].append(tune) }
      tune.name = "\((Int(tune.name) ?? 0) + 1)"
      raised[number][row, default: 0] += 1
    case 3..<6:
      let name = -1 - chance(3)
      let count = Int64(try count("\(name)", in: store) + 1)
      try store.setBuffer(named: "\(name)") { $0.write(count) }
      raised[number][name, default: 0] += 1
    case 6: held[number].removeAll()
    case 7: if chance(4) == 0 { store.mergeChanges() }
    default: try save(number)
    }
  }

  private mutating func save(_ number: Int) throws {
    do {
      try stores[number].saveChanges()
      saved.merge(raised[number], uniquingKeysWith: +)
    } catch {
      guard error.code == .conflict else { throw error }
      stores[number].discardChanges()
    }
    raised[number] = [:]
    try expectSaved()
  }

  private func expectSaved() throws {
    let store = Store(backend: backend)
    try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    for tune in try store.allObjects(of: Tune.self) {
      #expect(Int(tune.name) == saved[Int(tune.rowID)] ?? 0)
    }
    for name in -3 ... -1 { #expect(try count("\(name)", in: store) == saved[name] ?? 0) }
  }

  mutating func finish() throws {
    for number in 0..<2 { try save(number) }
    #expect(saved.values.reduce(0, +) > 0)
  }
}
