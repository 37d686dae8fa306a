import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Records of rows that a query has read ahead, and what happens before their turn.
@Suite("Rows read in batches")
struct ReadingAheadTests {
  /// A store of 100 saved tracks, none of which is in memory, and another store on its backend.
  private func withStores(
    _ kind: TestedBackend, isFolded: Bool = true, _ body: (Store, Store) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory)
      let writer = Store(backend: backend)
      try writer.register(Track.self, Mix.self)
      for number in 0..<100 {
        let track = Track()
        (track.seconds, track.title) = (Int32(number), "old")
        writer.insert(track)
      }
      try writer.saveChanges()
      if isFolded { try backend.checkpoint() }
      let reader = Store(backend: backend)
      try reader.register(Track.self, Mix.self)
      try body(reader, writer)
      try backend.close()
    }
  }

  /// A cursor over all tracks, or over so few that it goes by the index.
  private func cursor(
    _ store: Store, descending: Bool = false, limit: Int? = nil
  ) throws -> QueryCursor<Track> {
    try store.cursor(
      over: Track.self, where: #Predicate { $0.seconds >= 0 },
      sortedBy: [descending ? .descending(\.seconds) : .ascending(\.seconds)], limit: limit)
  }

  @Test(
    "A record that another store saves before its turn is read again",
    arguments: TestedBackend.onDisk, [false, true])
  func savedElsewhere(backend: TestedBackend, isFolded: Bool) throws {
    try withStores(backend, isFolded: isFolded) { reader, writer in
      var cursor = try cursor(reader, descending: isFolded)
      var tracks = [try #require(try cursor.next())]
      for track in try writer.allObjects(of: Track.self) { track.title = "new" }
      try writer.saveChanges()
      while let track = try cursor.next() { tracks.append(track) }
      #expect(tracks.count == 100)
      #expect(tracks.map(\.title) == ["old"] + Array(repeating: "new", count: 99))
      // A row read after the other store's save is not a conflict; a row read before it is.
      tracks[50].title = "mine"
      try reader.saveChanges()
      tracks[0].title = "mine"
      #expect(throws: StoreError.self) { try reader.saveChanges() }
    }
  }

  @Test(
    "A row that is deleted before its turn is skipped, whichever store deletes it",
    arguments: TestedBackend.onDisk, [false, true])
  func deleted(backend: TestedBackend, isFolded: Bool) throws {
    try withStores(backend, isFolded: isFolded) { reader, writer in
      var cursor = try cursor(reader)
      var seconds = [try #require(try cursor.next()).seconds]
      let theirs = try writer.allObjects(of: Track.self)
      writer.delete(theirs[5])
      try writer.saveChanges()
      seconds.append(try #require(try cursor.next()).seconds)
      reader.delete(try #require(try reader.object(Track.self, rowID: theirs[6].rowID)))
      seconds.append(try #require(try cursor.next()).seconds)
      reader.delete(try #require(try reader.object(Track.self, rowID: theirs[7].rowID)))
      try reader.saveChanges()
      while let track = try cursor.next() { seconds.append(track.seconds) }
      #expect(seconds == Array(0..<100).filter { !(5...7).contains($0) })
    }
  }

  @Test("An object that is changed before its turn keeps its change, saved or not")
  func changedHere() throws {
    try withStores(.tokyoCabinet) { reader, _ in
      var cursor = try cursor(reader, limit: 40)
      _ = try cursor.next()
      let saved = try #require(try reader.object(Track.self, rowID: 12))
      saved.title = "saved"
      try reader.saveChanges()
      let unsaved = try #require(try reader.object(Track.self, rowID: 13))
      unsaved.title = "unsaved"
      var titles: [UInt32: String] = [:]
      while let track = try cursor.next() { titles[track.rowID] = track.title }
      #expect(titles[12] == "saved" && titles[13] == "unsaved" && titles[14] == "old")
      #expect(reader.hasUnsavedChanges)
    }
  }

  @Test("A damaged record is an error in its row, and its neighbours are read")
  func damaged() throws {
    try withStores(.tokyoCabinet) { reader, writer in
      let table = try writer.backend.table(named: Track.storedName)
      var bytes = try #require(try writer.backend.record(21, in: table))
      bytes[7] ^= 1
      try writer.backend.commit { $0.update(21, in: table, bytes) }
      var cursor = try cursor(reader, limit: 40)
      for number in 0..<19 { #expect(try cursor.next()?.seconds == Int32(number)) }
      let error = #expect(throws: StoreError.self) { try cursor.next() }
      #expect(error?.code == .damaged && error?.location.rowID == 21)
      #expect(try cursor.next()?.rowID == 22)
    }
  }

  @Test("Records too large for a batch are read as well")
  func large() throws {
    try withStores(.tokyoCabinet) { reader, writer in
      for track in try writer.allObjects(of: Track.self) {
        track.genre = String(repeating: "\(track.seconds) ", count: 2000)
      }
      try writer.saveChanges()
      let tracks = try reader.fetch(Track.self, sortedBy: [.descending(\.seconds)], limit: 90)
      #expect(tracks.map(\.seconds) == (10..<100).reversed())
      #expect(tracks.allSatisfy { $0.genre.hasPrefix("\($0.seconds) \($0.seconds) ") })
    }
  }

  @Test("Only as many objects as requested have a value, also if the first of them have changed")
  func limitedValues() throws {
    try withStores(.tokyoCabinet) { reader, writer in
      for track in try writer.allObjects(of: Track.self) { track.note = "same" }
      try writer.saveChanges()
      func rows(_ limit: Int?) throws -> [UInt32] {
        try reader.fetch(Track.self, where: \.note, is: "same", limit: limit).map(\.rowID)
      }
      #expect(try rows(3) == [2, 3, 4])
      #expect(try rows(nil) == Array(2..<102))
      try #require(try reader.object(Track.self, rowID: 2)).note = "other"
      #expect(try rows(3) == [3, 4, 5])
      #expect(try reader.first(Track.self, where: \.note, is: "same")?.rowID == 3)
      // The object that is in memory counts as it was read.
      let held = try #require(try reader.object(Track.self, rowID: 3))
      try #require(try writer.object(Track.self, rowID: 3)).note = "third"
      try writer.saveChanges()
      #expect(try rows(3) == [3, 4, 5])
      #expect(held.note == "same")
      reader.discardChanges()
      #expect(try rows(3) == [2, 4, 5])
    }
  }

  @Test("An object of another store with the same row has no referrers in this one")
  func strangers() throws {
    try withStores(.tokyoCabinet) { reader, writer in
      let target = try #require(try writer.object(Track.self, rowID: 2))
      try #require(try writer.object(Track.self, rowID: 3)).original = target
      try writer.saveChanges()
      let own = try #require(try reader.object(Track.self, rowID: 2))
      #expect(try reader.fetch(Track.self, where: \.original, is: own).map(\.rowID) == [3])
      #expect(try reader.fetch(Track.self, where: \.original, is: target).isEmpty)
    }
  }
}
