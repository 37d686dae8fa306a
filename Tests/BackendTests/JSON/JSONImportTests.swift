import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Importing JSON")
struct JSONImportTests {
  /// A store with a singer of row 2 who has the tunes 2 and 3, and a file of lines.
  private func run(
    _ lines: String, filled: Bool = true, _ body: (Store, String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
      try store.register(JSONThing.self, JSONPlain.self, JSONSinger.self, JSONTune.self)
      if filled {
        let singer = JSONSinger()
        store.insert(singer)
        singer.name = "Ada"
        for title in ["Sunny", "Rainy"] {
          let tune = JSONTune()
          store.insert(tune)
          (tune.title, tune.singer) = (title, singer)
        }
        try store.saveChanges()
      }
      let path = directory + "/lines.jsonl"
      try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
      try body(store, path)
    }
  }

  private func error(_ lines: String, mode: JSONImportMode = .keepIDs) throws -> StoreError? {
    var found: StoreError?
    try run(lines) { store, path in
      do {
        try store.importJSON(from: path, mode: mode, batchSize: 1)
      } catch { found = error as? StoreError }
      #expect(!store.hasUnsavedChanges)
      let tunes = try store.allObjects(of: JSONTune.self)
      #expect(tunes.map(\.title) == ["Sunny", "Rainy"])
      #expect(try store.count(of: JSONSinger.self) == 1)
    }
    return found
  }

  static let good = #"{"class":"JSONTune","values":{"title":"x"}}"#

  @Test(
    "An invalid line is named, and nothing is imported",
    arguments: [
      ("{", "invalidJSON"), ("[]", "invalidJSON"), ("{}", "invalidJSON"),
      (#"{"class":"JSONTune"}"#, "invalidJSON"),
      (#"{"class":"JSONTune","values":{},"extra":1}"#, "invalidJSON"),
      (#"{"id":"JSONTune/1","values":{}}"#, "invalidJSON"),
      (#"{"id":"JSONTune/4294967296","values":{}}"#, "invalidJSON"),
      (#"{"id":"JSONTune","values":{}}"#, "invalidJSON"),
      (#"{"class":"Nobody","values":{}}"#, "notRegistered"),
      (#"{"id":"JSONTune/2","values":{}}"#, "rowExists"),
      (#"{"class":"JSONTune","values":{"length":1}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"seconds":256}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"seconds":-1}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"seconds":1.5}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"seconds":"1"}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"title":null}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"singer":"JSONTune/2"}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"singer":"JSONSinger/99"}}"#, "invalidValue"),
      (#"{"class":"JSONTune","values":{"singer":"Ada"}}"#, "invalidValue"),
      (#"{"class":"JSONSinger","values":{"tunes":[null]}}"#, "invalidValue"),
      (#"{"class":"JSONTune","layout":7,"values":{}}"#, "invalidJSON"),
      (#"{"class":"JSONPlain","values":{}}"#, "invalidJSON"),
      (#"{"class":"JSONPlain","bytes":"?"}"#, "invalidJSON"),
      (String(repeating: #"{"class":"#, count: 10_000), "invalidJSON"),
    ])
  func badLines(line: String, code: String) throws {
    let error = try error(Self.good + "\n\n" + line + "\n" + Self.good)
    #expect(error?.code.description == code)
    #expect(error?.location.line == 3)
    if code == "invalidValue" { #expect(error?.location.property != nil) }
    #expect(error?.location.path?.hasSuffix("lines.jsonl") == true)
  }

  @Test("An ID that occurs twice is named")
  func duplicate() throws {
    let line = #"{"id":"JSONTune/9","values":{}}"#
    let error = try error(line + "\n" + line)
    #expect(error?.code == .invalidJSON && error?.location.line == 2 && error?.location.rowID == 9)
  }

  @Test(
    "A row ID that would exhaust those of the class is refused, and uses none",
    arguments: [
      #"{"id":"JSONTune/4294967295","values":{}}"#, #"{"id":"JSONTune/4026531840","values":{}}"#,
      #"{"storedObjects":1,"classes":[{"name":"JSONTune","id":3,"lastRow":4294967295}]}"#,
    ], [JSONImportMode.keepIDs, .replace])
  func highRow(line: String, mode: JSONImportMode) throws {
    let error = try error(line + "\n" + Self.good, mode: mode)
    #expect(error?.code == .rowIDsExhausted && error?.location.line == 1)
    #expect(error?.location.className == "JSONTune")
    try run(line) { store, path in
      #expect(throws: StoreError.self) { try store.importJSON(from: path, mode: mode) }
      let tune = JSONTune()
      store.insert(tune)
      #expect(tune.rowID == 4)
      let value = ObjectValue(className: "JSONTune", rowID: .max)
      #expect(throws: StoreError.self) { try store.insertOrUpdate(value) }
    }
    let high = line.replacing("4294967295", with: "4026531839").replacing("40", with: "39")
    try run(high) { store, path in
      try store.importJSON(from: path, mode: mode)
      let tune = JSONTune()
      store.insert(tune)
      #expect(tune.rowID > 3_926_000_000)
    }
    try run(line) { store, path in try store.importJSON(from: path, mode: .newIDs) }
  }

  @Test("A header of a later format is refused")
  func laterHeader() throws {
    let error = try error(#"{"storedObjects":2,"classes":[]}"# + "\n" + Self.good)
    #expect(error?.code == .invalidJSON && error?.location.line == 1)
  }

  @Test("With new IDs, a reference to an object outside of the file is named")
  func unknownReference() throws {
    let line = #"{"class":"JSONTune","values":{"singer":"JSONSinger/2"}}"#
    let error = try error(Self.good + "\n" + line, mode: .newIDs)
    #expect(error?.code == .invalidValue && error?.location.line == 2)
    #expect(error?.location.property == "singer")
  }

  @Test("Unique values stay unique, and a failed save leaves the batches before it")
  func notUnique() throws {
    let lines = ["Bob", "Cid", "Ada", "Eve"].map {
      #"{"class":"JSONSinger","values":{"name":""# + $0 + #""}}"#
    }
    try run(lines.joined(separator: "\n")) { store, path in
      let error = #expect(throws: StoreError.self) {
        try store.importJSON(from: path, batchSize: 1)
      }
      #expect(error?.code == .notUnique)
      #expect(!store.hasUnsavedChanges)
      let singers = try store.allObjects(of: JSONSinger.self)
      #expect(Set(singers.map(\.name)) == ["Ada", "Bob", "Cid"])
      #expect(throws: StoreError.self) { try store.importJSON(from: path, batchSize: 100) }
      #expect(try store.count(of: JSONSinger.self) == 3)
    }
  }

  @Test("Both sides of a relationship agree, whichever side the file has", arguments: [1, 3, 1000])
  func inverses(batchSize: Int) throws {
    let lines = [
      #"{"id":"JSONTune/20","values":{"title":"a","singer":"JSONSinger/30"}}"#,
      #"{"id":"JSONSinger/30","values":{"name":"Bob"}}"#,
      #"{"id":"JSONSinger/31","values":{"name":"Cid","tunes":["JSONTune/22","JSONTune/21"]}}"#,
      #"{"id":"JSONTune/21","values":{"title":"b"}}"#,
      #"{"id":"JSONTune/22","values":{"title":"c","seconds":7}}"#,
    ]
    try run(lines.joined(separator: "\n")) { store, path in
      #expect(try store.importJSON(from: path, batchSize: batchSize) == 5)
      let bob = try #require(try store.object(JSONSinger.self, rowID: 30))
      let cid = try #require(try store.object(JSONSinger.self, rowID: 31))
      #expect(bob.tunes.map(\.title) == ["a"] && cid.tunes.map(\.title) == ["c", "b"])
      #expect(cid.tunes.allSatisfy { $0.singer === cid })
      #expect(try store.check().findings.isEmpty)
      let long = try store.fetch(JSONTune.self, where: #Predicate { $0.seconds == 7 })
      #expect(long.map(\.rowID) == [22])
      #expect(try store.search(JSONTune.self, "c").map(\.object.rowID) == [22])
    }
  }

  @Test(
    "Replacing changes the existing objects and inserts the others", arguments: [1, 100])
  func replace(batchSize: Int) throws {
    let lines = [
      #"{"id":"JSONTune/3","values":{"title":"Stormy"}}"#,
      #"{"id":"JSONTune/9","values":{"singer":{"id":"JSONSinger/2"}}}"#,
      #"{"id":"JSONSinger/2","values":{"tunes":["JSONTune/9","JSONTune/3"]}}"#,
    ]
    try run(lines.joined(separator: "\n")) { store, path in
      let tune = try #require(try store.object(JSONTune.self, rowID: 3))
      for _ in 0..<2 {
        #expect(try store.importJSON(from: path, mode: .replace, batchSize: batchSize) == 3)
        #expect(tune.title == "Stormy" && tune.singer?.name == "Ada")
        #expect(tune.singer?.tunes.map(\.rowID) == [9, 3])
        #expect(try store.object(JSONTune.self, rowID: 2)?.singer == nil)
        #expect(try store.check().findings.isEmpty)
      }
    }
  }

  @Test("An import in one save is one undo step")
  func undo() throws {
    try run(Self.good + "\n" + Self.good) { store, path in
      let manager = store.undoManager ?? StoreUndoManager()
      store.undoManager = manager
      try store.importJSON(from: path, batchSize: 100)
      #expect(try store.count(of: JSONTune.self) == 4)
      try manager.undo()
      try store.saveChanges()
      #expect(try store.allObjects(of: JSONTune.self).map(\.title) == ["Sunny", "Rainy"])
    }
  }

  @Test("Unsaved changes are not saved with the import")
  func unsavedChanges() throws {
    try run(Self.good) { store, path in
      store.insert(JSONTune())
      let error = #expect(throws: StoreError.self) { try store.importJSON(from: path) }
      #expect(error?.code == .unsavedChanges)
    }
  }

  @Test("Changed bytes of an export are imported or refused, and the store stays sound")
  func mutated() throws {
    var generator = Seeds.generator(for: "mutated export")
    try run("") { store, path in
      let thing = JSONThing()
      store.insert(thing)
      thing.randomize([thing], &generator)
      try store.saveChanges()
      try store.exportJSON(to: path)
      let export = try Data(contentsOf: URL(fileURLWithPath: path))
      for _ in 0..<300 {
        var bytes = [UInt8](export)
        for _ in 0...Int.random(in: 0..<2, using: &generator) {
          let location = Int.random(in: bytes.indices, using: &generator)
          bytes[location] = Array("0179[]{}\",:/-eJST\n".utf8).randomElement(using: &generator) ?? 0
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let copy = Store(backend: try MemoryBackend(disk: MemoryDisk()))
        try copy.register(JSONThing.self, JSONPlain.self, JSONSinger.self, JSONTune.self)
        do {
          try copy.importJSON(from: path)
        } catch { #expect((error as? StoreError)?.code != .damaged, "\(error)") }
        #expect(!copy.hasUnsavedChanges)
        _ = try copy.allObjects(of: JSONThing.self)
      }
    }
  }

  @Test("Memory does not grow with the file")
  func memory() throws {
    try run("", filled: false) { store, path in
      let count = 30_000
      var lines = ""
      for index in 0..<count {
        lines += #"{"class":"JSONPlain","bytes":"AgAAAGFiAAAAAA=="}"# + "\n"
        if index % 10_000 == 0 { lines += "\n" }
      }
      try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
      var most = 0
      let delegate = LivingObjects()
      store.delegate = delegate
      try store.importJSON(from: path, batchSize: 100)
      most = delegate.most
      #expect(try store.count(of: JSONPlain.self) == count)
      #expect(most <= 100)
      var largest = 0
      var total = 0
      try store.exportJSON { piece in
        largest = max(largest, piece.count)
        total += piece.count
      }
      #expect(total > 1 << 20 && largest < 1 << 19)
    }
  }

  @Test(
    "A batch of large lines ends early, unless the import is one save", arguments: [10_000, .max])
  func largeLines(batchSize: Int) throws {
    try run("") { _, path in
      let line =
        #"{"class":"JSONTune","values":{"title":""# + String(repeating: "x", count: 1 << 20)
      let lines = Array(repeating: line + "\"}}", count: 33).joined(separator: "\n")
      try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
      let backend = FailingBackend(try MemoryBackend(disk: MemoryDisk()))
      let store = Store(backend: backend)
      try store.register(JSONPlainTune.self)
      let before = backend.commitCount
      try store.importJSON(from: path, batchSize: batchSize)
      #expect(backend.commitCount - before == (batchSize == .max ? 1 : 2))
    }
  }

  /// The class without indexes and relationships.
  private final class JSONPlainTune: StoredObject {
    @Content var title = ""

    override class var storedName: String { "JSONTune" }
    override class var layout: ClassLayout? {
      ClassLayout(JSONPlainTune.self, [StoredProperty("title", String.self)])
    }
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
    }
  }

  /// Counts the objects that are inserted between saves.
  private final class LivingObjects: StoreDelegate {
    private var count = 0
    private(set) var most = 0

    func store(_ store: Store, willInsert object: StoredObject) {
      count += 1
      most = max(most, count)
    }
    func storeDidSave(_ store: Store) { count = 0 }
  }
}
