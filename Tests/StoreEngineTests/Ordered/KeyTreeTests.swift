import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("The tree of pending changes")
struct KeyTreeTests {
  /// A tree, what it should contain, and the keys that exist below it.
  private struct Pair {
    var tree = KeyTree()
    var model: [[UInt8]: [UInt8]?] = [:]
    let below: Set<[UInt8]>

    mutating func set(_ key: [UInt8], to value: [UInt8]?) {
      var changes = ChangeSet()
      changes.bytes = [1, 2, 3]
      changes.set(key, to: value, in: OrderedTableID(index: 0))
      let isKnown = model[key] != nil
      tree.set(changes.ordered[0].changes[0], changes.bytes) {
        #expect(!isKnown, "the tree knows the key, and asks")
        return below.contains(key)
      }
      // A key that was never below leaves no trace.
      if value == nil && !below.contains(key) {
        model[key] = nil
      } else {
        model[key] = .some(value)
      }
    }

    func growth(in range: KeyRange) -> Int {
      model.reduce(0) { sum, one in
        guard range.contains(one.key) else { return sum }
        return sum + (one.value == nil ? 0 : 1) - (below.contains(one.key) ? 1 : 0)
      }
    }

    func check(_ range: KeyRange, _ location: SourceLocation = #_sourceLocation) throws {
      let wanted = model.filter { range.contains($0.key) }
        .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      for isReversed in [false, true] {
        var found: [([UInt8], [UInt8]?)] = []
        var cursor = KeyTreeCursor(tree, range, isReversed: isReversed)
        while let (bytes, change) = cursor.next {
          let value = change.isRemoval ? nil : Array(bytes[change.value])
          found.append((Array(bytes[change.key]), value))
          try cursor.advance()
        }
        if isReversed { found.reverse() }
        let areKeysSame = found.map(\.0) == wanted.map(\.key)
        let areValuesSame = found.map(\.1) == wanted.map(\.value)
        #expect(areKeysSame && areValuesSame, sourceLocation: location)
      }
      #expect(tree.growth(in: range) == growth(in: range), sourceLocation: location)
    }
  }

  private static let keyKinds: [@Sendable (Int) -> [UInt8]] = [
    { Array("item \($0)".utf8) },
    // Keys that begin others, and differ only behind 16 bytes.
    { [UInt8](repeating: 0, count: $0 % 37) + ($0 % 7 == 0 ? [] : [UInt8($0 % 251)]) },
    { Array("the same beginning of all \($0 * 7919 % 100_000)".utf8) },
  ]

  @Test("It equals a dictionary, as its copies equal the dictionary of their time")
  func model() throws {
    var generator = Seeds.generator(for: "tree of changes")
    for makeKey in Self.keyKinds {
      for size in [3, 60, 700, 9000] {
        let below = Set((0..<size).filter { _ in Bool.random(using: &generator) }.map(makeKey))
        var pair = Pair(below: below)
        var copies: [Pair] = []
        for step in 0..<min(3000, size * 4) {
          let key = makeKey(.random(in: 0..<size, using: &generator))
          let isRemoval = Int.random(in: 0..<10, using: &generator) < (step / 500 % 2 == 0 ? 2 : 7)
          pair.set(key, to: isRemoval ? nil : [UInt8(truncatingIfNeeded: step)])
          if step % 999 == 0 { copies.append(pair) }
        }
        for one in copies + [pair] {
          try one.check(KeyRange())
          for _ in 0..<3 {
            let bounds = [makeKey(.random(in: 0..<size, using: &generator)), makeKey(size / 2)]
              .sorted { $0.lexicographicallyPrecedes($1) }
            try one.check(KeyRange(from: bounds[0], to: bounds[1]))
            try one.check(KeyRange(from: bounds[0]))
          }
        }
        checkLookUps(pair)
        checkRun(pair)
      }
    }
  }

  private func checkLookUps(_ pair: Pair) {
    for (key, value) in pair.model {
      let found = key.lend { pair.tree.find($0) }
      let foundValue = found.map { $0.change.isRemoval ? nil : Array($0.bytes[$0.change.value]) }
      #expect(foundValue == .some(value))
    }
    #expect(Array("nobody".utf8).lend { pair.tree.find($0) } == nil)
    let first = pair.model.keys.min { $0.lexicographicallyPrecedes($1) }
    #expect(pair.tree.firstKey == first)
    #expect(pair.tree.hasRemovals == pair.model.values.contains { $0 == nil })
  }

  private func checkRun(_ pair: Pair) {
    let run = pair.tree.run()
    #expect(run.count == pair.model.count)
    #expect(run.growth(in: 0..<run.count) == pair.growth(in: KeyRange()))
    for change in run.changes {
      let key = Array(run.bytes[change.key])
      #expect(pair.model[key] == .some(change.isRemoval ? nil : Array(run.bytes[change.value])))
    }
  }

  @Test("Keys that grow from save to save fill their leaves and branches")
  func appended() throws {
    var pair = Pair(below: [])
    let count = KeyTree.limit * KeyTree.limit * 2 + 5
    for number in 0..<count {
      pair.set((0..<3).map { UInt8(truncatingIfNeeded: number >> (16 - 8 * $0)) }, to: [7])
    }
    #expect(pair.tree.branches.map(\.leaves.count) == [KeyTree.limit, KeyTree.limit, 1])
    try pair.check(KeyRange())
  }

  @Test("All that was added can be removed, from either end and from the middle")
  func emptied() throws {
    var generator = Seeds.generator(for: "emptied tree")
    let keys = (0..<5000).map { Array("key \(100_000 + $0)".utf8) }
    for order in [keys, keys.reversed(), keys.shuffled(using: &generator)] {
      var pair = Pair(below: [])
      for key in keys.shuffled(using: &generator) { pair.set(key, to: []) }
      for key in order.dropLast(100) { pair.set(key, to: nil) }
      try pair.check(KeyRange())
      for key in order.suffix(100) { pair.set(key, to: nil) }
      #expect(pair.tree.isEmpty && pair.tree.growth == 0)
    }
  }
}
