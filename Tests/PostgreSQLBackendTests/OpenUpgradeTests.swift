import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

@testable import PostgreSQLBackend

@Suite("Upgrades of the schema while an earlier program has a store open", .needsServer)
struct OpenUpgradeTests {
  /// The calls of a program of version 4, which keeps its session.
  ///
  /// It reads the columns of an answer by their places.
  private static let calls = [
    EarlierProgram.update(2, [6], token: 6, basedOn: 5),
    EarlierProgram.wait(for: 9),
    EarlierProgram.news(behind: 6),
    EarlierProgram.update(2, [10], token: 9, basedOn: 6),
    EarlierProgram.update(2, [10], token: 10, basedOn: 9),
    EarlierProgram.update(2, [10], token: 10, basedOn: 9),
    "select number, token from stored_objects.find_commit(1, '\(EarlierProgram.token(10))')",
    "select stored_objects.reserve_rows(1, 'Song', 6)",
    "begin",
    EarlierProgram.update(4, [], token: 11, basedOn: 10),
    """
    select stored_objects.put_records(
      1, '\(EarlierProgram.token(11))', 'Song', '{4}', array['\\x0b'::bytea])
    """,
    "commit",
  ]

  /// Its answers: outcomes and numbers of commits, and three commits of the later program.
  private static let answers = """
    0|6||||||f
    9|7|{0}|{Song}|{1}|{2}|{1}|{}|{}|{}|{}|{}|{}|{}
    9|8|{0}|{Song}|{1}|{2}|{1}|||||||
    9|9|{0}|{Song}|{1}|{2}|{1}|||||||
    2|9|{1}|{2}||||f|{1}
    0|10||||||f|{1}
    1|10||||||f|
    10|00000000-0000-4000-8000-000000000010
    40
    0|11||||||f|{1}
    """

  /// Upgrades the schema after the first save of the other program, and saves on both ways.
  private func upgrade(_ database: TestDatabase, _ name: String) throws {
    _ = try database.server.session([EarlierProgram.wait(for: 6)], database: name)
    let backend = try PostgreSQLBackend(database.server.url(database: name), store: "Music")
    defer { backend.close() }
    let table = try backend.table(named: "Song")
    // The first one takes the complete way, and the others the short one.
    for byte in UInt8(7)...9 { try backend.commit(change(.update, 2, [byte], table)) }
  }

  @Test("A program of version 4 saves, finds conflicts and gets news after the upgrade, as before")
  func version4() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/version4.sql")
    try database.server.sql(String(contentsOf: fixture, encoding: .utf8), database: name)
    try BackendConformance.runOnThreads(2) { number in
      if number == 0 {
        let answers = try database.server.session(Self.calls, database: name)
        return #expect(answers == Self.answers)
      }
      do { try upgrade(database, name) } catch {
        // The other program would wait in vain.
        try database.server.sql(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = '\(name)'")
        throw error
      }
    }
    let backend = try PostgreSQLBackend(database.server.url(database: name), store: "Music")
    defer { backend.close() }
    let table = try backend.table(named: "Song")
    #expect(backend.lastCommitNumber == 11)
    #expect(try backend.record(2, in: table) == [10])
    #expect(try backend.record(4, in: table) == [11])
    #expect(
      try database.server.sql("select version from stored_objects.schema_version", database: name)
        == "\(Schema.version)")
  }
}

/// The statements of a program of version 4 for the only store of a database.
private enum EarlierProgram {
  /// Updates a song, whose bytes follow if there are none.
  static func update(_ row: Int, _ data: [UInt8], token: Int, basedOn: Int) -> String {
    let bytes = "'\\x" + data.map { String(format: "%02x", $0) }.joined() + "'::bytea"
    let (table, rows, content) =
      data.isEmpty ? ("'{}'", "'{}'", "'{}'") : ("'{1}'", "'{\(row)}'", "array[\(bytes)]")
    let none = { (count: Int) in Array(repeating: "'{}'", count: count) }
    var arguments = ["1", "'\(self.token(token))'", "''", "1795802848882281", "\(basedOn)"]
    arguments += ["null", "false", "'{Song}'", "'{0}'", "'{null}'", "'{null}'"]
    arguments += ["'{1}'", "'{\(row)}'", "'{1}'", table, rows, content]
    // Names, keys, values and the basis; then the external values, and what a history needs.
    arguments += none(15) + ["null"] + none(5)
    arguments += ["0::smallint", "null", "false", "null", "\(data.isEmpty)"]
    return "select * from stored_objects.commit(\(arguments.joined(separator: ", ")))"
  }

  /// Asks for the commits after a number.
  static func news(behind number: Int) -> String {
    """
    select last_commit, number, table_kinds, table_names, row_tables, rows, row_kinds, names,
      name_kinds, cleared, key_tables, keys, key_kinds, key_values
    from stored_objects.news(1, \(number), '{}')
    """
  }

  /// Waits until a commit has been made.
  static func wait(for number: Int) -> String {
    """
    do $$ begin
      for attempt in 1..60000 loop
        exit when (select last_commit from stored_objects.stores) >= \(number);
        perform pg_sleep(0.01);
      end loop;
    end $$
    """
  }

  static func token(_ number: Int) -> String {
    "00000000-0000-4000-8000-" + String(format: "%012d", number)
  }
}
