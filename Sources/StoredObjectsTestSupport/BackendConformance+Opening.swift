import StoredObjectsCore

extension BackendConformance {
  static let opening: [Check] = [
    Check("Committed data is there when the store is opened again") { location in
      try reopenManyTimes(location)
    },
    Check("A backend opened for reading reads, and refuses commits with readOnly") { location in
      try withBackend(location) { backend in
        _ = try filledTable(backend, rows: 5)
        try backend.commit { $0.set("Name", [1]) }
        try expect(!backend.isReadOnly, "a backend opened for writing says that it is read-only")
      }
      try withBackend(location, readOnly: true) { backend in
        try expect(backend.isReadOnly, "isReadOnly is false")
        let table = try backend.table(named: "Song")
        let before = try backend.records(in: table)
        try expectEqual(before.count, 5, "records")
        try expectError(.readOnly, "a commit") {
          try backend.commit {
            $0.insert(9, in: table, [1])
            $0.set("Name", [2])
          }
        }
        try expectEqual(try backend.records(in: table), before, "records after the commit")
        try expectEqual(try backend.namedBuffer("Name"), [1], "the name after the commit")
      }
    },
    Check("Requesting a table for reading only does not create it") { location in
      try withBackend(location) { _ = try filledTable($0, rows: 5) }
      try withBackend(location, readOnly: true) { backend in
        let table = try backend.table(named: "Unknown")
        try expectEqual(try backend.recordCount(in: table), 0, "count")
        try expectEqual(try backend.record(1, in: table), nil, "row 1")
        try expectEqual(try backend.records(in: table), [:], "the rows")
        try expectError(.readOnly, "a commit") {
          try backend.commit { $0.insert(1, in: table, [1]) }
        }
        try expectEqual(try backend.tableNames(), ["Song"], "the tables")
        try expectEqual(try backend.namedBuffer("Unknown"), nil, "a name")
        try expectEqual(try backend.bufferNames(), [], "the names")
      }
      try withBackend(location) { try expectEqual(try $0.tableNames(), ["Song"], "the tables") }
    },
    Check("A store that is open for writing can't be opened again: inUse") { location in
      try withBackend(location) { backend in
        let table = try filledTable(backend, rows: 5)
        for _ in 0..<3 {
          try expectError(.inUse, "a second writer") { try location.open().close() }
        }
        try backend.commit { $0.insert(6, in: table, [6]) }
        try expectEqual(try backend.recordCount(in: table), 6, "count in the first backend")
      }
      try withBackend(location) { backend in
        let table = try backend.table(named: "Song")
        try expectEqual(try backend.recordCount(in: table), 6, "count after it was closed")
      }
    },
    Check("A closed backend throws closed from every call") { location in
      let backend = try location.open()
      let table = try filledTable(backend, rows: 5)
      try backend.close()
      try expectAllClosed(backend, table)
    },
    Check("A closed backend that was opened for reading throws closed, not readOnly") { location in
      try withBackend(location) { _ = try filledTable($0, rows: 5) }
      let backend = try location.open(readOnly: true)
      let table = try backend.table(named: "Song")
      try backend.close()
      try expectAllClosed(backend, table)
    },
    Check("Closing twice is harmless, also if the store has been opened again") { location in
      let first = try location.open()
      try first.close()
      try first.close()
      let second = try location.open()
      try first.close()
      try expectError(.inUse, "a third backend, while the second is open") {
        try location.open().close()
      }
      _ = try filledTable(second, rows: 5)
      try second.close()
    },
    .opened("The coordinator is always the same") { backend in
      try expect(backend.coordinator === backend.coordinator, "two coordinators")
    },
  ]

  private static func reopenManyTimes(_ location: any BackendLocation) throws {
    var expected: [String: [UInt32: [UInt8]]] = ["A": [:], "B": [:], "C": [:]]
    var name: [UInt8]?
    for round in 0..<UInt8(10) {
      try withBackend(location) { backend in
        // The order is different each time: table numbers have no meaning after reopening.
        for (index, table) in expected.keys.shuffled().enumerated() {
          let id = try backend.table(named: table)
          let rows = expected[table] ?? [:]
          try expectEqual(try backend.records(in: id), rows, "table \(table), round \(round)")
          try expectEqual(try backend.recordCount(in: id), rows.count, "count of \(table)")
          try backend.commit {
            $0.update(2, in: id, [round, UInt8(index)])
            $0.insert(UInt32(round) + 10, in: id, [round])
            $0.delete(UInt32(round) + 8, in: id)
          }
          expected[table]?[2] = [round, UInt8(index)]
          expected[table]?[UInt32(round) + 10] = [round]
          expected[table]?[UInt32(round) + 8] = nil
        }
        try expectEqual(try backend.namedBuffer("Round"), name, "the name")
        name = round % 3 == 2 ? nil : [round]
        try backend.commit { $0.set("Round", name) }
      }
    }
  }

  private static func expectAllClosed(_ backend: any StoreBackend, _ table: TableID) throws {
    let calls: [(String, () throws -> Void)] = [
      ("table", { _ = try backend.table(named: "Song") }),
      ("a new table", { _ = try backend.table(named: "New") }),
      ("tableNames", { _ = try backend.tableNames() }),
      ("recordCount", { _ = try backend.recordCount(in: table) }),
      ("withRecord", { _ = try backend.record(2, in: table) }),
      ("scan", { _ = try backend.records(in: table) }),
      ("withNamedBuffer", { _ = try backend.namedBuffer("Name") }),
      ("bufferNames", { _ = try backend.bufferNames() }),
      ("commit", { try backend.commit { $0.insert(9, in: table, [1]) } }),
    ]
    for (name, call) in calls { try expectError(.closed, name, call) }
    try backend.close()
  }
}
