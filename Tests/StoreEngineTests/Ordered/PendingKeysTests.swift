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
      (keys, isFolding) = (PendingKeys(over: keys), true)
    }

    /// Saves keys, and marks the new ones as such.
    mutating func save(_ numbers: [UInt32], value: UInt8?, clearsFirst: Bool = false) throws {
      var changes = ChangeSet()
      // Bytes of records that come before the keys.
      changes.bytes = [UInt8](repeating: 255, count: Int(numbers[0] % 7))
      if clearsFirst {
        changes.clear(PendingKeysTests.table)
        model = [:]
      }
      for number in numbers {
        let key = PendingKeysTests.key(number)
        if let value, model[key] == nil, !clearsFirst {
          changes.setNew(key, to: [value], in: PendingKeysTests.table)
        } else {
          changes.set(key, to: value.map { [$0] }, in: PendingKeysTests.table)
        }
        model[key] = value.map { [$0] }
        last = max(last, number)
      }
      try keys.add(changes.ordered[0], changes.bytes, over: nil)
    }

    /// Appends a new key as a history does, and merges runs if it is time.
    mutating func append(_ number: UInt32, value: UInt8) {
      let key = PendingKeysTests.key(number)
      if keys.append(key + [value], keyCount: key.count) { keys.mergeAppended(over: nil) }
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

  @Test("Appended keys, other changes, reads and folds in any order equal a dictionary")
  func model() throws {
    var generator = Seeds.generator(for: "pending keys")
    for _ in 0..<4 {
      var pair = Pair()
      for _ in 0..<400 { try step(&pair, &generator) }
      try pair.check()
    }
  }

  private func step(_ pair: inout Pair, _ generator: inout SeededGenerator) throws {
    let value = UInt8.random(in: 0...255, using: &generator)
    switch Int.random(in: 0..<40, using: &generator) {
    case 0: try pair.save([.random(in: 0...pair.last, using: &generator)], value: nil)
    case 1: try pair.save([.random(in: 0...pair.last, using: &generator)], value: value)
    case 2: try pair.save([pair.last + 1, pair.last + 2], value: value)
    case 3: try pair.save([pair.last + 1], value: value, clearsFirst: value < 20)
    case 4: pair.keys.prepareForReading()
    case 5: try pair.check()
    case 6 where value < 60: pair.fold()
    case 7..<23: pair.append(pair.last + .random(in: 1...3, using: &generator), value: value)
    default: try pair.save([pair.last + .random(in: 1...3, using: &generator)], value: value)
    }
  }

  @Test("Keys that are appended one by one make few runs, with and without readers between")
  func fewRuns() throws {
    for readsEach in [1, 3, 50, 5000] {
      var pair = Pair()
      for number in 1...4000 as ClosedRange<UInt32> {
        try pair.save([number], value: 7)
        if number % UInt32(readsEach) == 0 { pair.keys.prepareForReading() }
      }
      #expect(pair.keys.view(over: nil).runs.runs.count <= 32)
      try pair.check()
    }
  }

  @Test("Entries of a history make few runs, with and without readers between")
  func fewRunsOfEntries() throws {
    for readsEach in [1, 3, 50, 5000] {
      var pair = Pair()
      for number in 1...12_000 as ClosedRange<UInt32> {
        pair.append(number, value: 7)
        if number % UInt32(readsEach) == 0 { pair.keys.prepareForReading() }
      }
      #expect(pair.keys.view(over: nil).runs.runs.count <= 32)
      try pair.check()
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

  @Test("A key that is not above the last one, or may exist, is not taken as appended")
  func refusals() throws {
    var appended = AppendedKeys()
    func isTaken(_ key: UInt8, _ isNew: Bool, isRemoved: Bool = false) -> Bool {
      var changes = ChangeSet()
      if isNew {
        changes.setNew([key], to: [1], in: Self.table)
      } else {
        changes.set([key], to: isRemoved ? nil : [1], in: Self.table)
      }
      return appended.add(changes.ordered[0], changes.bytes)
    }
    #expect(!isTaken(5, false))
    #expect(isTaken(5, true))
    #expect(!isTaken(5, true))
    #expect(!isTaken(4, true))
    #expect(!isTaken(6, false, isRemoved: true))
    #expect(isTaken(6, true))
    for key in 7..<7 + UInt8(AppendedKeys.limit) - 2 { #expect(isTaken(key, true)) }
    #expect(appended.isFull)
    #expect(!isTaken(255, true))
    let run = appended.run()
    #expect(run.count == AppendedKeys.limit)
    #expect(run.growth(in: 0..<run.count) == AppendedKeys.limit)
  }
}
