import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

@testable import PostgreSQLBackend

@Suite("Upgrades of the schema while an earlier program has a store open", .needsServer)
struct OpenUpgradeTests {
  /// The calls of a program of version 6, which keeps its session.
  ///
  /// Each of its requests ends with the question for the commits of others, in the same transaction.
  private static let calls = [
    EarlierProgram.update(2, [6], token: 6, basedOn: 5),
    EarlierProgram.wait,
    """
    do $$ begin
      begin
        \(EarlierProgram.update(2, [10], token: 10, basedOn: 9, "perform"));
        perform * from stored_objects.news(1, 9, '{}');
        raise exception 'the program has gone on';
      exception when undefined_function then null;
      end;
    end $$
    """,
  ]

  /// Upgrades the schema after the first save of the other program, and saves on both ways.
  private func upgrade(_ database: TestDatabase, _ name: String) throws {
    while try database.server.sql("select max(number) from stored_objects.commits", database: name)
      != "6"
    { Thread.sleep(forTimeInterval: 0.01) }
    let backend = try PostgreSQLBackend(database.server.url(database: name), store: "Music")
    defer { backend.close() }
    let table = try backend.table(named: "Song")
    // The first one takes the complete way, and the others the short one.
    for byte in UInt8(7)...9 { try backend.commit(change(.update, 2, [byte], table)) }
    try database.server.sql("insert into public.saves values (1)", database: name)
  }

  @Test("A program of version 6 gets an error after the upgrade, and changes nothing")
  func version6() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/version6.sql")
    try database.server.sql(String(contentsOf: fixture, encoding: .utf8), database: name)
    try database.server.sql("create table public.saves (number integer)", database: name)
    try BackendConformance.runOnThreads(2) { number in
      if number == 0 {
        let answers = try database.server.session(Self.calls, database: name)
        return #expect(answers == "0|6||||||f|{1}")
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
    #expect(backend.lastCommitNumber == 9)
    #expect(try backend.record(2, in: table) == [9])
    #expect(
      try database.server.sql("select version from stored_objects.schema_version", database: name)
        == "\(Schema.version)")
  }

  @Test("Rows and keys that version 7 has not counted are counted by the upgrade")
  func version7() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/version7.sql")
    try database.server.sql(String(contentsOf: fixture, encoding: .utf8), database: name)
    let uncounted = "select count(*) from stored_objects.commits where uncounted is not null"
    #expect(try database.server.sql(uncounted, database: name) == "5")
    let backend = try PostgreSQLBackend(database.server.url(database: name), store: "Songs")
    defer { backend.close() }
    let table = try backend.table(named: "Song")
    // Of six songs, and the metadata row of the class.
    #expect(backend.lastCommitNumber == 8)
    #expect(try backend.recordCount(in: table) == 7)
    #expect(
      try database.server.sql(
        """
        select s.counted, s.weight = sum(c.weight)
        from stored_objects.stores s join stored_objects.commits c on c.store = s.id
        where s.name = 'Songs' group by 1, s.weight
        """, database: name) == "8|t")
    for byte in UInt8(0)..<3 {
      try backend.commit(change(.insert, 90 + UInt32(byte), [byte], table))
    }
    #expect(try backend.recordCount(in: table) == 10)
    #expect(try backend.reserveRows(1, in: table) == 93...93)
  }
}

/// The statements of a program of version 6 for the only store of a database.
private enum EarlierProgram {
  /// Updates a song, whose bytes follow if there are none.
  static func update(
    _ row: Int, _ data: [UInt8], token: Int, basedOn: Int, _ verb: String = "select"
  ) -> String {
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
    return "\(verb) * from stored_objects.commit(\(arguments.joined(separator: ", ")))"
  }

  /// Waits for the other program, without a lock that an upgrade would wait for.
  static let wait = """
    do $$ begin
      for attempt in 1..60000 loop
        exit when exists (select 1 from public.saves);
        perform pg_sleep(0.01);
      end loop;
    end $$
    """

  static func token(_ number: Int) -> String {
    "00000000-0000-4000-8000-" + String(format: "%012d", number)
  }
}
