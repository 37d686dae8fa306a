import CDBBackend
import Foundation
import KeyValueStore
import StoredObjectsCore
import TestFiles
import TestedBackends
import Testing
import TokyoCabinetBackend

@Suite("Copies of key-value stores")
struct CopyTests {
  private func fill(_ store: KeyValueStore, _ numbers: Range<Int>) throws {
    let table = try store.createTable("numbers / *")
    for number in numbers { try table.put(number, for: "item \(number)") }
    try store.createTable("passing").put("soon gone", for: "x", expiresAfter: .seconds(9999))
  }

  private func check(_ backend: any StoreBackend, _ count: Int) throws {
    let store = try KeyValueStore(backend: backend)
    #expect(store.tableNames() == ["numbers / *", "passing"])
    let table = try store.table("numbers / *")
    #expect(try table.count() == count)
    for number in 0..<count { #expect(try table.get("item \(number)", as: Int.self) == number) }
    #expect(try store.table("passing").get("x", as: String.self) == "soon gone")
    try store.close()
  }

  @Test(
    "A backup, a copy on another backend and a salvage have all tables, with the items in the log")
  func tokyoCabinet() throws {
    try withTemporaryDirectory { folder in
      let backend = try TokyoCabinetBackend(directory: folder + "/old")
      let store = try KeyValueStore(backend: backend)
      try fill(store, 0..<300)
      try backend.checkpoint()
      try fill(store, 300..<400)
      try backend.backup(to: folder + "/backup")
      let target = try CDBBackend(directory: folder + "/converted")
      try BackendCopy(from: backend, to: target).run()
      try target.close()
      try FileManager.default.copyItem(atPath: folder + "/old", toPath: folder + "/killed")
      try store.close()
      let report = try TokyoCabinetBackend.salvage(
        from: folder + "/killed", to: folder + "/salvaged")
      #expect(report.losses.isEmpty && report.orderedTables.contains { $0.keyCount == 400 })
      try check(try TokyoCabinetBackend(directory: folder + "/backup"), 400)
      try check(try CDBBackend(directory: folder + "/converted"), 400)
      try check(try TokyoCabinetBackend(directory: folder + "/salvaged"), 400)
    }
  }

  @Test("Copies of a store in constant databases have them, too")
  func cdb() throws {
    try withTemporaryDirectory { folder in
      let backend = try CDBBackend(directory: folder + "/old")
      let store = try KeyValueStore(backend: backend)
      try fill(store, 0..<300)
      try backend.backup(to: folder + "/backup")
      let target = try TokyoCabinetBackend(directory: folder + "/converted")
      try BackendCopy(from: backend, to: target).run()
      try target.close()
      try store.close()
      #expect(
        try CDBBackend.salvage(from: folder + "/old", to: folder + "/salvaged").losses.isEmpty)
      try check(try CDBBackend(directory: folder + "/backup"), 300)
      try check(try TokyoCabinetBackend(directory: folder + "/converted"), 300)
      try check(try CDBBackend(directory: folder + "/salvaged"), 300)
    }
  }
}
