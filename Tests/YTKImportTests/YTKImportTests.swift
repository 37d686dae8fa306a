import CSQLite
import Foundation
import KeyValueStore
import SystemSQLite
import TestFiles
import Testing
import YTKImport

@Suite("Imports from YTKKeyValueStore")
struct YTKImportTests {
  /// A file with the given statements run on it.
  private func withFile(_ statements: [String], _ body: (String) throws -> Void) throws {
    let folder = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/test.sqlite"
    var handle: OpaquePointer?
    #expect(unsafe sqlite3_open(path, &handle) == SQLITE_OK)
    for statement in statements {
      let code = unsafe sqlite3_exec(handle, statement, nil, nil, nil)
      #expect(code == SQLITE_OK, "\(statement)")
    }
    unsafe sqlite3_close(handle)
    try body(path)
  }

  private static func table(_ name: String) -> String {
    """
    CREATE TABLE IF NOT EXISTS \(name) ( \
    id TEXT NOT NULL, json TEXT NOT NULL, createdTime TEXT NOT NULL, PRIMARY KEY(id))
    """
  }

  private static let statements = [
    table("user_table"), table("\"it's \"\"odd\"\" %\""), "CREATE TABLE other (a INTEGER)",
    "INSERT INTO user_table VALUES ('1', '{\"id\":1,\"name\":\"tang\",\"age\":30.5}', 1416000000.25)",
    "INSERT INTO user_table VALUES ('s', '[\"text\"]', 1416000000)",
    "INSERT INTO user_table VALUES ('n', '[7]', '2014-12-15T10:20:30.500')",
    "INSERT INTO user_table VALUES ('list', '[1, 2]', 1416000000)",
    "INSERT INTO user_table VALUES ('plain', 'no JSON''; %', 'nonsense')",
    "INSERT INTO \"it's \"\"odd\"\" %\" VALUES ('%', '[[1]]', 1416000000)",
  ]

  @Test("All tables, values and times are imported")
  func whole() throws {
    try withFile(Self.statements) { path in
      let store = try KeyValueStore(backend: MemoryBackend())
      let report = try YTKImport(path: path, reading: .sqlite).run(into: store)
      #expect(report.tables == ["user_table": 5, "it's \"odd\" %": 1])
      #expect(report.textCount == 1 && report.texts == [.init("user_table", "plain")])
      #expect(report.unreadableTimeCount == 1)
      #expect(report.unreadableTimes == [.init("user_table", "plain")])
      #expect(report.skippedTables == ["other"])
      let users = try store.table("user_table")
      let one = try #require(try users.item("1"))
      #expect(one.value == ["id": 1, "name": "tang", "age": 30.5])
      #expect(one.createdAt == Date(timeIntervalSince1970: 1_416_000_000.25))
      #expect(one.updatedAt == one.createdAt)
      #expect(try users.get("s", as: String.self) == "text")
      #expect(try users.get("n", as: Int.self) == 7)
      #expect(
        try users.item("n")?.createdAt == Date(timeIntervalSince1970: 1_418_638_830.5))
      #expect(try users.get("list", as: [Int].self) == [1, 2])
      #expect(try users.get("plain", as: String.self) == "no JSON'; %")
      #expect(try store.table("it's \"odd\" %").value(for: "%") == [[1]])
    }
  }

  @Test("Integers of JSON are read as Double, too")
  func wholeNumbers() throws {
    struct Person: Codable { var age: Double }
    let rows = [
      Self.table("t"), "INSERT INTO t VALUES ('two', '[2]', 1)",
      "INSERT INTO t VALUES ('ada', '{\"age\":30}', 1)",
      "INSERT INTO t VALUES ('list', '[1, 2.5]', 1)",
    ]
    try withFile(rows) { path in
      let store = try KeyValueStore(backend: MemoryBackend())
      _ = try YTKImport(path: path, reading: .sqlite).run(into: store)
      let table = try store.table("t")
      #expect(try table.get("two", as: Double.self) == 2)
      #expect(try table.get("ada", as: Person.self)?.age == 30)
      #expect(try table.get("list", as: [Double].self) == [1, 2.5])
    }
  }

  @Test("Nothing is left next to the source, whatever its journal", arguments: ["WAL", "DELETE"])
  func leftovers(journal: String) throws {
    let statements = ["PRAGMA journal_mode = \(journal)"] + Self.statements
    try withFile(statements) { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["test.sqlite"])
      let odd = folder + "/a ?%20#b.sqlite"
      try FileManager.default.moveItem(atPath: path, toPath: odd)
      let store = try KeyValueStore(backend: MemoryBackend())
      #expect(try YTKImport(path: odd, reading: .sqlite).run(into: store).tables["user_table"] == 5)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder) == ["a ?%20#b.sqlite"])
    }
  }

  @Test("Changes in the log of the source only are imported, too")
  func unfinishedLog() throws {
    try withFile(["PRAGMA journal_mode = WAL"] + Self.statements) { path in
      var handle: OpaquePointer?
      #expect(unsafe sqlite3_open(path, &handle) == SQLITE_OK)
      defer { unsafe sqlite3_close(handle) }
      let sql = "INSERT INTO user_table VALUES ('new', '[8]', 1)"
      #expect(unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
      let store = try KeyValueStore(backend: MemoryBackend())
      #expect(
        try YTKImport(path: path, reading: .sqlite).run(into: store).tables["user_table"] == 6)
    }
  }

  @Test("Arrays of one element stay, if requested")
  func arrays() throws {
    try withFile(Self.statements) { path in
      let store = try KeyValueStore(backend: MemoryBackend())
      _ = try YTKImport(path: path, reading: .sqlite, keepsArrays: true).run(into: store)
      #expect(try store.table("user_table").get("s", as: [String].self) == ["text"])
    }
  }

  @Test("A failed import does not change the store")
  func refusals() throws {
    let store = try KeyValueStore(backend: MemoryBackend())
    #expect(throws: YTKImport.Failure.self) {
      try YTKImport(path: "/nowhere.sqlite", reading: .sqlite).run(into: store)
    }
    try withFile(["CREATE TABLE other (a INTEGER)"]) { path in
      #expect(throws: YTKImport.Failure.self) {
        try YTKImport(path: path, reading: .sqlite).run(into: store)
      }
    }
    try withFile(Self.statements) { path in
      try Data("this is no database, but a text".utf8).write(to: URL(fileURLWithPath: path))
      #expect(throws: (any Error).self) {
        try YTKImport(path: path, reading: .sqlite).run(into: store)
      }
    }
    #expect(store.tableNames() == [])
    try store.createTable("user_table").put(1, for: "1")
    try withFile(Self.statements) { path in
      #expect(throws: YTKImport.Failure.self) {
        try YTKImport(path: path, reading: .sqlite).run(into: store)
      }
    }
    #expect(store.tableNames() == ["user_table"])
    #expect(try store.table("user_table").all.keys() == ["1"])
  }
}

extension YTKImport.Report.Item {
  fileprivate init(_ table: String, _ key: String) { self.init(table: table, key: key) }
}
