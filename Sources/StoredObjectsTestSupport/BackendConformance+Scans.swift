import StoredObjectsCore

extension BackendConformance {
  static let scans: [Check] = [
    .opened("A scan lends each record once, with its row") { backend in
      let table = try filledTable(backend, rows: 1_000)
      var (rows, sizes): ([UInt32], [Int]) = ([], [])
      let end = try backend.scan(table, from: nil) { rowID, record in
        rows.append(rowID)
        sizes.append(record.byteCount)
        return .next
      }
      try expectFinished(end)
      try expectEqual(sizes, rows.map { Int($0 % 7) }, "bytes of rows \(rows)")
      try expectEqual(rows.sorted(), Array(1...1_000), "the rows")
    },
    .opened("A scan of an empty table ends at once") { backend in
      var rows: [UInt32] = []
      let end = try backend.scan(try backend.table(named: "Song"), from: nil) { rowID, _ in
        rows.append(rowID)
        return .next
      }
      try expectFinished(end)
      try expectEqual(rows, [], "rows of an empty table")
    },
    .opened("A scan can be paused at every record and continues after it") { backend in
      let table = try filledTable(backend, rows: 300)
      var walk = Walk(table)
      var rows: [UInt32] = []
      while let rowID = try walk.next(backend) { rows.append(rowID) }
      try expectEqual(rows.count, 300, "number of records")
      try expectEqual(rows.sorted(), Array(1...300), "the rows")
    },
    .opened("A scan can be continued twice from the same position") { backend in
      let table = try filledTable(backend, rows: 50)
      var walk = Walk(table)
      for _ in 0..<20 { _ = try walk.next(backend) }
      var (first, second) = (walk, walk)
      var rows: [[UInt32]] = [[], []]
      while let rowID = try first.next(backend) { rows[0].append(rowID) }
      while let rowID = try second.next(backend) { rows[1].append(rowID) }
      try expectEqual(rows[0].count, 30, "records after the twentieth")
      try expectEqual(rows[0], rows[1], "the rest, read twice")
    },
    .opened("Scans nest: an inner one does not move an outer one") { backend in
      let table = try filledTable(backend, rows: 30)
      let other = try backend.table(named: "Other")
      try backend.commit { $0.insert(2, in: other, [1]) }
      var outer = Walk(table)
      var rows: [UInt32] = []
      while let rowID = try outer.next(backend) {
        rows.append(rowID)
        try expectEqual(try backend.records(in: table).count, 30, "an inner scan")
        try expectEqual(try backend.records(in: other).count, 1, "an inner scan elsewhere")
      }
      try expectEqual(rows.sorted(), Array(1...30), "the outer scan")
    },
    .opened("Scans can be ended at any point") { backend in
      let table = try filledTable(backend, rows: 100)
      for steps in 0..<100 {
        var walk = Walk(table)
        for _ in 0..<steps { _ = try walk.next(backend) }
      }
      try backend.commit { $0.delete(1, in: table) }
      try expectEqual(try backend.records(in: table).count, 99, "a scan after them all")
    },
    .opened("Records can be looked up between two steps of a scan") { backend in
      let table = try filledTable(backend, rows: 40)
      var walk = Walk(table)
      var count = 0
      while let rowID = try walk.next(backend) {
        count += 1
        for row in [rowID, 41 - rowID, 1] {
          try expectEqual(
            try backend.record(row, in: table)?.count, Int(row % 7), "bytes of row \(row)")
        }
        try expectEqual(try backend.recordCount(in: table), 40, "count")
      }
      try expectEqual(count, 40, "number of records")
    },
    .opened("A commit to the table disturbs a scan, which then lends nothing") { backend in
      try disturbScans(backend)
    },
    .opened("A commit to another table, or to names only, does not disturb a scan") { backend in
      let table = try filledTable(backend, rows: 40)
      let other = try backend.table(named: "Other")
      var walk = Walk(table)
      var rows: [UInt32] = []
      while let rowID = try walk.next(backend) {
        rows.append(rowID)
        try backend.commit { $0.insert(rowID, in: other, [1]) }
        try backend.commit { $0.set("Name", [UInt8(rowID)]) }
      }
      try expectEqual(rows.sorted(), Array(1...40), "the rows")
      try expectEqual(try backend.recordCount(in: other), 40, "rows of the other table")
    },
  ]

  private static func disturbScans(_ backend: any StoreBackend) throws {
    let table = try filledTable(backend, rows: 20)
    let edits: [(inout ChangeSetBuilder) -> Void] = [
      { $0.insert(100, in: table, [1]) }, { $0.update(5, in: table, [2, 2]) },
      { $0.delete(6, in: table) }, { $0.update(1, in: table, [9]) },
    ]
    for edit in edits {
      var walk = Walk(table)
      for _ in 0..<10 { _ = try walk.next(backend) }
      try backend.commit(edit)
      for _ in 0..<2 {
        var rows: [UInt32] = []
        let end = try backend.scan(table, from: walk.position) { rowID, _ in
          rows.append(rowID)
          return .next
        }
        try expectEqual(rows, [], "rows that a disturbed scan lends")
        guard case .disturbed = end else {
          throw ConformanceFailure("\(end) instead of disturbed", #fileID, #line)
        }
      }
      var again = Walk(table)
      var count = 0
      while try again.next(backend) != nil { count += 1 }
      try expectEqual(count, try backend.recordCount(in: table), "a scan from the beginning")
    }
  }

  /// Returns a table "Song" with rows from 1, whose records have `row % 7` bytes.
  static func filledTable(_ backend: any StoreBackend, rows: UInt32) throws -> TableID {
    let table = try backend.table(named: "Song")
    try backend.commit { changes in
      for row in 1...rows {
        changes.insert(row, in: table, pattern(Int(row % 7), seed: UInt8(row & 255)))
      }
    }
    return table
  }

  static func expectFinished(_ end: ScanEnd, line: UInt = #line) throws {
    guard case .finished = end else {
      throw ConformanceFailure("\(end) instead of finished", #fileID, line)
    }
  }
}

/// A scan that pauses at every record.
struct Walk {
  let table: TableID
  private(set) var position: ScanPosition?
  private var isFinished = false

  init(_ table: TableID) { self.table = table }

  /// Returns the row of the next record, or nil at the end.
  mutating func next(_ backend: any StoreBackend) throws -> UInt32? {
    if isFinished { return nil }
    var found: [UInt32] = []
    let end = try backend.scan(table, from: position) { rowID, _ in
      found.append(rowID)
      return .pause
    }
    try expect(found.count <= 1, "rows \(found) come after a pause")
    switch end {
    case .paused(let next): position = next
    case .finished: isFinished = true
    case .disturbed: throw ConformanceFailure("disturbed without a commit", #fileID, #line)
    }
    return found.first
  }
}
