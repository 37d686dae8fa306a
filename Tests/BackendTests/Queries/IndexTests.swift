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
  @Content var number: Int64?
  override class var storedName: String { "Named" }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(number ?? -1)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    let found = try buffer.readInt64()
    number = found < 0 ? nil : found
  }
}

private final class Indexed: Named {
  override class var indexes: [AttributeIndex] { [AttributeIndex("name", \Indexed.name)] }
}

private final class Unique: Named {
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("number", \Unique.number, isUnique: true)]
  }
}

private final class Threaded: Named {
  override class var isCodedOnAnyThread: Bool { true }
  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("name", \Threaded.name), AttributeIndex("number", \Threaded.number),
    ]
  }
}

@Suite("Indexes") struct IndexTests {
  private func insert<Object: Named>(_ type: Object.Type, _ names: [String], _ store: Store) throws
  {
    for name in names {
      let object = Object()
      object.name = name
      store.insert(object)
    }
    try store.saveChanges()
  }

  private func find(_ name: String, _ store: Store) throws -> Int {
    let count = try store.fetch(Indexed.self, where: #Predicate { $0.name == name }).count
    let plan = try store.explain(Indexed.self, where: #Predicate { $0.name == name })
    #expect(plan.indexes == ["name"] && plan.indexesToBuild == [])
    return count
  }

  @Test("A new index is built from the existing objects", arguments: TestedBackend.usual)
  func newIndex(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var store = try location.openStore(of: Named.self)
      try insert(Named.self, (0..<300).map { "N\($0 % 100)" }, store)
      try store.backend.close()
      store = try location.openStore(of: Indexed.self)
      #expect(try store.check().findings == [])
      #expect(try find("N7", store) == 3)
      #expect(try store.check().findings == [])
      try store.backend.close()
    }
  }

  @Test("explain builds no index, and reports that the query will", arguments: TestedBackend.usual)
  func explaining(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var store = try location.openStore(of: Named.self)
      try insert(Named.self, (0..<300).map { "N\($0 % 100)" }, store)
      try store.backend.close()
      store = try location.openStore(of: Indexed.self)
      let asked = #Predicate<Indexed> { $0.name == "N7" || $0.name == "N8" }
      for orders in [[], [.ascending(\.name)]] as [[QueryOrder<Indexed>]] {
        for _ in 0..<2 {
          let plan = try store.explain(Indexed.self, where: asked, sortedBy: orders)
          #expect(plan.indexes == [] && plan.touchedCount == 300)
          #expect(plan.indexesToBuild == ["name"])
          #expect("\(plan)".hasSuffix("(the query makes \"name\" first)"))
        }
      }
      #expect(
        try store.explain(Indexed.self, where: #Predicate { $0.number == 1 }).indexesToBuild == [])
      #expect(try store.fetch(Indexed.self, where: asked).count == 6)
      let plan = try store.explain(Indexed.self, where: asked)
      #expect(plan.indexes == ["name"] && plan.indexesToBuild == [])
      try store.backend.close()
    }
  }

  @Test(
    "An index that another program has not updated is built again",
    arguments: TestedBackend.usual)
  func staleIndex(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      for round in 0..<3 {
        var store = try location.openStore(of: Indexed.self)
        try insert(Indexed.self, ["A", "B"], store)
        #expect(try find("A", store) == 2 * round + 1)
        try store.backend.close()
        store = try location.openStore(of: Named.self)
        if let object = try store.allObjects(of: Named.self).last { object.name = "A" }
        try store.saveChanges()
        try store.backend.close()
        store = try location.openStore(of: Indexed.self)
        #expect(try find("A", store) == 2 * round + 2)
        #expect(try store.check().findings == [])
        try store.backend.close()
      }
    }
  }

  @Test(
    "A missing or damaged index file is built again",
    arguments: [TestedBackend.tokyoCabinet, .cdb], [0, 1, 2])
  func lostIndex(_ kind: TestedBackend, _ damage: Int) throws {
    try TokyoFixtures.withDirectory { directory in
      func open() throws -> (any StoreBackend, Store) {
        let backend: any StoreBackend =
          kind == .cdb
          ? try CDBBackend(directory: directory) : try TokyoCabinetBackend(directory: directory)
        let store = Store(backend: backend)
        try store.register(Indexed.self)
        return (backend, store)
      }
      var (backend, store) = try open()
      try insert(Indexed.self, (0..<2_000).map { "N\($0 % 100)" }, store)
      try (backend as? TokyoCabinetBackend)?.checkpoint()
      try (backend as? CDBBackend)?.checkpoint()
      try backend.close()
      let path = directory + "/Named..by name.index"
      if damage == 0 {
        try FileManager.default.removeItem(atPath: path)
      } else {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[damage == 1 ? 2 : bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
      }
      (backend, store) = try open()
      #expect(try find("N7", store) == 20)
      try insert(Indexed.self, ["N7"], store)
      #expect(try find("N7", store) == 21)
      #expect(try store.fetch(Indexed.self, sortedBy: [.ascending(\.name)]).count == 2_001)
      if damage == 2 {
        // Nothing has looked at the page yet.
        #expect(try Set(store.check().findings.map(\.kind)) == [.index])
        let errors = (0..<100).compactMap { number in
          do {
            _ = try find("N\(number)", store)
            return nil as StoreError?
          } catch { return error as? StoreError }
        }
        #expect(!errors.isEmpty)
        for error in errors {
          #expect(error.code == .damaged && error.location.path == path, "\(error)")
          #expect("\(error)".contains("rebuildIndexes(of:)"), "\(error)")
        }
        try store.rebuildIndexes(of: Indexed.self)
      }
      for round in 0..<2 {
        for number in 0..<100 {
          #expect(try find("N\(number)", store) == (number == 7 ? 21 : 20), "\(round)")
        }
        #expect(try store.check().findings == [])
        try backend.close()
        if round == 0 { (backend, store) = try open() }
      }
    }
  }

  @Test(
    "Objects that were equal before an index became unique stay, and check names them",
    arguments: TestedBackend.usual)
  func earlierDuplicates(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var store = try location.openStore(of: Named.self)
      try insert(Named.self, ["A", "B", "C", "D", "E", "F"], store)
      let numbers: [Int64?] = [1, 2, 1, nil, nil, 1]
      for (object, number) in zip(try store.allObjects(of: Named.self), numbers) {
        object.number = number
      }
      try store.saveChanges()
      try store.backend.close()
      store = try location.openStore(of: Unique.self)
      try insert(Unique.self, ["G"], store)
      let findings = try store.check().findings
      #expect(findings.map(\.kind) == [.duplicate] && findings.first?.location.rowID == 4)
      #expect(findings.first?.message.contains("Row 2 has the same values") == true)
      #expect(findings.first?.message.contains("1 more") == true)
      #expect(try store.object(Unique.self, where: \.number, is: 1)?.rowID == 2)
      let objects = try store.allObjects(of: Unique.self)
      objects[2].name = "new"
      let error = #expect(throws: StoreError.self) { try store.saveChanges() }
      #expect(error?.code == .notUnique && error?.location.rowID == 4)
      objects[2].number = 9
      store.delete(objects[5])
      try store.saveChanges()
      #expect(try store.check().findings == [])
      try store.backend.close()
    }
  }

  /// Takes a key out of an index, and puts another one in.
  private func expectFindings(
    in name: String, of type: StoredObject.Type, _ store: Store
  ) throws {
    let table = try store.backend.orderedTable(.init(name, kind: .index))
    let key = try #require(try store.backend.keys(in: table).last?.key)
    try store.backend.commit { $0.set(key, to: nil, in: table) }
    #expect(try store.check().findings.map(\.kind) == [.index, .index])
    try store.rebuildIndexes(of: type)
    #expect(try store.check().findings == [])
    try store.backend.commit { $0.set(key + [1], to: [], in: table) }
    #expect(try store.check().findings.map(\.kind) == [.index])
  }

  @Test(
    "A missing or surplus key in an index is found by check",
    arguments: TestedBackend.usual)
  func disagreement(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let store = try location.openStore(of: Indexed.self)
      try insert(Indexed.self, ["A", "B"], store)
      try expectFindings(in: "Named..by name", of: Indexed.self, store)
      try store.backend.close()
    }
  }

  @Test(
    "A missing or surplus key in an index of a list is found by check",
    arguments: TestedBackend.usual)
  func listDisagreement(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let store = try location.openStore(of: Track.self, Mix.self)
      let tracks = [Track(), Track()]
      for track in tracks { store.insert(track) }
      let mix = Mix()
      mix.tracks = tracks
      store.insert(mix)
      try store.saveChanges()
      #expect(try store.check().findings == [])
      try expectFindings(in: "Mix..by tracks", of: Mix.self, store)
      try store.backend.close()
    }
  }

  @Test(
    "A unique index refuses a save with the values of another object, except nil",
    arguments: TestedBackend.usual)
  func uniqueIndex(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let store = try location.openStore(of: Unique.self)
      func make(_ number: Int64?) -> Unique {
        let object = Unique()
        object.number = number
        store.insert(object)
        return object
      }
      let objects = [make(1), make(2), make(nil), make(nil)]
      try store.saveChanges()
      let new = make(2)
      #expect { try store.saveChanges() } throws: { ($0 as? StoreError)?.code == .notUnique }
      // Two that exchange their values are no duplicates.
      (objects[0].number, objects[1].number) = (2, 1)
      new.number = 3
      try store.saveChanges()
      let one = make(7)
      let two = make(7)
      #expect { try store.saveChanges() } throws: { ($0 as? StoreError)?.code == .notUnique }
      store.delete(two)
      try store.saveChanges()
      store.delete(one)
      _ = make(7)
      try store.saveChanges()
      #expect(try store.check().findings == [])
      #expect(try store.count(of: Unique.self, where: #Predicate { $0.number == 7 }) == 1)
      try store.backend.close()
    }
  }

  @Test(
    "Stores on one backend see each other's keys, and pages stay right between their saves",
    arguments: TestedBackend.usual)
  func pagesBetweenSaves(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      let (reader, writer) = (Store(backend: backend), Store(backend: backend))
      try reader.register(Indexed.self)
      try writer.register(Indexed.self)
      try insert(Indexed.self, (0..<50).map { "M\(10 + $0)" }, writer)
      var names: [String] = []
      var last: Indexed?
      repeat {
        let page = try reader.fetch(
          Indexed.self, sortedBy: [.ascending(\.name)], limit: 7, after: last)
        names += page.map(\.name)
        last = page.last
        // Before the page, which an offset would count.
        try insert(Indexed.self, ["A"], writer)
      } while last != nil
      #expect(names == (0..<50).map { "M\(10 + $0)" })
      try backend.close()
    }
  }

  @Test("A failed save does not change the indexes", arguments: TestedBackend.usual)
  func failedSave(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = FailingBackend(try location.open())
      let store = Store(backend: backend)
      try store.register(Indexed.self)
      try insert(Indexed.self, ["A"], store)
      let object = try #require(try store.allObjects(of: Indexed.self).first)
      object.name = "B"
      backend.failCommits()
      #expect(throws: StoreError.self) { try store.saveChanges() }
      #expect(try find("A", store) == 0 && find("B", store) == 1)
      #expect(try store.check().findings == [])
      try store.saveChanges()
      #expect(try find("A", store) == 0 && find("B", store) == 1)
      #expect(try store.check().findings == [])
      try backend.close()
    }
  }

  @Test(
    "A save large enough for two threads has each key once",
    arguments: TestedBackend.usual)
  func largeSave(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var store = try location.openStore(of: Threaded.self)
      let count = 20_003
      for number in 0..<count {
        let object = Threaded()
        object.name = "N\(number * 7919 % count)"
        object.number = number % 3 == 0 ? nil : Int64(number)
        store.insert(object)
      }
      try store.saveChanges()
      #expect(try store.check().findings == [])
      // Among many new ones some that are changed, and some that go.
      for object in try store.allObjects(of: Threaded.self).prefix(300) {
        if object.rowID % 2 == 0 { object.name = "changed" } else { store.delete(object) }
      }
      for number in 0..<count {
        let object = Threaded()
        object.name = "M\(number)"
        store.insert(object)
      }
      try store.saveChanges()
      #expect(try store.check().findings == [])
      try store.backend.close()
      store = try location.openStore(of: Threaded.self)
      #expect(try store.count(of: Threaded.self, where: #Predicate { $0.name == "changed" }) == 150)
      let last = try store.fetch(Threaded.self, sortedBy: [.descending(\.name)], limit: 2)
      #expect(last.map(\.name) == ["changed", "changed"])
      #expect(
        try store.count(of: Threaded.self, where: #Predicate { $0.name >= "M" && $0.name < "N" })
          == count)
      try store.backend.close()
    }
  }
}
