import Files
import Locks
import StoredObjectsCore

// Snapshots have the data as of one commit, whatever is committed later.
extension BackendConformance {
  static let snapshots: [Check] = [
    .opened("A snapshot does not change while others commit") { try keepsSnapshot($0) },
    .opened("A snapshot has the number of its last commit, and refuses more") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: table, [1]) }
      let snapshot = try backend.snapshot()
      try backend.commit { $0.insert(3, in: table, [1]) }
      try expectEqual(snapshot.lastCommitNumber, 1, "the number of the snapshot")
      try expectEqual(snapshot.isReadOnly, true, "whether the snapshot is read-only")
      try expectError(.readOnly, "a commit to a snapshot") {
        try snapshot.commit { $0.insert(4, in: table, [1]) }
      }
    },
    .opened("A table that is created later is empty in a snapshot") { backend in
      let snapshot = try backend.snapshot()
      let later = try backend.table(named: "Later")
      try backend.commit { $0.insert(2, in: later, [1]) }
      let inSnapshot = try snapshot.table(named: "Later")
      try expectEqual(try snapshot.recordCount(in: inSnapshot), 0, "records of a later table")
      try expectEqual(try snapshot.record(2, in: inSnapshot), nil, "a record of a later table")
      try expectEqual(try snapshot.tableNames(), [], "tables of the snapshot")
    },
    .opened("A snapshot stays readable when the backend is closed, and can be closed itself") {
      backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: table, [7]) }
      let snapshot = try backend.snapshot()
      try backend.close()
      try expectEqual(try snapshot.record(2, in: table), [7], "a record after the closing")
      try snapshot.close()
      try expectError(.closed, "a read of a closed snapshot") {
        _ = try snapshot.record(2, in: table)
      }
      try expectError(.closed, "a snapshot of a closed backend") { _ = try backend.snapshot() }
    },
    .opened("Snapshots of any age keep their state, in random order") { backend in
      try compareSnapshots(backend)
    },
    .opened("Two tables agree in every snapshot while another thread changes both") { backend in
      try readWhileWriting(backend)
    },
  ]

  private static func keepsSnapshot(_ backend: any StoreBackend) throws {
    let table = try backend.table(named: "Song")
    let keys = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    try backend.commit {
      $0.insert(2, in: table, [1])
      $0.insert(3, in: table, [2])
      $0.set("Name", [3])
      $0.set([1], to: [4], in: keys)
    }
    let snapshot = try backend.snapshot()
    try backend.commit {
      $0.update(2, in: table, [9])
      $0.delete(3, in: table)
      $0.insert(4, in: table, [9])
      $0.set("Name", nil)
      $0.set("Other", [9])
      $0.set([1], to: nil, in: keys)
      $0.set([2], to: [9], in: keys)
    }
    try expectEqual(try snapshot.records(in: table), [2: [1], 3: [2]], "records")
    try expectEqual(try snapshot.recordCount(in: table), 2, "the number of records")
    try expectEqual(try snapshot.record(4, in: table), nil, "a later record")
    try expectEqual(try snapshot.bufferNames(), ["Name"], "names")
    try expectEqual(try snapshot.namedBuffer("Name"), [3], "a buffer")
    try expectEqual(try snapshot.keyCount(in: keys, KeyRange()), 1, "the number of keys")
    try expectEqual(try backend.records(in: table), [2: [9], 4: [9]], "records of the backend")
  }

  /// The content of a backend, for comparing.
  private struct Contents: Equatable {
    var records: [UInt32: [UInt8]] = [:]
    var keys: [[UInt8]: [UInt8]] = [:]
    var buffer: [UInt8]?

    init() {}

    init(_ backend: any StoreBackend, _ table: TableID, _ ordered: OrderedTableID) throws {
      records = try backend.records(in: table)
      buffer = try backend.namedBuffer("Name")
      var keys: [[UInt8]: [UInt8]] = [:]
      _ = try backend.scanKeys(of: ordered, KeyRange(), isReversed: false) { key, value in
        keys[[UInt8](copying: key)] = [UInt8](copying: value)
        return .next
      }
      self.keys = keys
    }
  }

  private static func compareSnapshots(_ backend: any StoreBackend) throws {
    var random = Seeds.generator(for: "snapshots")
    let table = try backend.table(named: "Song")
    let ordered = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    var contents = Contents()
    var held: [(snapshot: any StoreBackend, contents: Contents)] = []
    for step in 0..<150 {
      try change(backend, table, ordered, &contents, step, &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        held.append((try backend.snapshot(), contents))
      }
      guard held.count > 6 || step > 140, !held.isEmpty else { continue }
      let one = held.remove(at: Int.random(in: held.indices, using: &random))
      let found = try Contents(one.snapshot, table, ordered)
      try expectEqual(found == one.contents, true, "the contents of a snapshot")
      let count = try one.snapshot.recordCount(in: table)
      try expectEqual(count, one.contents.records.count, "the number of its records")
    }
  }

  private static func change(
    _ backend: any StoreBackend, _ table: TableID, _ ordered: OrderedTableID,
    _ contents: inout Contents, _ step: Int, _ random: inout SeededGenerator
  ) throws {
    try backend.commit { changes in
      for row in (2..<UInt32(12)).shuffled(using: &random).prefix(4) {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: Int(row) * 8)
        if contents.records[row] == nil {
          changes.insert(row, in: table, bytes)
          contents.records[row] = bytes
        } else if Bool.random(using: &random) {
          changes.delete(row, in: table)
          contents.records[row] = nil
        }
        let key = [UInt8.random(in: 0..<8, using: &random)]
        contents.keys[key] = Bool.random(using: &random) ? bytes : nil
        changes.set(key, to: contents.keys[key], in: ordered)
      }
      contents.buffer = [UInt8(truncatingIfNeeded: step)]
      changes.set("Name", contents.buffer)
    }
  }

  private static func readWhileWriting(_ backend: any StoreBackend) throws {
    let tables = (try backend.table(named: "Song"), try backend.table(named: "Disc"))
    try backend.commit {
      $0.insert(2, in: tables.0, [0, 0])
      $0.insert(2, in: tables.1, [0, 0])
    }
    let writer = JoinedResult { () -> Result<Void, any Error> in
      Result {
        for step in 1..<200 {
          let bytes = [UInt8(step / 16), UInt8(step % 16)]
          try backend.commit {
            $0.update(2, in: tables.0, bytes)
            $0.update(2, in: tables.1, bytes)
          }
        }
      }
    }
    for _ in 0..<200 {
      let snapshot = try backend.snapshot()
      let first = try snapshot.record(2, in: tables.0)
      try expectEqual(try snapshot.record(2, in: tables.1), first, "the other table's record")
    }
    try writer?.take()?.get()
  }
}
