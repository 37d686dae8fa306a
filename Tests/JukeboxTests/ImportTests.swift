import Foundation
import StoredObjects
import Testing

@testable import JukeboxCommands

@Suite("An import")
struct ImportTests {
  @Test("inserts songs and playlists in the order of the file")
  func order() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(smallLibrary())
    #expect(
      try library.contents() == [
        ["Evening", "Greensleeves", "Maple Leaf Rag", "Greensleeves"], ["Rags", "Maple Leaf Rag"],
      ])
    #expect(try library.songs().map(\.number) == [1, 2, 3])
  }

  @Test("changes nothing the second time")
  func twice() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(smallLibrary())
    var importer = LibraryImporter(library)
    let report = try importer.run(try PropertyListReader.read(smallLibrary()))
    #expect(!library.store.hasUnsavedChanges)
    #expect(report.songs == .init(unchanged: 3))
    #expect(report.playlists == .init(unchanged: 2))
  }

  @Test("updates changed and removed fields, and keeps the rest")
  func update() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(smallLibrary())
    let report = try library.importLibrary(
      propertyList(
        tracks: ["2": track(2, "Moldau", ["Comments": "new"]), "4": track(4, "Калинка")],
        playlists: [playlist(30, "New", [4]), playlist(20, "Night", [4, 2])]))
    #expect(report.songs == .init(added: 1, updated: 1))
    #expect(report.playlists == .init(added: 1, updated: 1))
    let moldau = try library.song("#2", among: library.songs())
    #expect(moldau.title == "Moldau" && moldau.artist == nil && moldau.album == nil)
    #expect(try moldau.attributes.values() == ["Comments": .string("new")])
    #expect(
      try library.contents() == [
        ["New", "Калинка"], ["Night", "Калинка", "Moldau"], ["Rags", "Maple Leaf Rag"],
      ])
    let greensleeves = try library.song("#3", among: library.songs())
    #expect(greensleeves.playlists.isEmpty)
  }

  @Test("distinguishes playlists with the same ID, the same name, or no ID, also when repeated")
  func odd() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    let data = try propertyList(
      tracks: ["1": track(1, "A")],
      playlists: [
        playlist(5, "Mix", [1]), playlist(6, "Mix", []), playlist(5, "Other", [1, 1]),
        playlist(nil, "Mix", []), playlist(nil, "Mix", [1]), playlist(nil, "", []),
      ])
    let expected = [["Mix", "A"], ["Mix"], ["Other", "A", "A"], ["Mix"], ["Mix", "A"], [""]]
    try library.importLibrary(data)
    #expect(try library.contents() == expected)
    #expect(Set(try library.playlists().map(\.number)).count == 6)
    let report = try library.importLibrary(data)
    #expect(report.playlists == .init(unchanged: 6))
    #expect(try library.contents() == expected)
    let exported = try library.importLibrary(try LibraryExporter(library).propertyList())
    #expect(exported.playlists.added == 0)
    #expect(try library.contents() == expected)
  }

  @Test("changes its own numbers in favour of the IDs of a library")
  func numbers() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    _ = try library.makePlaylist("Mine", .created)
    try library.importPlaylist("a.mp3\n")
    try library.importLibrary(
      propertyList(
        tracks: ["1000001": track(1_000_001, "Theirs")],
        playlists: [playlist(1_000_001, "Their list", [1_000_001])]))
    #expect(try library.playlist("#1000001").name == "Their list")
    #expect(try library.song("#1000001", among: library.songs()).title == "Theirs")
    #expect(try library.contents() == [["Their list", "Theirs"], ["Mine"], ["Rainy", "a"]])
    #expect(Set(try library.playlists().map(\.number)).count == 3)
    #expect(Set(try library.songs().map(\.number)).count == 2)
  }

  @Test("of an M3U playlist identifies songs by their location")
  func playlistFile() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(
      propertyList(tracks: [
        "1": track(1, "Known", ["Location": "file://localhost/music/a%20b.mp3"])
      ]))
    let report = try library.importPlaylist(
      "#EXTINF:3,X - Y\n/music/a b.mp3\n../music/a b.mp3\nc.mp3\nc.mp3\n")
    #expect(report.songs == .init(added: 1, unchanged: 1))
    #expect(try library.contents() == [["Rainy", "Known", "Known", "c", "c"]])
  }

  @Test("of an M3U playlist again updates it")
  func playlistFileTwice() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importPlaylist("#EXTINF:3,X - Y\na.mp3\nb.mp3\n")
    let same = try library.importPlaylist("#EXTINF:3,X - Y\na.mp3\nb.mp3\n")
    #expect(same.playlists == .init(unchanged: 1) && same.songs == .init(unchanged: 2))
    let changed = try library.importPlaylist("#EXTINF:4,X - Z\na.mp3\nc.mp3\na.mp3\n")
    #expect(changed.playlists == .init(updated: 1) && changed.songs == .init(added: 1, updated: 1))
    #expect(try library.contents() == [["Rainy", "Z", "c", "Z"]])
    #expect(try library.songs().count == 3)
  }

  @Test("of a library updates a song from an M3U playlist")
  func adoption() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importPlaylist("/music/a.mp3\n")
    try library.importLibrary(
      propertyList(tracks: ["7": track(7, "Known", ["Location": "file:///music/a.mp3"])]))
    #expect(try library.songs().map(\.number) == [7])
    #expect(try library.contents() == [["Rainy", "Known"]])
  }
}
