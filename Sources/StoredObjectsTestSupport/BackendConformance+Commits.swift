import StoredObjectsCore

extension BackendConformance {
  static let commits: [Check] = [
    .opened("An inserted record reads back, byte for byte") { backend in
      let table = try backend.table(named: "Song")
      let record = Array(UInt8.min...UInt8.max)
      try backend.commit { $0.insert(2, in: table, record) }
      try expectEqual(try backend.record(2, in: table), record, "row 2")
      try expectEqual(try backend.record(3, in: table), nil, "row 3, which was never written")
    },
    .opened("An update writes the row, whether it exists or not") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.update(7, in: table, [1]) }
      try expectEqual(try backend.record(7, in: table), [1], "a row made by an update")
      for record in [[2, 2, 2], [3], [], Array(repeating: 4, count: 10_000), [5, 5]] as [[UInt8]] {
        try backend.commit { $0.update(7, in: table, record) }
        try expectEqual(try backend.record(7, in: table), record, "the row, updated")
        try expectEqual(try backend.recordCount(in: table), 1, "count after an update")
      }
    },
    .opened("A delete removes the row, and deleting a missing row does nothing") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit {
        $0.insert(2, in: table, [2])
        $0.insert(3, in: table, [3])
      }
      try backend.commit {
        $0.delete(2, in: table)
        $0.delete(9, in: table)
      }
      try expectEqual(try backend.records(in: table), [3: [3]], "the rows that are left")
      try expectEqual(try backend.recordCount(in: table), 1, "count")
    },
    .opened("A removed row can be inserted again") { backend in
      let table = try backend.table(named: "Song")
      for round in 0..<UInt8(5) {
        try backend.commit { $0.insert(2, in: table, [round]) }
        try expectEqual(try backend.records(in: table), [2: [round]], "round \(round)")
        try backend.commit { $0.delete(2, in: table) }
        try expectEqual(try backend.record(2, in: table), nil, "the removed row")
      }
    },
    .opened("An insert of a row that exists throws rowExists and keeps the row") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: table, [1, 2, 3]) }
      try expectError(.rowExists, "a second insert") {
        try backend.commit { $0.insert(2, in: table, [9]) }
      }
      try expectEqual(try backend.record(2, in: table), [1, 2, 3], "the row")
    },
    .opened("A commit that throws changes no table and no name") { backend in
      try rejectsHalfACommit(backend)
    },
    .opened("A commit that throws can be tried again") { backend in
      let songs = try backend.table(named: "Song")
      let lists = try backend.table(named: "Playlist")
      try backend.commit { $0.insert(2, in: lists, [0]) }
      var changes = ChangeSetBuilder()
      changes.insert(2, in: songs, [1])
      changes.insert(2, in: lists, [2])
      changes.set("Name", [3])
      for _ in 0..<3 {
        try expectError(.rowExists, "while row 2 is there") {
          try backend.commit(changes.changeSet)
        }
      }
      try backend.commit { $0.delete(2, in: lists) }
      try backend.commit(changes.changeSet)
      try expectEqual(try backend.record(2, in: songs), [1], "Song 2")
      try expectEqual(try backend.record(2, in: lists), [2], "Playlist 2")
      try expectEqual(try backend.namedBuffer("Name"), [3], "the name")
    },
    .opened("An empty change set changes nothing") { backend in
      let table = try backend.table(named: "Song")
      let unused = try backend.table(named: "Unused")
      try backend.commit { $0.insert(2, in: table, [1]) }
      try backend.commit(ChangeSet())
      try backend.commit { $0.touchNothing(in: unused) }
      try expectEqual(try backend.records(in: table), [2: [1]], "the rows")
      try expectEqual(try backend.tableNames(), ["Song"], "the tables that have records")
    },
    .opened("One change set inserts, updates and deletes in many tables and names") { backend in
      try changeManyTables(backend)
    },
    .opened("Every later call sees a commit") { backend in
      let table = try backend.table(named: "Song")
      for number in 0..<UInt8(200) {
        try backend.commit {
          $0.update(1, in: table, [number])
          $0.insert(UInt32(number) + 2, in: table, [number])
          $0.set("Number", [number])
        }
        try expectEqual(try backend.record(1, in: table), [number], "row 1")
        try expectEqual(try backend.record(UInt32(number) + 2, in: table), [number], "new row")
        try expectEqual(try backend.recordCount(in: table), Int(number) + 2, "count")
        try expectEqual(try backend.namedBuffer("Number"), [number], "the name")
      }
    },
  ]

  private static func rejectsHalfACommit(_ backend: any StoreBackend) throws {
    let songs = try backend.table(named: "Song")
    let lists = try backend.table(named: "Playlist")
    let new = try backend.table(named: "New")
    try backend.commit {
      $0.insert(2, in: songs, [2])
      $0.insert(3, in: songs, [3])
      $0.insert(5, in: lists, [5])
      $0.set("Kept", [1])
      $0.set("Removed", [2])
    }
    try expectError(.rowExists, "an insert of row 5 in the last table") {
      try backend.commit {
        $0.insert(4, in: songs, [4])
        $0.update(2, in: songs, [22])
        $0.delete(3, in: songs)
        $0.insert(2, in: new, [1])
        $0.insert(4, in: lists, [4])
        $0.insert(5, in: lists, [55])
        $0.set("Kept", [11])
        $0.set("Removed", nil)
        $0.set("Added", [3])
      }
    }
    try expectEqual(try backend.records(in: songs), [2: [2], 3: [3]], "the first table")
    try expectEqual(try backend.records(in: lists), [5: [5]], "the table of the clash")
    try expectEqual(try backend.recordCount(in: new), 0, "a table that would have been new")
    try expectEqual(try backend.recordCount(in: songs), 2, "count of the first table")
    try expectEqual(
      try backend.tableNames().sorted(), ["Playlist", "Song"], "the tables that have records")
    try expectEqual(try backend.bufferNames().sorted(), ["Kept", "Removed"], "the names")
    try expectEqual(try backend.namedBuffer("Kept"), [1], "a name that would have changed")
  }

  private static func changeManyTables(_ backend: any StoreBackend) throws {
    let tables = try (0..<60).map { try backend.table(named: "Class\($0)") }
    try backend.commit { changes in
      for (index, table) in tables.enumerated() {
        let number = UInt8(index)
        for row in 1...UInt32(5) { changes.insert(row, in: table, [number, UInt8(row)]) }
        changes.set("Name\(index)", [number])
      }
    }
    try backend.commit { changes in
      for (index, table) in tables.enumerated() {
        let number = UInt8(index)
        changes.insert(6, in: table, [number, 6])
        changes.update(2, in: table, [number, 22, 22])
        changes.delete(3, in: table)
        changes.set("Name\(index)", index % 2 == 0 ? [number, number] : nil)
      }
    }
    for (index, table) in tables.enumerated() {
      let number = UInt8(index)
      let expected: [UInt32: [UInt8]] = [
        1: [number, 1], 2: [number, 22, 22], 4: [number, 4], 5: [number, 5], 6: [number, 6],
      ]
      try expectEqual(try backend.records(in: table), expected, "table \(index)")
      try expectEqual(
        try backend.namedBuffer("Name\(index)"), index % 2 == 0 ? [number, number] : nil,
        "name \(index)")
    }
    try expectEqual(try backend.tableNames().count, 60, "number of tables")
    try expectEqual(try backend.bufferNames().count, 30, "number of names")
  }
}
