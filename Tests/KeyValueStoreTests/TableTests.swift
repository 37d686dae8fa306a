import Foundation
import KeyValueStore
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Tables")
struct TableTests {
  @Test("Creating a table twice returns the same one", arguments: TestedPlace.all)
  func create(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let store = try location.open()
      #expect(!store.hasTable("a"))
      #expect(code { _ = try store.table("a") } == "noSuchTable")
      try store.createTable("a").put(1, for: "x")
      #expect(try store.createTable("a").get("x", as: Int.self) == 1)
      try store.createTable("b")
      #expect(store.tableNames() == ["a", "b"])
      try store.close()
      let again = try location.open()
      #expect(again.tableNames() == ["a", "b"])
      #expect(try again.table("a").get("x", as: Int.self) == 1)
      #expect(try again.table("b").count() == 0)
      try again.close()
    }
  }

  @Test("A dropped table is gone for all that still have it", arguments: TestedPlace.all)
  func drop(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let store = try location.open()
      let old = try store.createTable("a")
      try old.put(1, for: "x", expiresAfter: .seconds(60))
      try store.dropTable("a")
      try store.dropTable("a")
      #expect(!store.hasTable("a"))
      // It gets the number of the old one.
      let new = try store.createTable("other")
      try new.put(2, for: "x")
      #expect(code { _ = try old.get("x", as: Int.self) } == "noSuchTable")
      #expect(code { try old.put(3, for: "x") } == "noSuchTable")
      #expect(code { _ = try old.count() } == "noSuchTable")
      #expect(try new.get("x", as: Int.self) == 2)
      location.clock.advance(100)
      #expect(try new.count() == 1)
      try store.close()
      let again = try location.open()
      #expect(again.tableNames() == ["other"])
      #expect(try again.table("other").all.items().map(Pair.init) == [Pair("x", 2)])
      try again.close()
    }
  }

  @Test("Clearing a table keeps the table and all others", arguments: TestedPlace.all)
  func clear(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let store = try location.open()
      let (a, b) = (try store.createTable("a"), try store.createTable("b"))
      for table in [a, b] { try table.put(["x": 1, "y": 2], expiresAfter: .seconds(9)) }
      try a.removeAll()
      #expect(try a.count() == 0)
      #expect(try b.count() == 2)
      try a.put(3, for: "x")
      location.clock.advance(10)
      #expect(try a.count() == 1)
      #expect(try b.count() == 0)
      try store.close()
    }
  }

  @Test("A store that is open for reading only refuses to write", arguments: TestedPlace.all)
  func readOnly(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let store = try location.open()
      try store.createTable("a").put(1, for: "x")
      try store.close()
      let reader = try location.open(readOnly: true)
      let table = try reader.table("a")
      #expect(try table.get("x", as: Int.self) == 1)
      #expect(code { try table.put(2, for: "x") } == "readOnly")
      #expect(code { try reader.createTable("b") } == "readOnly")
      try reader.close()
      #expect(code { _ = try table.get("x", as: Int.self) } == "closed")
    }
  }

  @Test("A backend has one store at a time")
  func claims() throws {
    let backend = try MemoryBackend()
    do {
      let store = try KeyValueStore(backend: backend)
      #expect(code { _ = try KeyValueStore(backend: backend) } == "inUse")
      #expect(code { _ = try KeyValueStore(backend: backend) } == "inUse")
      try store.createTable("a")
    }
    #expect(try KeyValueStore(backend: backend).tableNames() == ["a"])
  }

  @Test("Writing inside a write is refused and does not deadlock")
  func nested() throws {
    let store = try KeyValueStore(backend: MemoryBackend())
    let table = try store.createTable("a")
    try store.write { batch in
      try batch.put(1, for: "x", in: table)
      #expect(code { try table.put(2, for: "x") } == "nestedWrite")
      #expect(code { try store.createTable("b") } == "nestedWrite")
      #expect(try table.get("x", as: Int.self) == nil)
    }
    #expect(try table.get("x", as: Int.self) == 1)
  }

  @Test("A failed commit changes nothing, and can be tried again")
  func failedCommit() throws {
    let backend = FailingBackend(try MemoryBackend())
    let store = try KeyValueStore(backend: backend)
    let table = try store.createTable("a")
    try table.put(1, for: "x")
    backend.failCommits()
    #expect(code { try table.put(2, for: "x") } == "ioError")
    #expect(try table.get("x", as: Int.self) == 1)
    backend.failCommits()
    #expect(code { try store.dropTable("a") } == "ioError")
    #expect(try table.get("x", as: Int.self) == 1)
    backend.failCommits()
    #expect(code { try store.createTable("b") } == "ioError")
    #expect(!store.hasTable("b"))
    try table.put(2, for: "x")
    #expect(try table.get("x", as: Int.self) == 2)
  }

  @Test("Named stores are in the user's data directory only")
  func names() throws {
    let environment = ["XDG_DATA_HOME": "/data", "HOME": "/home/ada"]
    func path(_ name: String, _ environment: [String: String]) throws -> String {
      try UserData.directory(named: name, environment)
    }
    #expect(try path("Notes", environment) == "/data/Notes")
    #expect(try path("Notes", ["HOME": "/home/ada"]) == "/home/ada/.local/share/Notes")
    #expect(
      try path("Notes", ["HOME": "/h", "XDG_DATA_HOME": "data"]) == "/h/.local/share/Notes")
    #expect(try path("../../etc/passwd", environment) == "/data/%2E.%2F..%2Fetc%2Fpasswd")
    #expect(try path("..", environment) == "/data/%2E.")
    #expect(try path("a%2Fb", environment) == "/data/a%252Fb")
    #expect(try path("Größe 🎈 a.b", environment) == "/data/Größe 🎈 a.b")
    #expect(code { _ = try path("", environment) } == "invalidName")
    #expect(code { _ = try path(String(repeating: "x", count: 256), environment) } == "invalidName")
    #expect(code { _ = try path("Notes", [:]) } == "invalidName")
  }
}
