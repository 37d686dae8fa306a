import Foundation
import StoredObjectsCore
import TestFiles
import Testing

@testable import TokyoCabinetBackend

/// The original's classes, as its speed tests had them.
private final class OriginalSong: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0
  override class var storedName: String { "Song" }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

private final class OriginalPlaylist: StoredObject {
  @Content var title = ""
  @Content var songs: [OriginalSong] = []
  override class var storedName: String { "Playlist" }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    songs = try buffer.readObjects(of: OriginalSong.self)
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(songs)
  }
}

@Suite("A store of BNRPersistence")
struct OriginalStoreTests {
  private func withOriginal(_ order: String, _ body: (String) throws -> Void) throws {
    guard let stores = originalStores else {
      print("skipped: the folder of the original's stores is not here")
      return
    }
    try TokyoFixtures.withDirectory { directory in
      try FileManager.default.copyItem(atPath: stores + "/" + order, toPath: directory)
      try body(directory)
    }
  }

  private func withStore(_ directory: String, _ body: (Store) throws -> Void) throws {
    let backend = try TokyoCabinetBackend(directory: directory)
    let store = Store(backend: backend)
    try store.register(OriginalSong.self, OriginalPlaylist.self)
    try body(store)
    try backend.close()
  }

  @Test(
    "It has the titles, seconds, order, repeats and named buffers that its authors saved",
    arguments: ["big-endian", "little-endian"])
  func reads(byteOrder: String) throws {
    try withOriginal(byteOrder) { directory in
      try withStore(directory) { store in
        let songs = try store.allObjects(of: OriginalSong.self)
        #expect(songs.map(\.rowID) == [2, 3, 4, 5, 6])
        #expect(
          songs.map(\.title) == [
            "Walking on Sunshine", "F\u{FC}r Elise", "上を向いて歩こう — Ночь 🎵", "", "",
          ])
        #expect(songs.map(\.seconds) == [298, 177, 187, 0, .max])
        let lists = try store.allObjects(of: OriginalPlaylist.self)
        #expect(lists.map(\.title) == ["Sommerhits ☀ 2010", "Nothing yet"])
        #expect(lists.map { $0.songs.map(\.rowID) } == [[4, 2, 3, 2], []])
        #expect(try store.bufferNames() == ["Favorite", "Recent"])
        var favorite = try store.buffer(named: "Favorite")
        #expect(try favorite?.readObject(of: OriginalSong.self) === songs[1])
        var recent = try store.buffer(named: "Recent")
        #expect(try recent?.readObjects(of: OriginalSong.self) == [songs[4], songs[2]])
        #expect(try store.check().findings.isEmpty)
      }
    }
  }

  @Test(
    "Saves keep the bytes of the original, and no row ID is used again",
    arguments: ["big-endian", "little-endian"])
  func writes(byteOrder: String) throws {
    try withOriginal(byteOrder) { directory in
      try withStore(directory) { store in
        let song = OriginalSong()
        song.title = "New"
        store.insert(song)
        #expect(song.rowID == 7)
        try store.object(OriginalPlaylist.self, rowID: 3)?.songs = [song, song]
        try store.saveChanges()
      }
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      let bytes: [UInt8] = [0, 3, 0, 0, 0] + Array("New".utf8) + [0, 0, 0, 0]
      #expect(try TokyoFixtures.record(7, songs, backend) == bytes)
      #expect(try TokyoFixtures.record(1, songs, backend)?.count == 14)
      #expect(try TokyoFixtures.record(1, songs, backend)?.prefix(4) == [7, 0, 0, 0])
      try backend.close()
    }
  }

  @Test("Its classes can be registered in any order")
  func order() throws {
    try withOriginal("big-endian") { directory in
      let store = Store(backend: try TokyoCabinetBackend(directory: directory))
      try store.register(OriginalPlaylist.self, OriginalSong.self)
      let lists = try store.allObjects(of: OriginalPlaylist.self)
      #expect(lists.map { $0.songs.map(\.rowID) } == [[4, 2, 3, 2], []])
      #expect(try store.check().findings.isEmpty)
      try store.backend.close()
    }
  }
}
