import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("The bytes of pending changes")
struct PendingBytesTests {
  private let table = TableID(index: 0)

  private func save(_ rows: [(UInt32, [UInt8]?)], name: [UInt8]?? = .none) -> ChangeSet {
    var builder = ChangeSetBuilder()
    for (row, record) in rows {
      if let record {
        builder.update(row, in: table, record)
      } else {
        builder.delete(row, in: table)
      }
    }
    if let name { builder.set("name", name) }
    return builder.changeSet
  }

  @Test("A repeatedly saved row keeps the bytes of its last save only")
  func oneRow() {
    var pending = PendingRecords()
    for number in 0..<3000 {
      let record = [UInt8](repeating: UInt8(number % 250), count: 20_000)
      pending.add(save([(2, record)], name: .some(record)), over: [])
    }
    #expect(pending.heldByteCount <= 40_000)
    #expect(pending.record(2, in: table)??.range.count == 20_000)
  }

  @Test("Saves with one row that is still needed are copied together")
  func gathering() throws {
    var pending = PendingRecords()
    for number in UInt32(0)..<2000 {
      let large = [UInt8](repeating: 1, count: 50_000)
      pending.add(save([(number + 10, [UInt8(number % 250)]), (2, large)]), over: [])
    }
    #expect(pending.heldByteCount < 20 << 20)
    for number in UInt32(0)..<2000 {
      let entry = try #require(pending.record(number + 10, in: table))
      let found = try #require(entry)
      #expect(Array(found.bytes[found.range]) == [UInt8(number % 250)])
    }
    #expect(pending.record(2, in: table)??.range.count == 50_000)
  }

  @Test("Random saves, deletions and empty records equal a dictionary")
  func random() throws {
    var generator = Seeds.generator(for: "pending bytes")
    var (pending, model) = (PendingRecords(), [UInt32: [UInt8]?]())
    for _ in 0..<2000 {
      var rows: [UInt32: [UInt8]?] = [:]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let size = [0, 1, 100, 60_000].randomElement(using: &generator) ?? 0
        let byte = UInt8.random(in: 0...255, using: &generator)
        let row = UInt32.random(in: 2..<40, using: &generator)
        let isDeleted = Bool.random(using: &generator)
        rows[row] = .some(isDeleted ? nil : [UInt8](repeating: byte, count: size))
      }
      pending.add(save(rows.map { ($0, $1) }), over: [])
      for (row, record) in rows { model[row] = record }
    }
    for (row, record) in model {
      let found = try #require(pending.record(row, in: table))
      #expect(found.map { Array($0.bytes[$0.range]) } == record)
    }
    let needed = model.values.reduce(0) { $0 + ($1?.count ?? 0) }
    #expect(pending.heldByteCount <= 2 * needed + (16 << 20))
  }
}

@Suite("Changes too large to be kept")
struct ChangeLimitTests {
  private func error(_ limit: Int, keyLimit: Int = 1000, _ changes: ChangeSet) -> StoreError? {
    LogFixture.error { try changes.checkRecordSizes(limit, keyLimit: keyLimit) { _ in "A" } }
  }

  @Test("Records with their rows, buffers with their names, keys with their values, by the byte")
  func limits() {
    for (count, isRefused) in [(95, false), (96, false), (97, true), (5000, true)] {
      var builder = ChangeSetBuilder()
      builder.update(2, in: TableID(index: 0), [UInt8](repeating: 1, count: count))
      let found = error(100, builder.changeSet)
      #expect((found?.code == .tooLarge) == isRefused)
      if isRefused {
        #expect(found?.location.rowID == 2 && found?.location.className == "A")
        #expect(found?.message.contains("maximumRecordByteCount") == true)
      }
      var names = ChangeSetBuilder()
      names.set("name", [UInt8](repeating: 1, count: count))
      #expect((error(100, names.changeSet)?.code == .tooLarge) == isRefused)
      var keys = ChangeSetBuilder()
      keys.set([1, 2, 3, 4], to: [UInt8](repeating: 1, count: count), in: OrderedTableID(index: 0))
      let refusal = error(1000, keyLimit: 100, keys.changeSet)
      #expect((refusal?.code == .tooLarge) == isRefused)
      if isRefused { #expect(refusal?.message.contains("maximumKeyByteCount") == true) }
    }
  }
}
