import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Pending keys of an ordered table")
struct PendingKeysTests {
  private static let table = OrderedTableID(index: 0)

  /// Pending keys, and what they should contain.
  private struct Pair {
    var keys = PendingKeys(fileGeneration: 0)
    var model: [[UInt8]: [UInt8]] = [:]
    var last: UInt32 = 0
    private var isFolding = false

    /// Begins to fold; only one fold runs at a time.
    mutating func fold() {
      if isFolding { return }
      (keys, isFolding) = (PendingKeys(over: keys, 1), true)
    }

    /// Saves keys, and marks some of the new ones as such.
    mutating func save(
      _ numbers: [UInt32], value: UInt8?, clearsFirst: Bool = false, isLarge: Bool = false
    ) throws {
      var changes = ChangeSet()
      // Bytes of records that come before the keys.
      changes.bytes = [UInt8](repeating: 255, count: Int(numbers[0] % 7))
      if clearsFirst {
        changes.clear(PendingKeysTests.table)
        model = [:]
      }
      for number in numbers {
        let key = PendingKeysTests.key(number)
        if let value, model[key] == nil, !clearsFirst, value % 2 == 0 {
          changes.setNew(key, to: [value], in: PendingKeysTests.table)
        } else {
          changes.set(key, to: value.map { [$0] }, in: PendingKeysTests.table)
        }
        model[key] = value.map { [$0] }
        last = max(last, number)
      }
      let save = changes.ordered[0]
      if isLarge { return try keys.addLarge(save, changes.bytes, over: nil) }
      let presence = try keys.presence(of: save, changes.bytes, over: nil)
      keys.add(save, changes.bytes, presence: presence)
    }

    /// Appends a new key as a history does.
    mutating func append(_ number: UInt32, value: UInt8) {
      let key = PendingKeysTests.key(number)
      keys.append(key + [value], keyCount: key.count)
      (model[key], last) = ([value], max(last, number))
    }

    func check(_ location: SourceLocation = #_sourceLocation) throws {
      let view = keys.view(over: nil)
      var found: [[UInt8]: [UInt8]] = [:]
      _ = try view.scan(KeyRange()) { key, value in
        found[[UInt8](copying: key)] = [UInt8](copying: value)
        return .next
      }
      let isSame = found == model
      #expect(isSame, sourceLocation: location)
      #expect(try view.count(in: KeyRange()) == model.count, sourceLocation: location)
      let middle = KeyRange(
        from: PendingKeysTests.key(last / 4), to: PendingKeysTests.key(last / 2))
      let wanted = model.keys.filter { middle.contains($0) }
      #expect(try view.count(in: middle) == wanted.count, sourceLocation: location)
      for isReversed in [false, true] {
        var keys: [[UInt8]] = []
        _ = try view.scan(middle, isReversed: isReversed) { key, _ in
          keys.append([UInt8](copying: key))
          return .next
        }
        let sorted = wanted.sorted { $0.lexicographicallyPrecedes($1) != isReversed }
        #expect(keys == sorted, sourceLocation: location)
      }
      for (key, value) in model.prefix(3) {
        let copy = try key.lend { key throws(StoreError) in
          try view.withValue(key) { [UInt8](copying: $0) }
        }
        #expect(copy == value, sourceLocation: location)
      }
    }
  }

  private static func key(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  @Test("Small and large saves, entries, reads and folds in any order equal a dictionary")
  func model() throws {
    var generator = Seeds.generator(for: "pending keys")
    for _ in 0..<20 {
      var pair = Pair()
      for _ in 0..<400 { try step(&pair, &generator) }
      try pair.check()
    }
  }

  private func step(_ pair: inout Pair, _ generator: inout SeededGenerator) throws {
    let value = UInt8.random(in: 0...255, using: &generator)
    func some(_ count: Int) -> [UInt32] {
      (0..<count).map { _ in .random(in: 0...pair.last, using: &generator) }
    }
    switch Int.random(in: 0..<40, using: &generator) {
    case 0: try pair.save(some(1), value: nil)
    case 1: try pair.save(some(1), value: value)
    case 2: try pair.save([pair.last + 1, pair.last + 2], value: value)
    case 3: try pair.save([pair.last + 1], value: value, clearsFirst: value < 20)
    case 4: try pair.save(some(20), value: value < 100 ? nil : value)
    case 5: try pair.check()
    case 6 where value < 60: pair.fold()
    case 7 where value < 60:
      try pair.save(some(30), value: value < 20 ? nil : value, isLarge: true)
    case 8..<23: pair.append(pair.last + .random(in: 1...3, using: &generator), value: value)
    default: try pair.save([pair.last + .random(in: 1...3, using: &generator)], value: value)
    }
  }

  @Test("Saves whose keys are counted at the end equal those that are counted one by one")
  func countedAtEnd() throws {
    var generator = Seeds.generator(for: "keys counted at the end")
    for _ in 0..<40 {
      let entries = stride(from: UInt32(0), to: 300, by: 2).map {
        OrderedEntry(key: Self.key($0), value: [1])
      }
      let file = try OrderedFile(bytes: MemorySink.file(entries))
      var (first, second) = (PendingKeys(fileGeneration: 0), PendingKeys(fileGeneration: 0))
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        let (save, isLarge) = randomSave(&generator)
        let changes = save.ordered[0]
        if isLarge {
          try first.addLarge(changes, save.bytes, over: .file(file))
          try second.addLarge(changes, save.bytes, over: .file(file))
        } else {
          let presence = try first.presence(of: changes, save.bytes, over: .file(file))
          first.add(changes, save.bytes, presence: presence)
          second.addUncounted(changes, save.bytes)
        }
      }
      try second.count(over: .file(file))
      let (wanted, found) = (first.view(over: .file(file)), second.view(over: .file(file)))
      for start in stride(from: UInt32(0), to: 320, by: 16) {
        let range = KeyRange(from: Self.key(start), to: Self.key(start + 20))
        #expect(try found.count(in: range) == wanted.count(in: range))
      }
      #expect(try found.count(in: KeyRange()) == contents(wanted).count)
      #expect(try contents(found) == contents(wanted))
      #expect(found.hasRemovals == wanted.hasRemovals)
    }
  }

  @Test("Megabytes of saves whose keys are counted at the end are merged")
  func countedInRuns() throws {
    var generator = Seeds.generator(for: "runs of keys counted at the end")
    let entries = stride(from: UInt32(0), to: 400, by: 2).map {
      OrderedEntry(key: Self.key($0), value: [1])
    }
    let file = try OrderedFile(bytes: MemorySink.file(entries))
    var keys = PendingKeys(fileGeneration: 0)
    var model = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
    for number in 0..<1_500 {
      var changes = ChangeSet()
      let key = Self.key(.random(in: 0..<500, using: &generator))
      let isRemoval = Int.random(in: 0..<4, using: &generator) == 0
      let value = [UInt8](repeating: UInt8(number % 251), count: isRemoval ? 0 : 20_000)
      changes.set(key, to: isRemoval ? nil : value, in: Self.table)
      model[key] = isRemoval ? nil : value
      keys.addUncounted(changes.ordered[0], changes.bytes)
      // Recovery counts in between only before a large save.
      if number == 900 { try keys.count(over: .file(file)) }
    }
    try keys.count(over: .file(file))
    let view = keys.view(over: .file(file))
    let found = try contents(view)
    #expect(found.map(\.key) == model.keys.sorted { $0.lexicographicallyPrecedes($1) })
    #expect(found.allSatisfy { model[$0.key] == $0.value })
    #expect(try view.count(in: KeyRange()) == model.count)
    let range = KeyRange(from: Self.key(90), to: Self.key(410))
    #expect(try view.count(in: range) == model.keys.count { range.contains($0) })
  }

  /// Returns a save that puts and removes keys, of which the file has half.
  private func randomSave(_ generator: inout SeededGenerator) -> (ChangeSet, isLarge: Bool) {
    var changes = ChangeSet()
    if Int.random(in: 0..<40, using: &generator) == 0 { changes.clear(Self.table) }
    let isLarge = Int.random(in: 0..<12, using: &generator) == 0
    for _ in 0..<(isLarge ? 60 : Int.random(in: 1...5, using: &generator)) {
      let value = UInt8.random(in: 0...255, using: &generator)
      changes.set(
        Self.key(.random(in: 0..<310, using: &generator)), to: value < 120 ? nil : [value],
        in: Self.table)
    }
    return (changes, isLarge)
  }

  private func contents(_ view: OrderedView) throws -> [OrderedEntry] {
    var entries: [OrderedEntry] = []
    _ = try view.scan(KeyRange()) { key, value in
      entries.append(OrderedEntry(key: [UInt8](copying: key), value: [UInt8](copying: value)))
      return .next
    }
    return entries
  }

  @Test("A commit that was prepared before others sees them when it is added")
  func preparedEarly() throws {
    for clears in [false, true] {
      var keys = PendingKeys(fileGeneration: 0)
      var below = ChangeSet()
      below.set([1], to: [1], in: Self.table)
      keys.add(below.ordered[0], below.bytes, presence: [])
      keys = PendingKeys(over: keys, 1)
      var (first, second) = (ChangeSet(), ChangeSet())
      if clears { first.clear(Self.table) }
      first.set([2], to: [2], in: Self.table)
      for key in [1, 2, 3] as [UInt8] { second.set([key], to: [0], in: Self.table) }
      let saves = [first, second]
      let presence = try saves.map {
        try keys.presence(of: $0.ordered[0], $0.bytes, over: nil)
      }
      #expect(presence[1] == [true, false, false])
      for (save, presence) in zip(saves, presence) {
        keys.add(save.ordered[0], save.bytes, presence: presence)
      }
      #expect(try keys.view(over: nil).count(in: KeyRange()) == 3)
    }
  }

  @Test("A snapshot keeps its keys while later ones are appended")
  func snapshots() throws {
    var pair = Pair()
    var snapshots: [Pair] = []
    for number in 1...3_000 as ClosedRange<UInt32> {
      pair.append(number, value: UInt8(number % 251))
      if number % 211 == 0 { snapshots.append(pair) }
    }
    for snapshot in snapshots + [pair] { try snapshot.check() }
  }
}
