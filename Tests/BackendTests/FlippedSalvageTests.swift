import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinetBackend

/// A class with records of one size.
private final class Song: StoredObject {
  @Content var title = ""

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
}

@Suite("Salvaging songs after one flipped bit")
struct FlippedSalvageTests {
  private func makeStore(_ backend: any StoreBackend) throws {
    let store = Store(backend: backend)
    try store.register(Song.self)
    for number in 0..<Self.songCount {
      let song = Song()
      song.title = "song \(10_000 + number)"
      store.insert(song)
    }
    try store.saveChanges()
  }

  private func count(_ backend: any StoreBackend) throws -> Int {
    let store = Store(backend: backend)
    try store.register(Song.self)
    let songs = try store.allObjects(of: Song.self)
    #expect(songs.allSatisfy { $0.title == "song \($0.rowID + 9_998)" })
    #expect(try store.check().findings == [])
    return songs.count
  }

  /// Flips a bit in the head of the record of a song.
  private func flip(_ path: String, before: Int, bit: UInt8) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let range = try #require(data.range(of: Data("song \(10_000 + Self.songCount / 2)".utf8)))
    data[range.lowerBound - before] ^= 1 << bit
    try data.write(to: URL(fileURLWithPath: path))
  }

  @Test("On Tokyo Cabinet only the damaged song is lost")
  func tokyoCabinet() throws {
    try withTemporaryDirectory { directory in
      let (store, copy, new) = (directory + "/store", directory + "/copy", directory + "/new")
      let backend = try TokyoCabinetBackend(directory: store)
      try makeStore(backend)
      try backend.close()
      for (before, bit) in Self.locations(5...24) {
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        try flip(copy + "/Song", before: before, bit: bit)
        _ = try TokyoCabinetBackend.salvage(from: copy, to: new)
        let salvaged = try TokyoCabinetBackend(directory: new)
        #expect(try count(salvaged) >= Self.songCount - 1, "\(before), bit \(bit)")
        try salvaged.close()
        for path in [copy, new] { try FileManager.default.removeItem(atPath: path) }
      }
    }
  }

  @Test("On constant databases only the damaged song is lost")
  func constantDatabases() throws {
    try withTemporaryDirectory { directory in
      let (store, copy, new) = (directory + "/store", directory + "/copy", directory + "/new")
      let backend = try CDBBackend(directory: store)
      try makeStore(backend)
      try backend.close()
      for (before, bit) in Self.locations(5...18) {
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        try flip(copy + "/Song.cdb", before: before, bit: bit)
        _ = try CDBBackend.salvage(from: copy, to: new)
        let salvaged = try CDBBackend(directory: new)
        #expect(try count(salvaged) >= Self.songCount - 1, "\(before), bit \(bit)")
        try salvaged.close()
        for path in [copy, new] { try FileManager.default.removeItem(atPath: path) }
      }
    }
  }

  private static let songCount = 600

  /// How many bytes before a title, and which bit of the byte.
  private static func locations(_ range: ClosedRange<Int>) -> [(Int, UInt8)] {
    range.flatMap { before in [2, 5].map { (before, UInt8(($0 + before) % 8)) } }
  }
}
