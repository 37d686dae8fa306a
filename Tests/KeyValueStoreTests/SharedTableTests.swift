import Foundation
import KeyValueStoreCore
import StoreEngine
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Stores on backends that share a directory, as those of several processes do.
@Suite("Key-value stores that share a directory")
struct SharedTableTests {
  private func withStores(
    _ kind: TestedBackend, _ body: (KeyValueStore, KeyValueStore) throws -> Void
  ) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let stores = try (0..<2).map { _ in
        try KeyValueStore(backend: kind.openSmall(parent + "/store", sharing: .processes))
      }
      defer { for store in stores { try? store.close() } }
      try body(stores[0], stores[1])
    }
  }

  @Test("Items of one process can be read by the other", arguments: TestedBackend.onDisk)
  func putting(_ kind: TestedBackend) throws {
    try withStores(kind) { first, second in
      let notes = try first.createTable("notes")
      let same = try second.table("notes")
      for number in 0..<100 {
        try (number % 2 == 0 ? notes : same).put(number, for: "\(number)")
        #expect(try notes.get("\(number)", as: Int.self) == number)
        #expect(try same.get("\(number)", as: Int.self) == number)
      }
      #expect(try same.delete("7") && notes.count() == 99)
      #expect(try !notes.delete("7"))
    }
  }

  @Test("Both increment one item without losing an increment", arguments: TestedBackend.onDisk)
  func counting(_ kind: TestedBackend) throws {
    try withStores(kind) { first, second in
      let tables = [try first.createTable("counts"), try second.createTable("counts")]
      for number in 0..<100 {
        let table = tables[number % 2]
        try table.store.write { batch in
          let count = try batch.get("count", from: table, as: Int.self) ?? 0
          try batch.put(count + 1, for: "count", in: table)
        }
      }
      #expect(try tables[0].get("count", as: Int.self) == 100)
    }
  }

  @Test("Tables that one process creates and drops appear and disappear for the other")
  func tables() throws {
    try withStores(.tokyoCabinet) { first, second in
      let notes = try first.createTable("notes")
      try notes.put("x", for: "a")
      #expect(second.tableNames() == ["notes"])
      let same = try second.table("notes")
      try second.createTable("others")
      #expect(first.tableNames() == ["notes", "others"])
      try first.dropTable("notes")
      #expect(second.tableNames() == ["others"])
      let error = #expect(throws: StoreError.self) { try same.put("y", for: "a") }
      #expect(error?.code == .noSuchTable)
      let again = try second.createTable("notes")
      #expect(try again.count() == 0)
      #expect(try first.table("notes").count() == 0)
    }
  }

  @Test("A new table shares no items with one that took the number of a dropped table")
  func numbers() async throws {
    let parent = try makeTemporaryDirectory(in: .memory)
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let stores = try (0..<2).map { _ in
      try KeyValueStore(
        backend: TestedBackend.tokyoCabinet.openSmall(parent + "/store", sharing: .processes))
    }
    try await stores[0].createTable("old")
    var changes = stores[0].changes().makeAsyncIterator()
    try await stores[1].dropTable("old")
    // It gets the number of the dropped one.
    let theirs = try await stores[1].createTable("theirs")
    while let change = await changes.next(), change.table != "theirs" {}
    let mine = try await stores[0].createTable("mine")
    try await mine.put(1, for: "a")
    #expect(try theirs.count() == 0)
    for store in stores { try store.close() }
  }

  @Test("Observers get the writes of another process")
  func observing() async throws {
    let parent = try makeTemporaryDirectory(in: .memory)
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let kind = TestedBackend.encryptedTokyoCabinet
    let store = try KeyValueStore(
      backend: kind.openSmall(parent + "/store", sharing: .processes))
    let other = try KeyValueStore(
      backend: kind.openSmall(parent + "/store", sharing: .processes))
    var changes = store.changes().makeAsyncIterator()
    let notes = try await other.createTable("notes")
    try await notes.put(1, for: "a")
    try await notes.delete("a")
    try await other.dropTable("notes")
    var found: [String] = []
    while found.count < 4, let change = await changes.next() {
      found.append("\(change.kind) \(change.table) \(change.key ?? "-")")
    }
    #expect(found == ["created notes -", "put notes a", "deleted notes a", "dropped notes -"])
    try other.close()
    try store.close()
  }
}
