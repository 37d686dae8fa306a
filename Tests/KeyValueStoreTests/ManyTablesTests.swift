import Foundation
import KeyValueStore
import StoredObjectsCore
import TestFiles
import TestedBackends
import Testing
import TokyoCabinetBackend

@Suite("Thousands of tables, and of filters")
struct ManyTablesTests {
  private func open(_ directory: String) throws -> KeyValueStore {
    try KeyValueStore(
      backend: TokyoCabinetBackend(
        directory: directory, configuration: .init(durability: .none)))
  }

  /// The times of making so many tables, of a save to each, and of opening the store again.
  private func times(_ count: Int) throws -> [Duration] {
    try withTemporaryDirectory { parent in
      let directory = parent + "/store"
      var store = try open(directory)
      var tables: [KeyValueTable] = []
      let making = try processorTime {
        for number in 0..<count { tables.append(try store.createTable("table \(number)")) }
      }
      let writing = try processorTime {
        try store.write { batch in
          for table in tables { try batch.put(1, for: "key", in: table) }
        }
        try (store.backend as? TokyoCabinetBackend)?.checkpoint()
      }
      try store.close()
      let opening = try processorTime { store = try open(directory) }
      #expect(store.tableNames().count == count)
      #expect(try store.table("table \(count - 1)").get("key", as: Int.self) == 1)
      try store.close()
      return [making, writing, opening]
    }
  }

  @Test("Eight times as many tables take about eight times as long")
  func linear() throws {
    let (few, many) = (try times(500), try times(4000))
    for (name, (few, many)) in zip(["making", "writing", "opening"], zip(few, many)) {
      #expect(many < few * 24 + .milliseconds(200), "\(name): \(few) and \(many)")
    }
  }

  @Test("The numbers of dropped tables are used again, the lowest first")
  func numbers() throws {
    try withTemporaryDirectory { parent in
      let store = try open(parent + "/store")
      for number in 1...5 { try store.createTable("\(number)").put(number, for: "key") }
      for number in [4, 2] { try store.dropTable("\(number)") }
      for number in [6, 7, 8] { try store.createTable("\(number)").put(number, for: "key") }
      for number in [1, 3, 5, 6, 7, 8] {
        #expect(try store.table("\(number)").get("key", as: Int.self) == number)
      }
      let states = try #require(store.backend as? TokyoCabinetBackend).orderedTableStates()
      let items = states.map(\.name.name).filter { $0.hasPrefix("KeyValueItems-") }
      #expect(Set(items) == Set((1...6).map { "KeyValueItems-\($0)" }))
      try store.close()
    }
  }

  @Test("30,000 filters are applied one after the other")
  func filters() throws {
    try TestedBackend.memory.withTable { table, _ in
      try table.put(1, for: "a")
      try table.put(2, for: "b")
      var selection = table.all
      for _ in 0..<30_000 { selection = selection.filter { $0.key != "b" } }
      #expect(try selection.keys() == ["a"])
      #expect(try selection.count() == 1)
    }
  }
}
