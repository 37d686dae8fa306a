import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing
import TokyoCabinetBackend

/// The same class with and without indexes, as two programs have it.
private class Named: StoredObject {
  @Content var name = ""
  @Content var number: Int64 = 0
  override class var storedName: String { "Named" }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(number)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    number = try buffer.readInt64()
  }
}

private final class Indexed: Named {
  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("name", \Indexed.name),
      AttributeIndex("number", \Indexed.number, isUnique: true),
    ]
  }
  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("name", \Indexed.name)]
  }
}

private final class Listener: StoreDelegate {
  var leftOut: [FetchFailure] = []
  func store(_ store: Store, didLeaveOutOfIndexes failure: FetchFailure) { leftOut.append(failure) }
}

@Suite("Damaged records in a class with indexes")
struct DamagedRecordTests {
  private func insert<Object: Named>(_ type: Object.Type, _ numbers: Range<Int>, _ store: Store)
    throws
  {
    for number in numbers {
      let object = Object()
      (object.name, object.number) = ("name \(number % 5)", Int64(number))
      store.insert(object)
    }
    try store.saveChanges()
  }

  private func close(_ store: Store) throws { try (store.backend as any StoreBackend).close() }

  /// Spoils the record of a row.
  private func damage(_ row: UInt32, _ location: any BackendLocation) throws {
    let backend = try location.open(readOnly: false)
    let table = try backend.table(named: "Named")
    try backend.commit { $0.update(row, in: table, [0, 9, 9, 9]) }
    try backend.close()
  }

  private func names(_ store: Store) throws -> Int {
    let name = "name 1"
    let plan = try store.explain(Indexed.self, where: #Predicate { $0.name == name })
    #expect(plan.indexes == ["name"])
    let count = try store.fetch(Indexed.self, where: #Predicate { $0.name == name }).count
    #expect(try store.count(of: Indexed.self, where: #Predicate { $0.name == name }) == count)
    return count
  }

  @Test(
    "A damaged record is left out of new indexes and reported, and all others are in them",
    arguments: TestedBackend.usual)
  func beforeIndexing(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let first = try location.openStore(of: Named.self)
      try insert(Named.self, 0..<40, first)
      try close(first)
      // Row 8 has number 6: name 1.
      try damage(8, location)

      let store = try location.openStore(of: Indexed.self)
      let listener = Listener()
      store.delegate = listener
      try insert(Indexed.self, 40..<50, store)
      #expect(Set(listener.leftOut.map(\.rowID)) == [8])
      let reports = listener.leftOut.count
      #expect(try names(store) == 9)
      #expect(try store.searchCount(Indexed.self, .word("name")) == 49)
      // The indexes are whole, and not made again and again.
      try insert(Indexed.self, 50..<55, store)
      #expect(listener.leftOut.count == reports)
      #expect(try store.check().findings.allSatisfy { $0.location.rowID == 8 })

      #expect(try store.delete(Indexed.self, rowID: 8))
      // Also before that is saved.
      _ = try names(store)
      try store.saveChanges()
      #expect(try store.check().findings == [])
      #expect(try store.count(of: Indexed.self) == 54)
      #expect(try names(store) == 10)
      #expect(try store.searchCount(Indexed.self, .word("name")) == 54)
      #expect(try !store.delete(Indexed.self, rowID: 8))
      try close(store)
    }
  }

  @Test("A damaged record can be deleted if it was indexed before", arguments: TestedBackend.usual)
  func afterIndexing(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let first = try location.openStore(of: Indexed.self)
      try insert(Indexed.self, 0..<40, first)
      try close(first)
      try damage(8, location)

      let store = try location.openStore(of: Indexed.self)
      try insert(Indexed.self, 40..<45, store)
      #expect(try store.delete(Indexed.self, rowID: 8))
      // Also before that is saved.
      _ = try names(store)
      try store.saveChanges()
      #expect(try store.check().findings == [])
      #expect(try names(store) == 8)
      #expect(try store.searchCount(Indexed.self, .word("name")) == 44)
      // Its values are free again.
      try insert(Indexed.self, 6..<7, store)
      #expect(try store.check().findings == [])
      try close(store)
    }
  }
}

@Suite("Entries of a store's directory that are not files")
struct ForeignDirectoryTests {
  private func directory(of location: any BackendLocation) -> String {
    (location as? DirectoryLocation)?.directory ?? ""
  }

  @Test(
    "Directories with the names of store files stop no save, and a check names them",
    arguments: [TestedBackend.tokyoCabinet, .cdb, .encryptedTokyoCabinet])
  func directories(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var store = try location.openStore(of: Indexed.self)
      let object = Indexed()
      store.insert(object)
      try store.saveChanges()
      try store.backend.close()
      let names = ["X.index", "Y.ordered", "Z", "Z.cdb"]
      for name in names {
        try FileManager.default.createDirectory(
          atPath: directory(of: location) + "/" + name, withIntermediateDirectories: false)
      }
      #expect(unsafe mkfifo(directory(of: location) + "/Pipe.index", 0o600) == 0)

      store = try location.openStore(of: Indexed.self)
      for number in 0..<3 {
        let object = Indexed()
        (object.name, object.number) = ("a name", Int64(number + 10))
        store.insert(object)
        try store.saveChanges()
      }
      #expect(try store.searchCount(Indexed.self, .word("name")) == 3)
      let findings = try store.check().findings
      #expect(!findings.isEmpty)
      for name in ["X.index", "Y.ordered"] where kind != .encryptedTokyoCabinet {
        #expect(findings.contains { "\($0)".contains(name) }, "\(findings)")
      }
      #expect(findings.contains { "\($0)".contains(kind == .cdb ? "Z.cdb" : "Z") })
      #expect(!findings.contains { "\($0)".contains("mmap") })
      try (store.backend as? TokyoCabinetBackend)?.checkpoint()
      try (store.backend as? CDBBackend)?.checkpoint()
      #expect(try store.count(of: Indexed.self) == 4)
      try store.backend.close()
    }
  }

  @Test("A directory in place of an index is reported, and saves continue without the index file")
  func inLocationOfIndex() throws {
    try TestedBackend.tokyoCabinet.withLocation { location in
      let path = directory(of: location) + "/Named..by name.index"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for round in 0..<3 {
        let store = try location.openStore(of: Indexed.self)
        let object = Indexed()
        (object.name, object.number) = ("a name", Int64(round))
        store.insert(object)
        try store.saveChanges()
        try (store.backend as? TokyoCabinetBackend)?.checkpoint()
        #expect(try store.count(of: Indexed.self) == round + 1)
        #expect(try store.check().findings.contains { "\($0)".contains("by name.index") })
        try store.backend.close()
      }
      try FileManager.default.removeItem(atPath: path)
      let store = try location.openStore(of: Indexed.self)
      let name = "a name"
      #expect(try store.fetch(Indexed.self, where: #Predicate { $0.name == name }).count == 3)
      #expect(try store.check().findings == [])
      try store.backend.close()
    }
  }
}
