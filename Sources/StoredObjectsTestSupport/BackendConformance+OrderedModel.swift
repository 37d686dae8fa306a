import StoredObjectsCore

extension BackendConformance {
  /// Compares random commits, small and large, with a dictionary.
  static func compareWithModel(_ location: any BackendLocation) throws {
    var generator = Seeds.generator(for: "ordered tables")
    var model: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<4 {
      try withBackend(location) { backend in
        let table = try backend.orderedTable(OrderedTableName("Words", kind: .data))
        try expectSame(backend, table, model, &generator)
        for _ in 0..<8 {
          try backend.commit { changes in
            // Some commits are so large that they bypass the log.
            let isLarge = Int.random(in: 0..<12, using: &generator) == 0
            if Int.random(in: 0..<25, using: &generator) == 0 {
              changes.clear(table)
              model = [:]
            }
            for _ in 0..<(isLarge ? 5_000 : Int.random(in: 1...300, using: &generator)) {
              let key = randomKey(&generator)
              let isRemoval = Int.random(in: 0..<3, using: &generator) == 0
              let size = isLarge ? 120 : Int.random(in: 0...30, using: &generator)
              let value = isRemoval ? nil : pattern(size, seed: 5)
              changes.set(key, to: value, in: table)
              model[key] = value
            }
          }
          try expectSame(backend, table, model, &generator)
        }
      }
    }
  }

  /// Returns a key that is a prefix of others, or shares one with them.
  private static func randomKey(_ generator: inout SeededGenerator) -> [UInt8] {
    let words = [[], Array("Song ".utf8), Array("Songs about ".utf8), [0], [255, 255]]
    let count = Int.random(in: 0...3, using: &generator)
    return words[Int.random(in: 0..<words.count, using: &generator)]
      + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  private static func expectSame(
    _ backend: any StoreBackend, _ table: OrderedTableID, _ model: [[UInt8]: [UInt8]],
    _ generator: inout SeededGenerator
  ) throws {
    let expected = model.map { OrderedEntry(key: $0, value: $1) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    try expect(try backend.keys(in: table) == expected, "the keys are not those of the model")
    try expect(
      try backend.keys(in: table, isReversed: true) == expected.reversed(), "nor backwards")
    for _ in 0..<10 {
      var range = KeyRange(
        from: randomKey(&generator),
        to: Bool.random(using: &generator) ? nil : randomKey(&generator))
      if Int.random(in: 0..<4, using: &generator) == 0 { range = .prefix(randomKey(&generator)) }
      let part = expected.filter { range.contains($0.key) }
      let isReversed = Bool.random(using: &generator)
      try expect(
        try backend.keys(in: table, range, isReversed: isReversed)
          == (isReversed ? part.reversed() : part), "the keys from \(range)")
      try expectEqual(try backend.keyCount(in: table, range), part.count, "count of \(range)")
      let key = randomKey(&generator)
      try expectEqual(try backend.value(of: key, in: table), model[key], "the value of \(key)")
    }
  }
}
