import StoredObjectsCore

extension BackendConformance {
  static let copying: [Check] = [
    .opened("Batches have each record once, with the same bytes as a scan") { backend in
      let table = try filledTable(backend, rows: 3_000)
      try backend.commit { changes in
        changes.update(7, in: table, Array(repeating: 9, count: 100_000))
        changes.delete(8, in: table)
        changes.insert(4_000, in: table, [])
      }
      var copied: [UInt32: [UInt8]] = [:]
      try forEachBatch(backend, table) { batch in
        for (rowID, start, end) in batch.entries {
          let record = Array(batch.bytes[Int(start)..<Int(end)])
          try expect(copied.updateValue(record, forKey: rowID) == nil, "row \(rowID) twice")
        }
      }
      try expectEqual(copied, try backend.records(in: table), "the records")
    },
    .opened("A batch of an empty table is empty, and the last one") { backend in
      var batch = RecordBatch()
      let table = try backend.table(named: "Song")
      try expectFinished(try backend.copyRecords(of: table, from: nil, to: &batch))
      try expectEqual(batch.count, 0, "records")
    },
    .opened("A batch from before a commit is disturbed, and not changed") { backend in
      let table = try filledTable(backend, rows: 3_000)
      var batch = RecordBatch()
      guard case .paused(let position) = try backend.copyRecords(of: table, from: nil, to: &batch)
      else { throw ConformanceFailure("3,000 records in one batch", #fileID, #line) }
      try backend.commit { $0.update(5, in: table, [1]) }
      var next = RecordBatch()
      guard case .disturbed = try backend.copyRecords(of: table, from: position, to: &next)
      else { throw ConformanceFailure("nothing was disturbed", #fileID, #line) }
      try expectEqual(next.count, 0, "records")
    },
    .opened("A copied record is appended to the existing bytes") { backend in
      let table = try filledTable(backend, rows: 10)
      var bytes: [UInt8] = [1, 2]
      try expect(try backend.copyRecord(9, in: table, to: &bytes), "row 9 is not there")
      try expectEqual(bytes, [1, 2] + (try backend.record(9, in: table) ?? []), "the bytes")
      try expect(!(try backend.copyRecord(11, in: table, to: &bytes)), "row 11 is there")
      try backend.commit { $0.delete(9, in: table) }
      try expect(!(try backend.copyRecord(9, in: table, to: &bytes)), "row 9 is still there")
    },
  ]

  private static func forEachBatch(
    _ backend: any StoreBackend, _ table: TableID, _ body: (RecordBatch) throws -> Void
  ) throws {
    var position: ScanPosition?
    while true {
      var batch = RecordBatch()
      let end = try backend.copyRecords(of: table, from: position, to: &batch)
      try body(batch)
      guard case .paused(let next) = end else { return try expectFinished(end) }
      position = next
    }
  }
}
