import Foundation
import ProgramTesting
import StoredObjectsCore
import Testing

@Suite("stored-objects: schema")
struct SchemaTests {
  /// The output without its first line, which is the path.
  private func schema(
    _ tool: ProgramDirectory, _ store: String = "Library", _ options: String...
  ) throws -> String {
    let run = try tool.run("schema", store, options)
    #expect(run.status == 0 && run.errors == "")
    return run.output.split(separator: "\n", maxSplits: 1).last.map(String.init) ?? ""
  }

  private static let text = """
    0  Artist: 1 object, layout 0, version 0
         name: String
    1  Track: 2 objects, layout 1, version 0
         seconds: UInt32
         name: String, formerly title
         artist: Artist?
         class: Genre
         moods: [Mood: [Date]]
         sizes: Dictionary<String, Size>
         places: Set<Point>
         rating: Int64?
    2  My Playlist: 1 object, layout 2, version 2
         tracks: [Track]
         rowID: StoredObject?
    enum Genre: UInt8: jazz = 0, default = 7
    enum Mood: String: happy = "happy", sad = "very \\"sad\\""

    """

  @Test("Each class is shown with its ID, its objects and the properties of its newest layout")
  func text() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      #expect(try schema(tool) == Self.text)
    }
  }

  @Test("--history shows every layout and its changes")
  func history() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let history = """
        1  Track: 2 objects
           layout 0, version 0
             title: String
             seconds: UInt16
             isOld: Bool
           layout 1, version 0, in another order
             seconds: UInt32, was UInt16
             name: String, renamed from title
             artist: Artist?, new

        """
      let text = try schema(tool, "Library", "--history")
      #expect(text.contains(history))
      #expect(text.contains("     rating: Int64?, new\n     - isOld: Bool\n2  My Playlist"))
    }
  }

  @Test("--format mermaid draws values as properties and references as arrows")
  func mermaid() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let diagram = """
          class Artist {
            name: String
          }
          class Track {
            seconds: UInt32
            name: String
            class: Genre
            moods: [Mood: [Date]]
            sizes: Dictionary~String, Size~
            places: Set~Point~
            rating: Int64?
          }
          class `My Playlist`
          class Genre {
            <<enumeration>>
            jazz
            default
          }
          class Mood {
            <<enumeration>>
            happy
            sad
          }
          Track --> "1" Artist : artist
          Track ..> Genre : class
          Track ..> Mood : moods
          `My Playlist` --> "*" Track : tracks
          `My Playlist` --> "1" StoredObject : rowID

        """
      #expect(try schema(tool, "Library", "--format", "mermaid") == diagram)
    }
  }

  @Test("--format swift declares classes by @Stored, and types that they need")
  func swift() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let source = try schema(tool, "Library", "--format", "swift")
      #expect(source.contains("store.register(Artist.self, Track.self, My_Playlist.self)"))
      let start = try #require(source.range(of: "enum Genre"))
      #expect(source[start.lowerBound...] == Self.source)
    }
  }

  private static let source = """
    enum Genre: UInt8, DataBufferValue {
      case jazz = 0
      case `default` = 7
    }

    enum Mood: String, DataBufferValue, CaseIterable {
      case happy = "happy"
      case sad = "very \\"sad\\""
    }

    // The store has Size by its coding keys. Without its properties, saves lose them.
    struct Size: Codable { /* its properties */ }

    // Only its own code can read Point: put it in place of this stub.
    struct Point: DataBufferValue, Hashable {
      init() {}
      init(from buffer: inout DataBuffer) throws(DataBufferError) {
        throw DataBufferError(.invalidValue, at: buffer.offset, "Point is a stub")
      }
      func write(to buffer: inout DataBuffer) { preconditionFailure("Point is a stub") }
    }

    @Stored final class Artist: StoredObject {
      var name: String = ""
    }

    @Stored final class Track: StoredObject {
      var seconds: UInt32 = 0
      @Formerly("title") var name: String = ""
      var artist: Artist?
      var `class`: Genre = .jazz
      var moods: [Mood: [Date]] = [:]
      var sizes: [String: Size] = [:]
      var places: Set<Point> = []
      var rating: Int?
    }

    @Stored(version: 2) final class My_Playlist: StoredObject {
      override class var storedName: String { "My Playlist" }
      var tracks: [Track] = []
      // The store has it as "rowID", which can't be its name here.
      var rowID2: StoredObject?
    }

    """

  private struct Report: Decodable {
    struct Class: Decodable {
      var name: String
      var classID: UInt8
      var objects: Int
      var layouts: [Layout]
      var note: String?
      var damage: String?
    }
    struct Layout: Decodable {
      var number: UInt8
      var version: UInt8
      var isDeclared: Bool
      var properties: [Property]
      var removed: [String]
    }
    struct Property: Decodable {
      var name: String
      var type: String
      var target: String?
      var isToMany: Bool?
      var change: String?
    }
    struct Enumeration: Decodable {
      struct Case: Decodable {
        var name: String
        var value: String
      }
      var name: String
      var cases: [Case]
    }
    var classes: [Class]
    var enumerations: [Enumeration]
  }

  @Test("--json has all layouts, with their changes and enumerations")
  func json() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let report = try tool.run("schema", "Library", "--json").json(Report.self)
      #expect(report.classes.map(\.name) == ["Artist", "Track", "My Playlist"])
      #expect(report.classes.map(\.classID) == [0, 1, 2])
      let track = report.classes[1]
      #expect(track.objects == 2 && track.layouts.map(\.number) == [0, 1] && track.note == nil)
      let newest = track.layouts[1]
      #expect(newest.removed == ["isOld"] && newest.isDeclared && newest.version == 0)
      #expect(newest.properties[1].change == "renamed from title")
      #expect(newest.properties[2].target == "Artist" && newest.properties[2].isToMany == false)
      #expect(newest.properties[2].type == "Artist?")
      #expect(report.enumerations.map(\.name) == ["Genre", "Mood"])
      #expect(report.enumerations[0].cases.map(\.value) == ["0", "7"])
    }
  }

  @Test("Constant databases and encrypted stores show the same")
  func otherStores() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      #expect(try tool.run("convert", "Library", "In CDB", "--backend", "cdb").status == 0)
      #expect(try schema(tool, "In CDB") == Self.text)
      let key = String(repeating: "0a", count: 32)
      try Data(key.utf8).write(to: tool.folder.appendingPathComponent("key"))
      for store in ["Library", "In CDB"] {
        #expect(try tool.run("encrypt", store, ["--key-file", "key"]).status == 0)
        #expect(try schema(tool, store, "--key-file", "key") == Self.text)
        let refused = try tool.run("schema", store, [])
        #expect(refused.status == 1 && refused.errors.contains("encrypted"))
      }
    }
  }

  @Test("The store is not changed")
  func readOnly() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c"])
      func state() throws -> [String: Data] {
        try Dictionary(
          uniqueKeysWithValues: tool.contents("Music").map {
            ($0, try Data(contentsOf: tool.folder.appendingPathComponent("Music/\($0)")))
          })
      }
      let before = try state()
      _ = try schema(tool, "Music")
      #expect(try state() == before)
    }
  }

  @Test("Values of classes without declared properties are named by their positions")
  func values() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let text = try schema(tool, "Music")
      #expect(text.contains("0  Song: 2 objects, layout 0, version 0; declares no properties: "))
      #expect(text.contains("     value1: String\n     value2: Song?\n"))
      let source = try schema(tool, "Music", "--format", "swift")
      #expect(source.contains("// declares no properties: "))
      #expect(source.contains("  var value1: String = \"\"\n  var value2: Song?\n}"))
    }
  }

  @Test("A class without layouts is shown with a note, in every form")
  func withoutLayouts() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      try tool.setLayouts(of: "Artist", in: "Library", to: nil)
      #expect(try schema(tool).hasPrefix("0  Artist: 1 object; no layout: "))
      let source = try schema(tool, "Library", "--format", "swift")
      #expect(source.contains("// no layout: "))
      #expect(source.contains("@Stored final class Artist: StoredObject {}\n"))
      let diagram = try schema(tool, "Library", "--format", "mermaid")
      #expect(diagram.contains("  note for Artist \"no layout: "))
      let report = try tool.run("schema", "Library", "--json").json(Report.self)
      #expect(report.classes[0].note?.hasPrefix("no layout") == true)
      #expect(report.classes[0].layouts.isEmpty && report.classes[0].damage == nil)
    }
  }

  @Test("Damaged layouts are shown next to the others, with exit code 1")
  func damage() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      try tool.setLayouts(of: "Artist", in: "Library", to: [1, 9, 0, 0, 0])
      let run = try tool.run("schema", "Library")
      #expect(run.status == 1)
      #expect(run.output.contains("0  Artist: 1 object; The layouts of the class"))
      #expect(run.output.contains("1  Track: 2 objects, layout 1"))
      let json = try tool.run("schema", "Library", "--json")
      let report = try json.json(Report.self)
      #expect(json.status == 1 && report.classes[0].damage != nil)
    }
  }

  @Test("--json and --history are allowed with text only")
  func usage() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      for option in ["--json", "--history"] {
        #expect(try tool.run("schema", "Library", ["--format", "swift", option]).status == 64)
      }
      #expect(try tool.run("schema", "Library", ["--format", "yaml"]).status == 64)
    }
  }
}
