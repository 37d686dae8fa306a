import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Pending rows")
struct PendingRowsTests {
  /// Saves each row by itself.
  private func pending(_ rows: some Sequence<UInt32>, in table: TableID) -> PendingRecords {
    var pending = PendingRecords()
    for row in rows {
      var save = ChangeSetBuilder()
      save.update(row, in: table, content(of: row))
      pending.add(save.changeSet, over: [])
    }
    return pending
  }

  private func content(of row: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: row >> ($0 * 8)) }
  }

  @Test(
    "Few rows and many are found, counted and visited once",
    arguments: [0, 1, 4095, 4096, 4097, 9000])
  func model(count: Int) throws {
    var random = Seeds.generator(for: "pending rows, \(count)")
    let table = TableID(index: 0)
    let rows = Set((0..<count).map { _ in UInt32.random(in: 2 ... .max, using: &random) })
      .union(2..<UInt32(2 + count))
    // Some are written twice.
    let found = pending(Array(rows) + rows.prefix(50), in: table)
    let all = found.tables[table]?.rows ?? PendingRows()
    #expect(all.count == rows.count)
    #expect(all.rowIDs.count == rows.count && Set(all.rowIDs) == rows)
    for row in rows.prefix(500) {
      let bytes = try #require(found.record(row, in: table) ?? nil)
      #expect(Array(bytes.bytes[bytes.range]) == content(of: row))
    }
    #expect(all[1] == nil)
    let merged = found.merged()
    #expect(merged.tables.flatMap { $0.records.map(\.rowID) } == rows.sorted())
  }

  @Test("A copy does not change when rows are added")
  func copies() {
    let table = TableID(index: 0)
    var found = pending(2..<5000, in: table)
    let copy = found
    var save = ChangeSetBuilder()
    for row in UInt32(4000)..<9000 { save.update(row, in: table, [7]) }
    found.add(save.changeSet, over: [])
    #expect(copy.tables[table]?.rows.count == 4998)
    #expect(found.tables[table]?.rows.count == 8998)
    #expect(copy.record(4500, in: table)??.range.count == 4)
    #expect(found.record(4500, in: table)??.range.count == 1)
  }
}
