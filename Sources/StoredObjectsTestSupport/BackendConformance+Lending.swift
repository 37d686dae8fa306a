import StoredObjectsCore

extension BackendConformance {
  private struct Refusal: Error {}
  private static let refusal = StoreError(
    .notEvaluable, "The closure refuses.", underlying: Refusal())

  static let lending: [Check] = [
    .opened("An error of a look-up's closure is thrown unchanged") { backend in
      let table = try filledTable(backend, rows: 5)
      try expectRefusal(backend, table) {
        _ = try backend.withRecord(2, in: table) { (_) throws(StoreError) in throw refusal }
      }
    },
    .opened("An error of a scan's closure is thrown unchanged") { backend in
      let table = try filledTable(backend, rows: 5)
      for last in 1...5 {
        var count = 0
        try expectRefusal(backend, table) {
          _ = try backend.scan(table, from: nil) { (_, _) throws(StoreError) in
            count += 1
            if count == last { throw refusal }
            return .next
          }
        }
        try expectEqual(count, last, "records lent before the error")
      }
    },
    .opened("An error of a named buffer's closure is thrown unchanged") { backend in
      let table = try filledTable(backend, rows: 5)
      try backend.commit { $0.set("Name", [1]) }
      try expectRefusal(backend, table) {
        _ = try backend.withNamedBuffer("Name") { (_) throws(StoreError) in throw refusal }
      }
    },
    .opened("A closure is not called for missing records and buffers") { backend in
      let table = try filledTable(backend, rows: 5)
      let found: Int? = try backend.withRecord(6, in: table) { _ in 1 }
      try expectEqual(found, nil, "a row that is not there")
      let named: Int? = try backend.withNamedBuffer("Nothing") { _ in 1 }
      try expectEqual(named, nil, "a name that is not there")
    },
    .opened("The result of a closure is returned, also an optional that is nil") { backend in
      let table = try filledTable(backend, rows: 5)
      let found: Int?? = try backend.withRecord(2, in: table) { _ in Int?.none }
      try expect(found != nil, "nil of a closure looks like a row that is not there")
    },
  ]

  /// Expects the error of the closure, and a backend that works as before.
  private static func expectRefusal(
    _ backend: any StoreBackend, _ table: TableID, line: UInt = #line, _ body: () throws -> Void
  ) throws {
    do {
      try body()
      throw ConformanceFailure("the error of the closure was lost", #fileID, line)
    } catch let error as StoreError where error.underlying is Refusal {}
    let count = try backend.recordCount(in: table)
    try backend.commit { $0.update(1_000, in: table, [1]) }
    try backend.commit { $0.delete(1_000, in: table) }
    try expectEqual(try backend.records(in: table).count, count, "after the error", line: line)
  }
}
