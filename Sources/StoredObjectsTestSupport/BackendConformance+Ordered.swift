import StoredObjectsCore

extension BackendConformance {
  static let ordered: [Check] = [
    .opened("An ordered table that was never written is empty, and reading does not create it") {
      backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      try expectEqual(try backend.keyCount(in: table, KeyRange()), 0, "count")
      try expectEqual(try backend.value(of: [1], in: table), nil, "a value")
      try expectEqual(try backend.keys(in: table), [], "the keys")
      try expectEqual(try backend.orderedTableNames(), [], "the tables that have keys")
    },
    .opened("Keys have the order of their bytes, whatever the bytes") { backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      let keys: [[UInt8]] = [
        [], [0], [0, 0], [0, 255], [1], [1, 0, 0], [127], [128], [254, 255], [255], [255, 255],
        [255, 255, 0], Array("é".utf8),
      ].sorted { $0.lexicographicallyPrecedes($1) }
      try backend.commit { changes in
        for key in keys.shuffled() { changes.set(key, to: key.reversed(), in: table) }
      }
      try expectEqual(try backend.keys(in: table).map(\.key), keys, "the keys")
      try expectEqual(
        try backend.keys(in: table, isReversed: true).map(\.key), keys.reversed(), "backwards")
      for key in keys {
        try expectEqual(try backend.value(of: key, in: table), key.reversed(), "a value")
        try expectEqual(try backend.value(of: key + [7], in: table), nil, "a key that is not there")
      }
    },
    .opened("A put writes a new or existing key, and a removal removes it") {
      backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .index))
      for round in 0..<UInt8(4) {
        try backend.commit {
          $0.set([5], to: Array(repeating: round, count: Int(round)), in: table)
        }
        try expectEqual(try backend.value(of: [5], in: table)?.count, Int(round), "the value")
        try expectEqual(try backend.keyCount(in: table, KeyRange()), 1, "count")
      }
      try backend.commit {
        $0.set([5], to: nil, in: table)
        $0.set([6], to: nil, in: table)
      }
      try expectEqual(try backend.keys(in: table), [], "the keys that are left")
      try expectEqual(try backend.orderedTableNames(), [], "the tables that have keys")
    },
    .opened("A summary has the counts of tables, the values of a key, and records") { backend in
      let table = try filledTable(backend, rows: 9)
      let count = try backend.recordCount(in: table)
      let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
      let index = try backend.orderedTable(OrderedTableName("Song", kind: .index))
      let none = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      let long = [UInt8](repeating: 7, count: 3000)
      try backend.commit { changes in
        changes.set([0], to: [1, 2], in: words)
        changes.set(long, to: [5], in: words)
        for key in [1, 2, 3] as [UInt8] { changes.set([key], to: [key], in: index) }
      }
      var batch = RecordBatch()
      let summary = try backend.summary(
        of: table, [words, none, index], valuesOf: [0], copying: [7, 4_000_000, 3],
        keysIn: [
          (index, KeyRange(from: [2], to: [9])), (words, KeyRange(from: [6], to: [8])),
          (none, .prefix([1])), (index, .prefix([3])), (index, KeyRange(from: [2])),
          (words, KeyRange(from: [7], to: long)), (words, KeyRange(from: long, to: long + [0])),
        ], to: &batch)
      let ordered = [
        TableSummary.Ordered(keyCount: 2, value: [1, 2]), .init(keyCount: 0, value: nil),
        .init(keyCount: 3, value: nil),
      ]
      let keys: [[[UInt8]]] = [[[2], [3]], [long], [], [[3]], [[2], [3]], [], [long]]
      try expectEqual(
        summary, TableSummary(recordCount: count, ordered: ordered, keys: keys), "the summary")
      try expectEqual(batch.records.map(\.rowID), [7, 3], "rows")
      let other = try backend.summary(
        of: table, [words], valuesOf: long, copying: [], keysIn: [], to: &batch)
      try expectEqual(other.ordered, [.init(keyCount: 2, value: [5])], "the value of a long key")
      try expectEqual(batch.count, 2, "records")
    },
    .opened("Of several changes to a key in one commit the last one counts") { backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      try backend.commit {
        for key in [3, 1, 2] as [UInt8] { $0.set([key], to: [key], in: table) }
        $0.set([1], to: nil, in: table)
        $0.set([2], to: [9], in: table)
        $0.set([1], to: [8], in: table)
        $0.set([3], to: nil, in: table)
      }
      try expectEqual(
        try backend.keys(in: table),
        [OrderedEntry(key: [1], value: [8]), OrderedEntry(key: [2], value: [9])], "the keys")
      try expectEqual(try backend.keyCount(in: table, KeyRange()), 2, "count")
    },
    .opened("A cleared table has only the keys of the same and later commits") { backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .index))
      for round in 0..<3 {
        try backend.commit { for key in 0..<UInt8(200) { $0.set([key, 1], to: [], in: table) } }
        try backend.commit {
          $0.clear(table)
          if round > 0 { $0.set([9], to: [1], in: table) }
        }
        try expectEqual(
          try backend.keyCount(in: table, KeyRange()), round > 0 ? 1 : 0, "count, cleared")
        try backend.commit { $0.set([8, 1], to: [2], in: table) }
        try expectEqual(
          try backend.keys(in: table).map(\.key), round > 0 ? [[8, 1], [9]] : [[8, 1]], "the keys")
      }
    },
    .opened("Tables with one name and two kinds are different, and differ from a table of rows") {
      backend in
      let data = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      let index = try backend.orderedTable(OrderedTableName("Song", kind: .index))
      let rows = try backend.table(named: "Song")
      try backend.commit {
        $0.set([1], to: [1], in: data)
        $0.set([2], to: [2], in: index)
        $0.insert(2, in: rows, [3])
      }
      try expectEqual(try backend.keys(in: data).map(\.key), [[1]], "the data")
      try expectEqual(try backend.keys(in: index).map(\.key), [[2]], "the index")
      try expectEqual(try backend.records(in: rows), [2: [3]], "the rows")
      try expectEqual(try backend.tableNames(), ["Song"], "the tables of rows")
      try expectEqual(Set(try backend.orderedTableNames()).count, 2, "the ordered tables")
      try expectEqual(
        try backend.orderedTable(OrderedTableName("Song", kind: .data)), data, "asked again")
    },
    .opened("An ordered table without a name is refused with invalidName") { backend in
      try expectError(.invalidName, "an empty name") {
        _ = try backend.orderedTable(OrderedTableName("", kind: .data))
      }
    },
    .opened("A commit that throws changes no key") { backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      let rows = try backend.table(named: "Song")
      try backend.commit {
        $0.insert(2, in: rows, [1])
        $0.set([1], to: [1], in: table)
      }
      try expectError(.rowExists, "a second insert") {
        try backend.commit {
          $0.set([1], to: [2], in: table)
          $0.set([2], to: [2], in: table)
          $0.insert(2, in: rows, [2])
        }
      }
      try expectEqual(
        try backend.keys(in: table), [OrderedEntry(key: [1], value: [1])], "the keys")
    },
    .opened("A paused scan continues after its last key, with or without commits") { backend in
      try pauseScans(backend)
    },
    .opened("Keys and values of any size are kept") { backend in
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      let sizes = [0, 1, 127, 128, 300, 4_090, 4_096, 5_000, 70_000, 300_000]
      let entries = sizes.enumerated().flatMap { index, size in
        [
          OrderedEntry(key: pattern(size, seed: 1), value: [1]),
          OrderedEntry(key: [7, UInt8(index)], value: pattern(size, seed: 3)),
        ]
      }
      for entry in entries {
        try backend.commit { $0.set(entry.key, to: entry.value, in: table) }
      }
      for entry in entries {
        try expectEqual(try backend.value(of: entry.key, in: table), entry.value, "a value")
      }
      try expectEqual(try Set(backend.keys(in: table)), Set(entries), "all")
    },
    Check("Ordered tables equal a sorted dictionary, with commits and reopenings in between") {
      try compareWithModel($0)
    },
    Check("A closed backend throws closed from every call on ordered tables") { location in
      let backend = try location.open()
      let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
      try backend.commit { $0.set([1], to: [1], in: table) }
      try backend.close()
      let calls: [(String, () throws -> Void)] = [
        ("orderedTable", { _ = try backend.orderedTable(OrderedTableName("Song", kind: .data)) }),
        ("orderedTableNames", { _ = try backend.orderedTableNames() }),
        ("keyCount", { _ = try backend.keyCount(in: table, KeyRange()) }),
        ("withValue", { _ = try backend.value(of: [1], in: table) }),
        ("scanKeys", { _ = try backend.keys(in: table) }),
        ("commit", { try backend.commit { $0.set([2], to: [], in: table) } }),
      ]
      for (name, call) in calls { try expectError(.closed, name, call) }
    },
    .opened("Readers on other threads see the keys of complete commits") { backend in
      try readKeysDuringCommits(backend)
    },
  ]

  private static func pauseScans(_ backend: any StoreBackend) throws {
    let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
    let all = (0..<UInt16(1_500)).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
    try backend.commit { for key in all { $0.set(key, to: key, in: table) } }
    for isReversed in [false, true] {
      var range = KeyRange()
      var found: [[UInt8]] = []
      var (isDone, areAlike) = (false, true)
      while !isDone {
        var last: [UInt8] = []
        var count = 0
        isDone = try backend.scanKeys(of: table, range, isReversed: isReversed) { key, value in
          last = bytes(key)
          areAlike = areAlike && last.count == 2 && last == bytes(value)
          found.append(last)
          count += 1
          return count < 97 ? .next : .pause
        }
        try expect(areAlike, "a key and its value")
        if isReversed { range.to = last } else { range = KeyRange(after: last) }
        // A commit to keys that the scan has passed must not matter.
        try backend.commit { $0.set(last, to: isReversed ? last : nil, in: table) }
      }
      try expectEqual(
        found, isReversed ? rest(all).reversed() : all, "the keys of a scan in pieces")
    }
  }

  private static func bytes(_ span: RawSpan) -> [UInt8] {
    (0..<span.byteCount).map { Span<UInt8>(_bytes: span)[$0] }
  }

  /// Returns the keys that the first scan has left: it removed the last key of each piece.
  private static func rest(_ all: [[UInt8]]) -> [[UInt8]] {
    all.enumerated().filter { ($0.offset + 1) % 97 != 0 && $0.offset != all.count - 1 }
      .map(\.element)
  }

  private static func readKeysDuringCommits(_ backend: any StoreBackend) throws {
    let table = try backend.orderedTable(OrderedTableName("Song", kind: .data))
    @Sendable func write(_ number: UInt8) throws {
      try backend.commit { changes in
        // All 100 keys move, and the value says where to.
        for key in 0..<UInt8(100) {
          changes.set([number &- 1, key], to: nil, in: table)
          changes.set([number, key], to: Array(repeating: number, count: 200), in: table)
        }
      }
    }
    try write(0)
    let writer = { @Sendable () throws -> Void in
      for number in 1..<300 { try write(UInt8(number & 255)) }
    }
    let reader = { @Sendable () throws -> Void in
      for round in 0..<60 {
        let entries = try backend.keys(in: table, isReversed: round % 2 == 0)
        try expectEqual(entries.count, 100, "keys in a scan")
        let numbers = Set(entries.map { $0.key[0] } + entries.flatMap(\.value))
        try expectEqual(numbers.count, 1, "commits in a scan")
        try expectEqual(try backend.keyCount(in: table, KeyRange()), 100, "count")
      }
    }
    try runOnThreads([writer, reader, reader])
  }
}
