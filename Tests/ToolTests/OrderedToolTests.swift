import Foundation
import KeyValueStore
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// A class with indexes of both kinds.
private final class Verse: StoredObject {
  @Content var text = ""

  convenience init(_ text: String) {
    self.init()
    self.text = text
  }
  override class var storedName: String { "Verse" }
  override class var indexes: [AttributeIndex] { [AttributeIndex("text", \Verse.text)] }
  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("text", \Verse.text)]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

@Suite("stored-objects: indexes and other ordered tables")
struct OrderedToolTests {
  private struct Table: Decodable, Equatable {
    var name: String
    var kind: String?
    var holds: String?
    var keys: Int?
    var fileBytes: Int?
    var condition: String?
  }
  private struct Report: Decodable { var orderedTables: [Table] }
  private struct Record: Decodable, Equatable { var key, bytes: String }

  /// A store with a class that has indexes, and key-value tables.
  private func makeStore(_ tool: ProgramDirectory) throws {
    let backend = try TokyoCabinetBackend(directory: tool.path("Poems"))
    let store = Store(backend: backend)
    try store.register(Verse.self)
    for text in ["Shall I compare thee", "to a summer's day"] { store.insert(Verse(text)) }
    try store.saveChanges()
    let values = try KeyValueStore(backend: backend)
    let table = try values.createTable("sonnets / 18")
    try table.put("Shakespeare", for: "poet", expiresAfter: .seconds(9999))
    try backend.checkpoint()
    try backend.close()
  }

  @Test("info lists them with their content, keys, sizes and states, in text and JSON")
  func info() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let run = try tool.run("info", "Poems", "--json")
      #expect(run.status == 0)
      let tables = try run.json(Report.self).orderedTables
      #expect(
        tables.map(\.name) == [
          "KeyValueExpiry-1.ordered", "KeyValueItems-1.ordered", "KeyValueTables.ordered",
          "Verse..by text.index", "Verse..text.index",
        ])
      #expect(tables.map(\.kind) == ["data", "data", "data", "index", "index"])
      #expect(tables.prefix(4).map(\.keys) == [1, 1, 1, 3] && (tables[4].keys ?? 0) > 10)
      #expect(tables.allSatisfy { ($0.fileBytes ?? 0) > 70 && $0.condition == "whole" })
      let text = try tool.run("info", "Poems").output
      for line in [
        "index of Verse by text: 3 keys, ", "full-text index of Verse: ",
        "items of the key-value table \"sonnets / 18\": 1 key, ",
        "expiry times of the key-value table \"sonnets / 18\": 1 key, ",
        "list of key-value tables: 1 key, ",
      ] { #expect(text.contains("\n" + line), "\(line)") }
    }
  }

  @Test("info reports a lost or unfinished index, and damaged data")
  func conditions() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      try FileManager.default.removeItem(atPath: tool.path("Poems/Verse..by text.index"))
      let backend = try TokyoCabinetBackend(directory: tool.path("Poems"))
      let table = try backend.orderedTable(OrderedTableName("Verse..text", kind: .index))
      try backend.commit { $0.set([0], to: Array("unfinished 1".utf8), in: table) }
      try backend.close()
      try tool.edit("Poems/KeyValueItems-1.ordered") { $0[$0.count - 20] ^= 1 }
      let run = try tool.run("info", "Poems", "--json")
      let tables = try run.json(Report.self).orderedTables
      #expect(run.status == 1)
      #expect(
        tables.map(\.condition) == ["whole", "damaged", "whole", "lost", "unfinished"], "\(tables)")
      #expect(tables[1].keys == nil && tables[3].fileBytes == 0)
      let text = try tool.run("info", "Poems").output
      #expect(text.contains("unknown keys") && text.contains("damaged: salvage the store"))
      #expect(text.contains("lost: it is rebuilt") && text.contains("unfinished: "))
    }
  }

  @Test("dump writes key-value tables with all other data, and an index if it is named")
  func dump() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let all = try tool.run("dump", "Poems", "--json").json([String: [Record]].self)
      #expect(
        Set(all.keys) == [
          "Verse", "KeyValueExpiry-1.ordered", "KeyValueItems-1.ordered", "KeyValueTables.ordered",
        ])
      let items = try #require(all["KeyValueItems-1.ordered"])
      #expect(items.map(\.key) == [hex("poet")] && items[0].bytes.contains(hex("Shakespeare")))
      let index = try tool.run("dump", "Poems", "Verse..by text.index", "--json")
        .json([Record].self)
      #expect(index.count == 3 && index[0].key == "00" && index[1].key.hasPrefix("01"))
      let text = try tool.run("dump", "Poems", "KeyValueTables.ordered")
      #expect(text.status == 0 && text.output.hasPrefix(hex("sonnets / 18") + " 01"))
      let unknown = try tool.run("dump", "Poems", "Verse..by title.index")
      #expect(unknown.status == 1 && unknown.errors.contains("Verse..by text.index"))
    }
  }

  private func hex(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test("check reads all their pages, and salvage reports the copied keys")
  func checkAndSalvage() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let sound = try tool.run("check", "Poems", "--json")
      #expect(sound.status == 0)
      let tables = try sound.json(Report.self).orderedTables
      #expect(tables.count == 5 && tables[1] == Table(name: "KeyValueItems-1.ordered", keys: 1))
      #expect(try tool.run("check", "Poems").output.contains("Verse..by text.index: 3 keys\n"))
      let whole = try tool.run("salvage", "Poems", "Whole", "--json")
      #expect(whole.status == 0)
      #expect(try whole.json(Report.self).orderedTables.map(\.keys) == [1, 1, 1])
      let values = try KeyValueStore(directory: tool.path("Whole"))
      #expect(try values.table("sonnets / 18").get("poet", as: String.self) == "Shakespeare")
      try values.close()
      for name in ["KeyValueItems-1.ordered", "Verse..by text.index"] {
        try tool.edit("Poems/" + name) { $0[40] ^= 1 }
        let found = try tool.run("check", "Poems")
        #expect(found.status == 1 && found.output.contains(name), "\(name)")
        try tool.edit("Poems/" + name) { $0[40] ^= 1 }
      }
      try tool.edit("Poems/KeyValueItems-1.ordered") { $0[40] ^= 1 }
      let run = try tool.run("salvage", "Poems", "Saved")
      #expect(run.status == 1)
      #expect(run.output.contains("KeyValueItems-1.ordered: 0 keys salvaged"))
    }
  }

  @Test("Those of an encrypted store are listed by their real names")
  func encrypted() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let hexKey = String(repeating: "0a", count: 32)
      try Data(hexKey.utf8).write(to: tool.folder.appending(path: "key"))
      let key = ["--key-file", "key"]
      #expect(try tool.run("encrypt", "Poems", key).status == 0)
      let info = try tool.run("info", "Poems", key)
      #expect(info.status == 0 && info.output.contains("index of Verse by text: 3 keys"))
      #expect(info.output.contains("items of the key-value table \"sonnets / 18\": 1 key"))
      let saved = try tool.run("salvage", "Poems", ["Saved"] + key)
      #expect(saved.status == 0 && saved.output.contains("KeyValueItems-1.ordered: 1 key"))
      let dump = try tool.run("dump", "Saved", ["KeyValueItems-1.ordered"] + key)
      #expect(dump.output.contains(hex("Shakespeare")))
    }
  }
}
