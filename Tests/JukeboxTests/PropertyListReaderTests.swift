import Foundation
import ProgramTesting
import Testing

@testable import JukeboxCommands

@Suite("A library file")
struct PropertyListReaderTests {
  struct Refusal: CustomTestStringConvertible {
    var testDescription: String
    var data: Data
    var message: String
  }

  static var refusals: [Refusal] {
    get throws {
      let whole = try smallLibrary()
      let truncatedBinary = try propertyList(["Tracks": [:]] as [String: Any], .binary).dropLast(9)
      return [
        Refusal(testDescription: "nothing", data: Data(), message: "is empty"),
        Refusal(testDescription: "text", data: Data("hello".utf8), message: "not a music library"),
        Refusal(
          testDescription: "HTML", data: Data("<html><body>x</body></html>".utf8),
          message: "not a property list"),
        Refusal(
          testDescription: "a half", data: whole.prefix(whole.count / 2),
          message: "not a property list"),
        Refusal(
          testDescription: "random bytes", data: Data((0..<999).map { UInt8($0 * 7 % 251) }),
          message: "not a property list"),
        Refusal(
          testDescription: "a binary property list cut short", data: Data(truncatedBinary),
          message: "no"),
        Refusal(
          testDescription: "100,000 arrays in one another",
          data: Data(
            ("<plist version=\"1.0\"><dict><key>Tracks</key>"
              + String(repeating: "<array>", count: 100_000)).utf8),
          message: "not a property list"),
        Refusal(
          testDescription: "an array", data: try propertyList(["a", "b"]),
          message: "not a music library"),
        Refusal(
          testDescription: "no Tracks", data: try propertyList(["Playlists": [Any]()]),
          message: "no Tracks"),
        Refusal(
          testDescription: "Tracks in an array",
          data: try propertyList(["Tracks": [Any]()]), message: "not a dictionary"),
        Refusal(
          testDescription: "Playlists in a dictionary",
          data: try propertyList(["Tracks": [String: Any](), "Playlists": [String: Any]()]),
          message: "not an array"),
        Refusal(
          testDescription: "ten thousand arrays in one another",
          data: Data(
            ("<plist>" + String(repeating: "<array>", count: 10_000)).utf8),
          message: "not a property list"),
      ]
    }
  }

  @Test("that can't be read is refused with a reason", arguments: try refusals)
  func refusal(_ refusal: Refusal) throws {
    let program = try ProgramDirectory()
    defer { program.remove() }
    let run = try program.run("import", program.write(refusal.data, "Library.xml"))
    #expect(run.status == 1 && run.output == "")
    #expect(run.errors.hasPrefix("Error: ") && run.errors.contains(refusal.message))
    #expect(!FileManager.default.fileExists(atPath: program.path("Music")))
  }

  @Test("is read the same in XML and binary")
  func binary() throws {
    let tracks = ["7": track(7, "Калинка", ["Total Time": 5, "Rating": 20])]
    let playlists = [playlist(1, "さくら", [7, 7])]
    let xml = try PropertyListReader.read(propertyList(tracks: tracks, playlists: playlists))
    let binary = try PropertyListReader.read(
      propertyList(tracks: tracks, playlists: playlists, format: .binary))
    #expect(xml == binary)
    #expect(xml.playlists.first?.items == [7, 7])
  }

  @Test("without Playlists is a library without playlists")
  func noPlaylists() throws {
    let file = try PropertyListReader.read(propertyList(["Tracks": ["1": track(1, "A")]]))
    #expect(file.tracks.map(\.title) == ["A"])
    #expect(file.playlists.isEmpty)
  }

  @Test("keeps a field of the wrong type as an attribute, and does not use it")
  func wrongTypes() throws {
    let odd: [String: Any] = ["Name": 5, "Total Time": "long", "Artist": [1], "Track ID": 3]
    let file = try PropertyListReader.read(propertyList(tracks: ["3": odd]))
    let track = try #require(file.tracks.first)
    #expect(track.title == nil && track.milliseconds == nil && track.artist == nil)
    let expected: [String: PropertyValue] = [
      "Name": .integer(5), "Total Time": .string("long"), "Artist": .array([.integer(1)]),
    ]
    #expect(try track.attributes.values() == expected)
  }

  @Test("distinguishes true from 1, and 2.0 from 2")
  func numbers() throws {
    let odd = track(
      1, "A",
      ["a": true, "b": 1, "c": 2.0, "d": -1, "e": UInt64.max, "f": Int64.min, "g": false, "h": 0])
    let expected: [String: PropertyValue] = [
      "a": .bool(true), "b": .integer(1), "c": .real(2), "d": .integer(-1), "e": .unsigned(.max),
      "f": .integer(.min), "g": .bool(false), "h": .integer(0),
    ]
    // Foundation's XML reader does not take Int64.min; the binary one does.
    let file = try PropertyListReader.read(propertyList(tracks: ["1": odd], format: .binary))
    #expect(try file.tracks.first?.attributes.values() == expected)
  }

  @Test("can have negative and huge numbers")
  func extremes() throws {
    let file = try PropertyListReader.read(
      propertyList(tracks: [
        "-4": track(-4, "A", ["Total Time": -1500]), "9": track(9, "B", ["Total Time": UInt64.max]),
        "9223372036854775807": track(.max, "C", ["Total Time": Int.max]),
      ]))
    #expect(file.tracks.map(\.id) == [-4, 9, .max])
    #expect(file.tracks.map(\.milliseconds) == [-1500, nil, .max])
  }

  @Test("leaves out items whose track is missing, and counts them")
  func danglingItems() throws {
    var list = playlist(1, "A", [1, 99, 1])
    list["Playlist Items"] =
      (list["Playlist Items"] as? [Any] ?? []) + ["x", ["Name": "no ID"], ["Track ID": "1"]]
    let file = try PropertyListReader.read(
      propertyList(tracks: ["1": track(1, "A")], playlists: [list]))
    #expect(file.playlists.first?.items == [1, 1, 1])
    #expect(file.problems.unknownTracks == 1)
    #expect(file.problems.unreadableItems == 2)
  }

  @Test("can have playlists with the same ID, or without one")
  func playlistIDs() throws {
    let file = try PropertyListReader.read(
      propertyList(playlists: [
        playlist(5, "A", []), playlist(5, "B", []), playlist(nil, "C", []), playlist(nil, "C", []),
      ]))
    #expect(
      file.playlists.map(\.origin) == [
        .library(id: 5, occurrence: 1), .library(id: 5, occurrence: 2),
        .unnumbered(name: "C", occurrence: 1), .unnumbered(name: "C", occurrence: 2),
      ])
  }

  @Test("identifies a track by its Track ID, or else by its key, each once")
  func trackIDs() {
    let ids = TrackIDs.assign([
      ("1", 1), ("2", 1), ("3", nil), ("x", 40), ("y", nil), ("z", 40), ("50", 60),
    ])
    #expect(ids == [1, 2, 3, 40, nil, nil, 60])
  }

  @Test("with a playlist or a track that is not a dictionary loses only that")
  func strangers() throws {
    let file = try PropertyListReader.read(
      propertyList(
        ["Tracks": ["1": track(1, "A"), "2": "x"], "Playlists": ["y", playlist(1, "B", [1])]]
          as [String: Any]))
    #expect(file.tracks.count == 1 && file.playlists.count == 1)
    #expect(file.problems.unreadableTracks == 1 && file.problems.unreadablePlaylists == 1)
  }
}
