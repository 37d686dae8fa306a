import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Runs of changes")
struct KeyRunTests {
  private static let keyKinds: [@Sendable (Int) -> [UInt8]] = [
    { Array("item \($0)".utf8) },
    // Keys that begin others, and differ behind their first eight bytes only.
    { [UInt8](repeating: 0, count: $0 % 23) + ($0 % 7 == 0 ? [] : [UInt8($0 % 251)]) },
    { Array("the same beginning of all \($0 * 7919 % 100_000)".utf8) },
  ]

  @Test("They equal a dictionary, however they are merged", arguments: [true, false])
  func model(_ isBottom: Bool) throws {
    var generator = Seeds.generator(for: "runs of changes")
    for makeKey in Self.keyKinds {
      var (runs, model) = (KeyRuns(), [[UInt8]: [UInt8]?]())
      for save in 0..<70 {
        let count = [1, 3, 40, 600, 1500].randomElement(using: &generator) ?? 1
        let run = self.run(save, count, makeKey, &model, &generator)
        runs.add(
          run.counted { key in runs.find(key).map { !$0.change.isRemoval } ?? false },
          isBottom: isBottom)
        #expect(runs.runs.count <= 32)
      }
      try compare(runs, model, isBottom: isBottom)
      try compareOnce(runs, model, isBottom: isBottom)
    }
  }

  private func run(
    _ save: Int, _ count: Int, _ makeKey: (Int) -> [UInt8], _ model: inout [[UInt8]: [UInt8]?],
    _ generator: inout SeededGenerator
  ) -> KeyRun {
    var changes = ChangeSet()
    let table = OrderedTableID(index: 0)
    for index in 0..<count {
      let key = makeKey(.random(in: 0..<4000, using: &generator))
      let value: [UInt8]? =
        Int.random(in: 0..<4, using: &generator) == 0
        ? nil : [UInt8(save), UInt8(truncatingIfNeeded: index)]
      changes.set(key, to: value, in: table)
      model[key] = .some(value)
    }
    return KeyRun(bytes: changes.bytes, changes.ordered.first?.changes ?? [])
  }

  /// Compares a fold with a scan, with a file below and without.
  private func compareOnce(
    _ runs: KeyRuns, _ model: [[UInt8]: [UInt8]?], isBottom: Bool
  ) throws {
    let below: [[UInt8]] = [[], [0, 0], Array("item 17".utf8), Array("zzz".utf8)]
    let sink = MemorySink()
    var writer = OrderedFileWriter(sink, codec: nil)
    for key in below { try key.lend { key in try writer.append(key, key) } }
    try writer.finish(isSynced: false)
    let file = try OrderedFile(MappedFile(copying: sink.bytes), codec: nil)
    for file in isBottom ? [nil] : [nil, file] {
      var wanted = model.compactMapValues { $0 }
      for key in file == nil ? [] : below where model[key] == nil { wanted[key] = key }
      var found: [Entry] = []
      try OrderedView(base: file.map { .file($0) }, runs: runs).scanOnce { key, value in
        found.append(Entry(key: [UInt8](copying: key), value: [UInt8](copying: value)))
      }
      let sorted = wanted.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      // Only whether, as what is compared is long.
      let isSame = found == sorted.map { Entry(key: $0.key, value: $0.value) }
      #expect(isSame)
    }
  }

  private struct Entry: Equatable {
    let key: [UInt8]
    let value: [UInt8]
  }

  private func compare(
    _ runs: KeyRuns, _ model: [[UInt8]: [UInt8]?], isBottom: Bool
  ) throws {
    let living = model.compactMapValues { $0 }
    for (key, value) in model {
      let found = key.lend { runs.find($0) }
      let foundValue = found.flatMap { found -> [UInt8]? in
        found.change.isRemoval ? nil : Array(found.bytes[found.change.value])
      }
      #expect(foundValue == value)
      // A removed key is kept if a file may have it.
      if !isBottom { #expect(found != nil) }
    }
    #expect(Array("nobody".utf8).lend { runs.find($0) } == nil)
    var keys: [[UInt8]] = []
    _ = try OrderedView(base: nil, runs: runs).scan(KeyRange()) { key, value in
      keys.append([UInt8](copying: key))
      return .next
    }
    #expect(keys == living.keys.sorted { $0.lexicographicallyPrecedes($1) })
    #expect(runs.growth(in: KeyRange()) == living.count)
    let middle = Array("item 2".utf8)
    #expect(
      runs.growth(in: KeyRange(from: middle))
        == living.keys.count { !$0.lexicographicallyPrecedes(middle) })
  }

  @Test("If there is no lower run and all keys are removed, nothing is kept")
  func emptied() {
    var runs = KeyRuns()
    for round in 0..<6 {
      var changes = ChangeSet()
      let table = OrderedTableID(index: 0)
      for key in 0..<UInt8(5) { changes.set([key], to: round % 3 < 2 ? [7] : nil, in: table) }
      let run = KeyRun(bytes: changes.bytes, changes.ordered[0].changes)
      runs.add(
        run.counted { key in runs.find(key).map { !$0.change.isRemoval } ?? false },
        isBottom: true)
      #expect(runs.isEmpty == (round % 3 == 2))
    }
  }

  @Test("A writer's knowledge of a key is used, moves with the change, and is not written")
  func knowledge() throws {
    let change = ChangeSet.KeyChange(putting: 7, keyCount: 2, valueCount: 3)
    #expect(change.wasThere == nil)
    for wasThere in [false, true] {
      let knowing = change.knowing(wasThere: wasThere)
      #expect(knowing.wasThere == wasThere)
      #expect((knowing.key, knowing.value) == (7..<9, 9..<12))
      let moved = knowing.moved(by: 93)
      #expect(moved.wasThere == wasThere)
      #expect((moved.key, moved.value) == (100..<102, 102..<105))
      let removal = ChangeSet.KeyChange(removing: 0, keyCount: 1).knowing(wasThere: wasThere)
      #expect(removal.isRemoval)
      let run = KeyRun(bytes: [65], [removal]).counted { _ in
        Issue.record("asked")
        return true
      }
      #expect(run.growth == [0, wasThere ? -1 : 0])
    }
    let known = ChangeSet(
      bytes: [1, 2],
      ordered: [
        .init(
          table: OrderedTableID(index: 0),
          changes: [.init(putting: 0, keyCount: 1, valueCount: 1).knowing(wasThere: true)])
      ])
    let index = known.encodedIndex(
      .example, tableName: { _ in "" }, orderedName: { _ in OrderedTableName("T", kind: .data) })
    let read = try ChangeSet(
      encoded: index + known.bytes, kind: .commit, table: { _ in TableID(index: 0) },
      orderedTable: { _ in OrderedTableID(index: 0) })
    #expect(read.ordered[0].changes[0].wasThere == nil)
    #expect(read.ordered[0].changes[0].key == 0..<1)
  }

  @Test("A filter matches every key that was added, and few others")
  func filter() {
    let keys = (0..<5000).map { Array("item \($0)".utf8).lend { $0.keyHash } }
    var filter = KeyFilter(count: 4000)
    for hash in keys[..<4000] { filter.insert(hash) }
    #expect(keys[..<4000].allSatisfy { filter.mayContain($0) })
    #expect(keys[4000...].count { filter.mayContain($0) } < 60)
  }

  @Test("Heads have the order of their keys")
  func heads() {
    let keys: [[UInt8]] = [
      [], [0], [0, 0], [1], [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8],
      [1, 2, 3, 4, 5, 6, 7, 8, 9], [255, 0], [255, 255, 255, 255, 255, 255, 255, 255, 1],
    ]
    for left in keys {
      for right in keys {
        let heads = (left.lend { $0.head }, right.lend { $0.head })
        if heads.0 < heads.1 { #expect(left.lexicographicallyPrecedes(right)) }
        if heads.0 > heads.1 { #expect(right.lexicographicallyPrecedes(left)) }
        // The same with other bytes after the key, and without any.
        let all = left + [9, 9, 9, 9, 9, 9, 9, 9]
        #expect(all.lend { $0.head(at: 0, count: left.count) } == heads.0)
      }
    }
  }
}
