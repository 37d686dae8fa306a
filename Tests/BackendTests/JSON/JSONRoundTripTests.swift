import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Exporting and importing JSON")
struct JSONRoundTripTests {
  private static let classes: [StoredObject.Type] = [
    JSONThing.self, JSONLive.self, JSONPlain.self, JSONSinger.self, JSONTune.self,
  ]

  private func open(_ location: any BackendLocation) throws -> (any StoreBackend, Store) {
    let backend = try location.open(readOnly: false)
    let store = Store(backend: backend)
    try store.register(Self.classes)
    return (backend, store)
  }

  /// Every record, but for metadata rows, which have a salt.
  private func records(_ backend: any StoreBackend) throws -> [String: [UInt32: [UInt8]]] {
    var all: [String: [UInt32: [UInt8]]] = [:]
    for name in try backend.tableNames() {
      var rows: [UInt32: [UInt8]] = [:]
      _ = try backend.scan(try backend.table(named: name), from: nil) { row, record in
        let span = Span<UInt8>(_bytes: record)
        if row > 1 { rows[row] = span.indices.map { span[$0] } }
        return .next
      }
      all[name] = rows.isEmpty ? nil : rows
    }
    return all
  }

  private func fill(_ store: Store, count: Int, _ generator: inout SeededGenerator) throws {
    var objects: [StoredObject] = (0..<count).map { index in
      index % 3 == 0 ? JSONLive() : JSONThing()
    }
    objects += (0..<4).map { _ in JSONPlain() }
    for object in objects { store.insert(object) }
    for object in objects {
      (object as? JSONThing)?.randomize(objects, &generator)
      (object as? JSONPlain)?.thing = objects[0] as? JSONThing
    }
    try store.saveChanges()
    // References that lead nowhere.
    for object in objects[1..<3] { try store.delete(type(of: object), rowID: object.rowID) }
    for object in objects {
      guard let thing = object as? JSONThing, !thing.isDeleted else { continue }
      thing.next = thing.next?.isDeleted == true ? nil : thing.next
      thing.list.removeAll(where: \.isDeleted)
      thing.group = thing.group.filter { !$0.isDeleted }
      thing.any = thing.any?.isDeleted == true ? nil : thing.any
      thing.anyList.removeAll(where: \.isDeleted)
    }
    try store.saveChanges()
  }

  @Test(
    "An export is complete: after an import, each record has the same bytes",
    arguments: TestedBackend.usual)
  func roundTrip(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "JSON round trip on \(kind)")
    try withTemporaryDirectory { directory in
      try kind.withLocation { location in
        try kind.withLocation { other in
          let (backend, store) = try open(location)
          try fill(store, count: 60, &generator)
          // References to this one lead nowhere.
          let things = try backend.table(named: "JSONThing")
          try backend.commit { $0.delete(10, in: things) }
          let path = directory + "/export.jsonl"
          let reader = Store(backend: backend)
          try reader.register(Self.classes)
          let count = try reader.exportJSON(to: path)
          #expect(count == 61)
          let (copyBackend, copy) = try open(other)
          #expect(try copy.importJSON(from: path, batchSize: 7) == count)
          #expect(try records(copyBackend) == records(backend))
          #expect(try copy.check().findings.count == reader.check().findings.count)
          let again = directory + "/again.jsonl"
          try copy.exportJSON(to: again)
          #expect(try lines(again) == lines(path))
          // Row IDs are not used twice.
          let next = JSONThing()
          copy.insert(next)
          #expect(next.rowID == 42)
        }
      }
    }
  }

  private func lines(_ path: String) throws -> Set<String> {
    Set(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init))
  }

  @Test("The tool, without classes, produces the same lines and the same records")
  func withoutClasses() throws {
    var generator = Seeds.generator(for: "JSON without classes")
    try withTemporaryDirectory { directory in
      let backend = try MemoryBackend(disk: MemoryDisk())
      let store = Store(backend: backend)
      try store.register(Self.classes)
      try fill(store, count: 30, &generator)
      let export = try RecordExport(backend)
      let path = directory + "/records.jsonl"
      try withNewFile(path) { write in
        _ = try export.exportJSON(export.classes, progress: { _ in }, write: write)
      }
      for mode in [JSONImportMode.keepIDs, .replace] {
        let copy = try MemoryBackend(disk: MemoryDisk())
        for _ in 0..<(mode == .replace ? 2 : 1) {
          _ = try RecordTarget.importJSON(from: path, into: copy, mode: mode, batchSize: 5) { _ in }
        }
        #expect(try records(copy) == records(backend))
        let opened = Store(backend: copy)
        try opened.register(Self.classes)
        #expect(try opened.check().findings.isEmpty)
      }
      // A program reads what the tool has written, bytes of opaque classes included.
      let other = Store(backend: try MemoryBackend(disk: MemoryDisk()))
      try other.register(Self.classes)
      try other.importJSON(from: path)
      #expect(try records(other.backend) == records(backend))
    }
  }

  @Test("With new IDs, references keep their order, and everything else is the same")
  func newIDs() throws {
    try withTemporaryDirectory { directory in
      let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
      try store.register(Self.classes)
      let things = (0..<5).map { index in
        let thing = index == 3 ? JSONLive() : JSONThing()
        thing.title = "\(index)"
        store.insert(thing)
        return thing
      }
      things[0].list = [things[4], things[3], things[4], things[0]]
      things[0].any = things[3]
      try store.saveChanges()
      let path = directory + "/export.jsonl"
      try store.exportJSON(to: path, classes: [JSONThing.self, JSONLive.self])
      #expect(try store.importJSON(from: path, mode: .newIDs, batchSize: 2) == 5)
      let all = try store.allObjects(of: JSONThing.self, includingSubclasses: true)
      #expect(all.count == 10)
      let copy = try #require(all.first { $0.title == "0" && $0 !== things[0] })
      #expect(copy.list.map(\.title) == ["4", "3", "4", "0"])
      #expect(copy.list[3] === copy && copy.list[0] === copy.list[2])
      #expect(copy.list.allSatisfy { !things.contains($0) })
      #expect((copy.any as? JSONLive)?.title == "3" && copy.any !== things[3])
    }
  }

  @Test("A program reads objects as values, to any depth")
  func values() throws {
    let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
    try store.register(Self.classes)
    let singer = JSONSinger()
    (singer.name, singer.tunes) = ("Ada", [JSONTune()])
    store.insert(singer)
    store.insert(singer.tunes[0])
    #expect(try singer.value().values == ["name": "Ada", "tunes": ["JSONTune/2"]])
    let tune: StoredValue = [
      "id": "JSONTune/2",
      "values": ["seconds": 3, "singer": "JSONSinger/2", "title": "untitled"],
    ]
    #expect(try singer.value(depth: 1)["tunes"] == [tune])
    let deep = try JSONEncoder().encode(try singer.value(depth: 2))
    let text = String(decoding: deep, as: UTF8.self)
    #expect(text.ranges(of: "\"Ada\"").count == 2)
    #expect(throws: StoreError.self) { try JSONTune().value() }
  }

  /// Foundation's JSON has one form for 5 and 5.0 in values of `Codable` types.
  private static func withoutWholeDoubles(_ value: StoredValue) -> StoredValue {
    switch value {
    case .double(let number): Int64(exactly: number).map { .int($0) } ?? value
    case .array(let elements): .array(elements.map(withoutWholeDoubles))
    case .dictionary(let fields):
      .dictionary(.init(fields.map { ($0.key, withoutWholeDoubles($0.value)) }))
    default: value
    }
  }

  @Test("A value that went through any coder updates the object, or creates one")
  func coders() throws {
    var generator = Seeds.generator(for: "coded values")
    let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
    try store.register(Self.classes)
    let things = (0..<20).map { _ in JSONThing() }
    for thing in things { store.insert(thing) }
    for thing in things { thing.randomize(things, &generator) }
    try store.saveChanges()
    let before = try things.map { Self.withoutWholeDoubles(try $0.value().storedValue) }
    for thing in things {
      let value = try thing.value()
      let json = try JSONDecoder().decode(
        ObjectValue.self, from: try JSONEncoder().encode(value))
      #expect(try store.insertOrUpdate(json) === thing)
    }
    try store.saveChanges()
    store.dissolveAllRelationships()
    #expect(try things.map { Self.withoutWholeDoubles(try $0.value().storedValue) } == before)
    let other = Store(backend: try MemoryBackend(disk: MemoryDisk()))
    try other.register(Self.classes)
    for thing in things {
      for number in 0..<20 {
        thing.tags.insert("\(number)")
        thing.names["\(number)"] = Float(number)
        thing.pairs[Int32(number)] = ["\(number)"]
      }
      (thing.next, thing.list, thing.group, thing.any, thing.anyList) = (nil, [], [], nil, [])
      let copy = try #require(try other.insertOrUpdate(try thing.value()) as? JSONThing)
      #expect(copy.tags == thing.tags && copy.pairs == thing.pairs)
      #expect(copy.names.count == thing.names.count && copy.names["19"] == 19)
    }
    let new = try store.insertOrUpdate(ObjectValue(className: "JSONTune", values: ["seconds": 9]))
    let tune = try #require(new as? JSONTune)
    #expect(tune.title == "untitled" && tune.seconds == 9 && tune.store === store)
    try store.insertOrUpdate(
      ObjectValue(className: "JSONTune", rowID: tune.rowID, values: ["title": "x"]))
    #expect(tune.title == "x" && tune.seconds == 9)
  }
}
