import Foundation
import StoredObjects
import Testing

@testable import JukeboxCommands

@Suite("An export")
struct ExportTests {
  @Test("has everything that was imported, with attributes and order")
  func roundTrip() throws {
    let tracks: [String: Any] = [
      "1": track(1, "A", ["Rating": 20, "Date Added": Date(timeIntervalSince1970: 1e9)]),
      "2": ["Track ID": 2, "Total Time": "wrong", "Artist": ["also", "wrong"]],
      "3": track(3, "", ["Album": "", "Loved": true, "Gain": 1.5, "Size": UInt64.max]),
    ]
    let playlists: [[String: Any]] = [
      playlist(9, "Twice", [1, 1, 3], ["Master": true]),
      playlist(8, "Folder", [], ["Folder": true]),
      playlist(7, "Twice", [], ["Smart Info": Data([1, 2, 3]), "Playlist Items": [Any]()]),
    ]
    let data = try propertyList(
      ["Tracks": tracks, "Playlists": playlists, "Features": 5] as [String: Any])
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(data)
    let exported = try LibraryExporter(library).propertyList()
    #expect(try PropertyListReader.read(exported) == PropertyListReader.read(data))
    let (before, after) = (try parsed(data), try parsed(exported))
    #expect(before.isEqual(to: after as? [AnyHashable: Any] ?? [:]))
  }

  private func parsed(_ data: Data) throws -> NSDictionary {
    let value = try unsafe PropertyListSerialization.propertyList(
      from: data, options: [], format: nil)
    return try #require(value as? [String: Any]) as NSDictionary
  }

  @Test("of songs created here updates the same store without duplicates")
  func ownThings() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(smallLibrary())
    try library.importPlaylist("a.mp3\nb.mp3\na.mp3\n")
    let mine = try library.makePlaylist("Mine", .created)
    for song in try library.songs() { mine.append(song) }
    try library.store.saveChanges()
    let before = try library.contents()
    let report = try library.importLibrary(try LibraryExporter(library).propertyList())
    #expect(report.songs.added == 0 && report.playlists.added == 0)
    #expect(try library.contents() == before)
    #expect(try library.songs().count == 5)
  }

  @Test("of an empty store is a library that can be imported")
  func nothing() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    let file = try PropertyListReader.read(try LibraryExporter(library).propertyList())
    #expect(file.tracks.isEmpty && file.playlists.isEmpty)
  }

  @Test("is XML that other programs can read, whatever the names")
  func strangeCharacters() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(
      propertyList(
        tracks: [
          "1": track(
            1, "a\u{1}b\u{0}<&>\n\t🎶",
            ["Date Added": Date(timeIntervalSinceReferenceDate: 1e300)])
        ], format: .binary))
    let exported = try LibraryExporter(library).propertyList()
    let title = try PropertyListReader.read(exported).tracks.first?.title
    #expect(title == "a\u{FFFD}b\u{FFFD}<&>\n\t🎶")
  }
}
