import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Change sets in the log and their pending records")
struct PendingRecordsTests {
  private static let names = ScriptedSave.tables

  /// A change set of a scripted save, its tables numbered by their names.
  private func changes(_ save: ScriptedSave) -> ChangeSet {
    var builder = ChangeSetBuilder()
    for row in save.rows {
      let table = TableID(index: Self.names.firstIndex(of: row.table) ?? 0)
      switch row.record {
      case nil: builder.delete(row.rowID, in: table)
      case .some(let record) where row.isInsert: builder.insert(row.rowID, in: table, record)
      case .some(let record): builder.update(row.rowID, in: table, record)
      }
    }
    for (name, buffer) in save.names { builder.set(name, buffer) }
    let index = OrderedTableID(index: 0)
    if save.clearsKeys { builder.clear(index) }
    for (key, value) in save.keys { builder.set(key, to: value, in: index) }
    return builder.changeSet
  }

  private func described(_ changes: ChangeSet) -> [String] {
    changes.tables.flatMap { table in
      table.records.map {
        "\(table.table.index) \($0.kind) \($0.rowID) \(Array(changes.bytes[$0.range]))"
      }
    } + changes.names.map { "\($0.name) \($0.range.map { Array(changes.bytes[$0]) } ?? [1])" }
      + changes.ordered.flatMap { table in
        table.changes.map {
          """
          \(table.table.index) \(table.clearsFirst) \(Array(changes.bytes[$0.key])) \
          \($0.isRemoval) \(Array(changes.bytes[$0.value]))
          """
        }
      }
  }

  private func encoded(_ changes: ChangeSet) -> [UInt8] {
    changes.encodedIndex(.example) {
      Self.names[$0.index]
    } orderedName: { _ in
      ScriptedSave.index
    }
      + changes.bytes
  }

  private func decoded(
    _ bytes: [UInt8], _ kind: CommitLogFormat.Kind = .commit
  ) throws -> ChangeSet {
    try ChangeSet(encoded: bytes, kind: kind) { (name) throws(StoreError) in
      guard let index = Self.names.firstIndex(of: name) else {
        throw StoreError(.invalidName, "There is none.")
      }
      return TableID(index: index)
    } orderedTable: { name in
      #expect(name == ScriptedSave.index)
      return OrderedTableID(index: 0)
    }
  }

  @Test("A change set reads back from the log, whatever its numbers")
  func encoding() throws {
    var generator = Seeds.generator(for: "encoding change sets")
    let seed = generator.next()
    for number in 1...60 {
      let original = changes(ScriptedSave(number, seed: seed, largeByteCount: 1000))
      #expect(described(try decoded(encoded(original))) == described(original))
    }
  }

  @Test("Each prefix of an encoded change set is an error, and so is an additional byte")
  func prefixes() throws {
    var generator = Seeds.generator(for: "prefixes of change sets")
    let save = changes(ScriptedSave(7, seed: generator.next(), largeByteCount: 200))
    let bytes = encoded(save)
    for count in bytes.indices {
      #expect(throws: (any Error).self) { try decoded(Array(bytes[..<count])) }
    }
    #expect(throws: StoreError.self) { try decoded(bytes + [0]) }
  }

  @Test("A record that ends after the last byte is an error")
  func range() {
    var bad = ChangeSet(bytes: [1, 2])
    bad.tables = [.init(table: .init(index: 0), records: [])]
    bad.tables[0].records = [.init(kind: .update, rowID: 2, range: 1..<3)]
    #expect(throws: StoreError.self) { try decoded(encoded(bad)) }
  }

  @Test("Pending records equal a dictionary, with their counts, also after merges")
  func model() throws {
    var generator = Seeds.generator(for: "pending records")
    for _ in 0..<10 {
      let seed = generator.next()
      var file = StoreImage()
      for number in 1...5 { file.apply(ScriptedSave(number, seed: seed, largeByteCount: 100)) }
      var (image, pending) = (file, PendingRecords())
      #expect(pending.isEmpty)
      for number in 6...30 {
        let save = ScriptedSave(number, seed: seed, largeByteCount: 100)
        let changes = changes(save)
        pending.add(changes, over: states(of: changes, file))
        image.apply(save)
        try check(pending, image, file)
      }
      // Merged, it takes the files to the same place at once.
      var merged = file
      merged.apply(try decoded(encoded(pending.merged())), names: Self.names)
      for number in 6...30 {
        merged.applyKeys(of: ScriptedSave(number, seed: seed, largeByteCount: 100))
      }
      #expect(merged.differences(from: image) == [])
    }
  }

  private func states(
    of changes: ChangeSet, _ file: StoreImage
  ) -> [PendingRecords.FileState] {
    changes.tables.map { table in
      let rows = file.tables[Self.names[table.table.index]] ?? [:]
      var state = PendingRecords.FileState()
      for (index, record) in table.records.enumerated() where rows[record.rowID] != nil {
        state.note(rowOf: index, of: table.records.count)
      }
      return state
    }
  }

  private func check(_ pending: PendingRecords, _ image: StoreImage, _ file: StoreImage) throws {
    for (index, name) in Self.names.enumerated() {
      let table = pending.tables[TableID(index: index)]
      let (now, before) = (image.tables[name] ?? [:], file.tables[name] ?? [:])
      #expect((table?.countDifference ?? 0) == now.count - before.count)
      for (row, entry) in table?.rows ?? PendingRows() {
        #expect(entry.isDeleted == (now[row] == nil))
        #expect(pending.bytes(of: entry).map { Array($0.bytes[$0.range]) } == now[row])
      }
      for row in Set(now.keys).union(before.keys) where table?.rows[row] == nil {
        #expect(now[row] == before[row])
      }
    }
    for (name, entry) in pending.names {
      #expect(pending.bytes(of: entry).map { Array($0.bytes[$0.range]) } == image.names[name.text])
    }
  }
}

extension StoreImage {
  fileprivate mutating func apply(_ changes: ChangeSet, names: [String]) {
    for table in changes.tables {
      for record in table.records {
        set(
          names[table.table.index], record.rowID,
          record.kind == .delete ? nil : Array(changes.bytes[record.range]))
      }
    }
    for name in changes.names { set(name.name, name.range.map { Array(changes.bytes[$0]) }) }
  }
}
