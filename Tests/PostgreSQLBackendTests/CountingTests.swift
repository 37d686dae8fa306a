import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

@testable import PostgreSQLBackend

/// Small commits leave counting to every 64th commit.
@Suite("Counting the rows and keys of small commits", .needsServer)
struct CountingTests {
  private let database: TestDatabase

  init() throws { database = try TestDatabase() }

  /// The numbers of the commits whose rows are left to a later commit to count.
  private func uncountedNumbers() throws -> [Int] {
    try database.server.sql(
      """
      select c.number from stored_objects.commits c join stored_objects.stores s on s.id = c.store
      where s.name = '\(database.store)' and c.number > s.counted and c.more is not null
      order by 1
      """
    ).split(separator: "\n").compactMap { Int($0) }
  }

  @Test("Rows are counted without reading all remembered commits")
  func plan() throws {
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    for row in 2..<9 as Range<UInt32> {
      var changes = ChangeSetBuilder()
      changes.insert(row, in: table, [1])
      try backend.commit(changes.changeSet)
    }
    try database.server.sql(
      """
      insert into stored_objects.commits (store, number, token, author, weight)
        select s.id, n, gen_random_uuid(), '', 0
        from stored_objects.stores s, generate_series(-4096, -1) n
        where s.name = '\(database.store)'
      """)
    try database.server.sql("analyze stored_objects.commits")
    let plan = try database.server.sql(
      """
      explain select \(Schema.count), \(Schema.lastChange), \(Schema.lastRow)
      from stored_objects.tables t
      """)
    #expect(plan.contains("number <") && !plan.contains("Seq Scan on commits"), "\(plan)")
  }

  @Test("Every reader counts their rows at once, and finds new tables, also between two counts")
  func counts() throws {
    var random = Seeds.generator(for: "counts of one-record commits")
    let (writer, reader) = (try database.backend(), try database.backend())
    let names = ["Song", "Album", "Artist"]
    var rows = [Set<UInt32>](repeating: [], count: names.count)
    for step in 0..<200 {
      let place = Int.random(in: 0..<names.count, using: &random)
      let table = try writer.table(named: names[place])
      var changes = ChangeSetBuilder()
      // Two records now and then, which another function commits.
      for _ in 0..<(step % 7 == 0 ? 2 : 1) {
        let row = UInt32.random(in: 2..<12, using: &random)
        if changes.changeSet.tables.contains(where: { $0.records.contains { $0.rowID == row } }) {
          continue
        }
        if rows[place].contains(row), Bool.random(using: &random) {
          changes.delete(row, in: table)
          rows[place].remove(row)
        } else if rows[place].contains(row) {
          changes.update(row, in: table, [1])
        } else {
          changes.insert(row, in: table, [0])
          rows[place].insert(row)
        }
      }
      try writer.commit(changes.changeSet)
      for (name, rows) in zip(names, rows) {
        #expect(try reader.recordCount(in: reader.table(named: name)) == rows.count)
      }
      let filled = Set(zip(names, rows).filter { !$0.1.isEmpty }.map(\.0))
      #expect(try Set(reader.tableNames()) == filled)
    }
  }

  @Test("Every reader counts keys at once, also after a table is cleared")
  func keyCounts() throws {
    var random = Seeds.generator(for: "counts of keys")
    let (writer, reader) = (try database.backend(), try database.backend())
    let names = [
      OrderedTableName("Words", kind: .data), OrderedTableName("Titles", kind: .index),
    ]
    var keys = [Set<UInt8>](repeating: [], count: names.count)
    for step in 0..<150 {
      var changes = ChangeSet()
      for (place, name) in names.enumerated() {
        let table = try writer.orderedTable(name)
        if step % 29 == 28, place == step % 2 {
          changes.clear(table)
          keys[place] = []
        }
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
          let key = UInt8.random(in: 0..<9, using: &random)
          let isRemoved = Bool.random(using: &random)
          changes.set([key], to: isRemoved ? nil : [], in: table)
          if isRemoved { keys[place].remove(key) } else { keys[place].insert(key) }
        }
      }
      try writer.commit(changes)
      for (name, keys) in zip(names, keys) {
        let table = try reader.orderedTable(name)
        #expect(try reader.keyCount(in: table, KeyRange()) == keys.count)
      }
    }
  }

  @Test("64 commits are counted together, and the numbers of commits go on")
  func counting() throws {
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    for row in UInt32(2)..<65 { try backend.commit(change(.insert, row, [1], table)) }
    // The first commit creates the table, and is counted.
    #expect(try uncountedNumbers() == Array(2...63))
    try backend.commit(change(.insert, 65, [1], table))
    #expect(try uncountedNumbers() == [])
    try backend.commit(change(.delete, 65, [], table))
    #expect(try uncountedNumbers() == [65])
    #expect(try backend.recordCount(in: table) == 63)
    #expect(try database.backend().lastCommitNumber == 65)
    try backend.continueNumbers(after: nil)
    let other = try database.backend()
    #expect(try other.recordCount(in: other.table(named: "Song")) == 63)
    #expect(other.lastCommitNumber == 0)
  }

  @Test(
    "Machines that change different rows lose no commit, whatever the isolation level",
    arguments: ["read committed", "repeatable read", "serializable"])
  func machines(isolation: String) throws {
    let name = try database.newDatabase()
    try database.server.sql(
      "alter database \(name) set default_transaction_isolation = '\(isolation)'")
    let first = try database.backend(database: name)
    let table = try first.table(named: "Song")
    try first.commit(change(.insert, 2, [0], table))
    try BackendConformance.runOnThreads(4) { number in
      let backend = try database.backend(database: name)
      let table = try backend.table(named: "Song")
      for step in 0..<40 {
        let token = UUID()
        try backend.commit(
          change(.insert, UInt32(10 + 100 * number + step), [1], table),
          CommitRequest(token: token))
        if step % 8 == 0 { #expect(try backend.commit(withToken: token) != nil) }
      }
    }
    #expect(first.lastCommitNumber == 161)
    #expect(try first.recordCount(in: table) == 161)
  }

  @Test("A scan notices a commit that isn't counted yet")
  func scans() throws {
    let (backend, other) = (try database.backend(), try database.backend())
    let table = try backend.table(named: "Song")
    var changes = ChangeSetBuilder()
    for row in UInt32(2)..<9 { changes.insert(row, in: table, [1]) }
    try backend.commit(changes.changeSet)
    func pause() throws -> ScanPosition? {
      let end = try other.scan(other.table(named: "Song"), from: nil) { _, _ in .pause }
      guard case .paused(let position) = end else { return nil }
      return position
    }
    let position = try #require(try pause())
    try backend.commit(change(.update, 8, [2], table))
    #expect(try uncountedNumbers() == [2])
    let end = try other.scan(other.table(named: "Song"), from: position) { _, _ in .next }
    guard case .disturbed = end else {
      Issue.record("\(end)")
      return
    }
  }

  @Test("Reserved rows come after rows that aren't counted yet")
  func reservedRows() throws {
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try backend.commit(change(.insert, 90, [1], table))
    #expect(try uncountedNumbers() == [2])
    #expect(try backend.reserveRows(1, in: table) == 91...91)
  }

  @Test("A server whose last commit is another one with the same number gets no such commit")
  func otherCommit() throws {
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    for byte in UInt8(0)..<3 {
      try backend.commit(change(byte == 0 ? .insert : .update, 2, [byte], table))
    }
    #expect(try uncountedNumbers() == [2, 3])
    try database.server.sql(
      """
      update stored_objects.commits c set token = gen_random_uuid() from stored_objects.stores s
      where s.id = c.store and s.name = '\(database.store)' and c.number = 3
      """)
    try backend.commit(change(.update, 2, [3], table))
    #expect(try uncountedNumbers() == [2, 3])
    #expect(try backend.record(2, in: table) == [3])
    #expect(backend.lastCommitNumber == 4)
  }

  @Test(
    "A store that begins to keep a history gets an entry for the next commit of another program")
  func history() throws {
    let (backend, other) = (try database.backend(), try database.backend())
    let (table, sameTable) = (try backend.table(named: "Song"), try other.table(named: "Song"))
    try backend.commit(change(.insert, 2, [1], table))
    try other.commit(change(.update, 2, [2], sameTable))
    try other.commit(change(.update, 2, [3], sameTable))
    try backend.beginHistory()
    // The other program has seen the beginning, but not that it was one.
    #expect(other.lastCommitNumber == backend.lastCommitNumber)
    try other.commit(change(.update, 2, [4], sameTable))
    #expect(try backend.historyEntry(of: 5) != nil)
  }
}
