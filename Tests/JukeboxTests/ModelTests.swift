import Foundation
import StoredObjects
import Testing

@testable import JukeboxCommands

@Suite("The model")
struct ModelTests {
  @Test("reads back every field of a song and a playlist")
  func roundTrip() throws {
    let disk = MemoryDisk()
    try fill(disk)
    let library = try makeLibrary(disk)
    defer { library.dissolve() }
    let playlist = try #require(try library.playlists().first)
    let song = try #require(try library.songs(of: playlist).first)
    #expect(song.number == .max && song.isFromLibrary && song.title == "" && song.artist == nil)
    #expect(song.album == "A\u{0}B 🎶" && song.milliseconds == -5 && song.location == "x")
    #expect(song.playlists == [playlist])
    #expect(playlist.number == -1 && playlist.name == nil)
    #expect(playlist.origin == .unnumbered(name: "", occurrence: 2))
    #expect(playlist.songs == [song, song])
    #expect(try song.attributes.values() == everyKind)
  }

  private func fill(_ disk: MemoryDisk) throws {
    let library = try makeLibrary(disk)
    defer { library.dissolve() }
    let (song, playlist) = (Song(), Playlist())
    (song.number, song.isFromLibrary, song.title) = (.max, true, "")
    (song.album, song.milliseconds, song.location) = ("A\u{0}B 🎶", -5, "x")
    song.attributes = Attributes(everyKind)
    (playlist.number, playlist.origin) = (-1, .unnumbered(name: "", occurrence: 2))
    library.store.insert(song)
    try library.append(playlist)
    playlist.append(song)
    playlist.append(song)
    try library.store.saveChanges()
    try library.store.backend.close()
  }

  private let everyKind: [String: PropertyValue] = [
    "bool": .bool(true), "integer": .integer(.min), "unsigned": .unsigned(.max), "real": .real(0.5),
    "string": .string("é"), "date": .date(Date(timeIntervalSince1970: 1)),
    "data": .data(Data([1, 2])), "array": .array([.integer(1), .array([])]),
    "dictionary": .dictionary(["": .bool(false)]),
  ]

  @Test("refuses attributes that are damaged or nested too deep")
  func damagedAttributes() {
    for bytes in [[7], [7, 255, 255, 255, 255], [200], [4, 9, 0, 0, 0, 65]] as [[UInt8]] {
      var buffer = DataBuffer(bytes)
      #expect(throws: DataBufferError.self) { try PropertyValue(from: &buffer) }
    }
    var buffer = DataBuffer(Array(repeatElement([7, 1, 0, 0, 0], count: 100_000).joined()))
    #expect(throws: DataBufferError.self) { try PropertyValue(from: &buffer) }
  }

  @Test("removes a deleted song from every position in every playlist")
  func deleteRule() throws {
    let disk = MemoryDisk()
    let library = try makeLibrary(disk)
    defer { library.dissolve() }
    try library.importLibrary(smallLibrary())
    library.store.delete(try library.song("#1", among: library.songs()))
    library.store.delete(try library.song("Greensleeves", among: library.songs()))
    try library.store.saveChanges()
    #expect(try library.contents() == [["Evening"], ["Rags"]])
    try library.store.backend.close()
    let reopened = try makeLibrary(disk)
    defer { reopened.dissolve() }
    #expect(try reopened.contents() == [["Evening"], ["Rags"]])
    #expect(try reopened.songs().map(\.title) == ["Vltava"])
  }

  @Test("keeps both sides of the relationship consistent")
  func inverse() throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(smallLibrary())
    let evening = try library.playlist("Evening")
    let greensleeves = try library.song("#3", among: library.songs())
    evening.remove(at: 0)
    #expect(greensleeves.playlists == [evening])
    evening.remove(at: 1)
    #expect(greensleeves.playlists.isEmpty)
    evening.append(greensleeves)
    evening.move(from: 1, to: 0)
    #expect(evening.songs.map(\.number) == [3, 1])
    #expect(greensleeves.playlists == [evening])
    #expect(!evening.setSongs(evening.songs))
    #expect(evening.setSongs([]))
    #expect(greensleeves.playlists.isEmpty)
  }

  @Test("assigns unused numbers")
  func numbering() {
    var numbering = Numbering(used: [1, 1_000_001, 1_000_003, .max])
    #expect(
      [numbering.next(), numbering.next(), numbering.next()] == [1_000_002, 1_000_004, 1_000_005])
  }
}
