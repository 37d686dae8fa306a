import StoredObjectsCore

extension BackendConformance {
  static let contents: [Check] = [
    .opened("A table that was never written is empty, and reading does not create it") { backend in
      let table = try backend.table(named: "Song")
      try expectEqual(try backend.recordCount(in: table), 0, "count")
      try expectEqual(try backend.record(1, in: table), nil, "row 1")
      try expectEqual(try backend.records(in: table), [:], "the rows")
      try expectEqual(try backend.tableNames(), [], "the tables that have records")
    },
    .opened("A name always returns the same table, and other names other tables") { backend in
      let names = ["Song", "song", "SONG", "Songs", "Lied_2", "Łódź", "A.B", "Pair<Int, Bool>"]
      let tables = try names.map { try backend.table(named: $0) }
      try expectEqual(Set(tables).count, names.count, "number of different tables")
      try expectEqual(try names.map { try backend.table(named: $0) }, tables, "asked again")
      for (index, table) in tables.enumerated() {
        try backend.commit { $0.insert(2, in: table, [UInt8(index)]) }
      }
      for (index, table) in tables.enumerated() {
        try expectEqual(
          try backend.records(in: table), [2: [UInt8(index)]], "table \(names[index])")
      }
      try expectEqual(try backend.tableNames().sorted(), names.sorted(), "the names of tables")
    },
    .opened("A table without a name is refused with invalidName") { backend in
      try expectError(.invalidName, "the empty name") { _ = try backend.table(named: "") }
    },
    .opened("A table that has lost its last record is not listed") { backend in
      let table = try backend.table(named: "Song")
      let other = try backend.table(named: "Other")
      try backend.commit {
        $0.insert(1, in: table, [1])
        $0.insert(1, in: other, [1])
      }
      try backend.commit { $0.delete(1, in: table) }
      try expectEqual(try backend.tableNames(), ["Other"], "the tables that have records")
      try expectEqual(try backend.recordCount(in: table), 0, "count")
    },
    .opened("The count includes every row, also row 1") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.update(1, in: table, [0]) }
      try expectEqual(try backend.recordCount(in: table), 1, "row 1 alone")
      try backend.commit { changes in
        for row in 2...UInt32(100) { changes.insert(row, in: table, [UInt8(row)]) }
        changes.update(1, in: table, [1])
      }
      try expectEqual(try backend.recordCount(in: table), 100, "after inserts and an update")
      try backend.commit { changes in
        for row in 2...UInt32(51) { changes.delete(row, in: table) }
        for row in 52...UInt32(60) { changes.update(row, in: table, []) }
        changes.delete(1_000, in: table)
      }
      try expectEqual(try backend.recordCount(in: table), 50, "after deletes and updates")
    },
    .opened("A record can be empty, small, or 5 MiB large") { backend in
      try keepRecordsOfAllSizes(backend)
    },
    .opened("Rows can have any ID from 1 to the largest") { backend in
      let table = try backend.table(named: "Song")
      let rows: [UInt32] = [
        .max, 1, 0x8000_0000, 2, 255, 256, 65_535, 65_536, 0x7FFF_FFFF, 0x0100_0000, .max - 1,
      ]
      try backend.commit { changes in
        for row in rows { changes.insert(row, in: table, row.bytes) }
      }
      for row in rows {
        try expectEqual(try backend.record(row, in: table), row.bytes, "row \(row)")
      }
      try expectEqual(Set(try backend.records(in: table).keys), Set(rows), "the rows of a scan")
      try expectEqual(try backend.record(3, in: table), nil, "a row in between")
      try backend.commit { $0.delete(.max, in: table) }
      try expectEqual(try backend.record(.max, in: table), nil, "the largest, removed")
    },
    Check("One change set can have 100,000 records") { location in
      let count = UInt32(100_000)
      try withBackend(location) { backend in
        let table = try backend.table(named: "Song")
        try backend.commit { changes in
          // Neighbours are swapped, so that the rows are not in order.
          for number in 0..<count {
            let row = (number ^ 1) + 1
            changes.insert(row, in: table, row.bytes)
          }
        }
        try expectEqual(try backend.recordCount(in: table), Int(count), "count")
      }
      try withBackend(location) { backend in
        let table = try backend.table(named: "Song")
        let records = try backend.records(in: table)
        try expectEqual(records.count, Int(count), "records after opening again")
        for row in 1...count where records[row] != row.bytes {
          try expectEqual(records[row], row.bytes, "row \(row)")
        }
      }
    },
  ]

  private static func keepRecordsOfAllSizes(_ backend: any StoreBackend) throws {
    let table = try backend.table(named: "Song")
    let sizes = [0, 1, 127, 128, 255, 256, 16_383, 16_384, 64 << 10, 5 << 20]
    try backend.commit { changes in
      for (index, size) in sizes.enumerated() {
        changes.insert(UInt32(index) + 2, in: table, pattern(size, seed: UInt8(index)))
        changes.set("\(size)", pattern(size, seed: UInt8(index) + 100))
      }
    }
    func checkAll() throws {
      for (index, size) in sizes.enumerated() {
        let record = try backend.record(UInt32(index) + 2, in: table)
        try expect(record == pattern(size, seed: UInt8(index)), "a record of \(size) bytes differs")
        let buffer = try backend.namedBuffer("\(size)")
        try expect(
          buffer == pattern(size, seed: UInt8(index) + 100), "a buffer of \(size) bytes differs")
      }
    }
    try checkAll()
    let scanned = try backend.records(in: table)
    for (index, size) in sizes.enumerated() {
      try expect(
        scanned[UInt32(index) + 2] == pattern(size, seed: UInt8(index)),
        "a scanned record of \(size) bytes differs")
    }
    // The largest record becomes empty, the empty one large, and back.
    try backend.commit {
      $0.update(2, in: table, pattern(5 << 20, seed: 9))
      $0.update(UInt32(sizes.count) + 1, in: table, [])
    }
    try expect(try backend.record(2, in: table) == pattern(5 << 20, seed: 9), "5 MiB differ")
    try expectEqual(try backend.record(UInt32(sizes.count) + 1, in: table), [], "emptied")
    try backend.commit {
      $0.update(2, in: table, pattern(0, seed: 0))
      $0.update(
        UInt32(sizes.count) + 1, in: table, pattern(5 << 20, seed: UInt8(sizes.count) - 1))
    }
    try checkAll()
  }

  /// Returns bytes that differ from position to position.
  static func pattern(_ count: Int, seed: UInt8) -> [UInt8] {
    let block = (0..<UInt8(251)).map { $0 &* 31 &+ seed }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes.append(contentsOf: block) }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}

extension UInt32 {
  /// The four bytes, little-endian.
  var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
