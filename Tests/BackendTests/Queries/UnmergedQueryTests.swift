import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Indexes say what is saved, and objects what they were when they were read.
@Suite("Queries in stores that have not merged")
struct UnmergedQueryTests {
  private func ids(_ store: Store, _ predicate: Predicate<Track>) throws -> [UInt32] {
    try store.fetch(Track.self, where: predicate).map(\.rowID)
  }

  @Test("All kinds of queries see the content of the store's own objects")
  func contents() throws {
    let first = try MemoryLocation().openStore(of: Track.self, Mix.self)
    let tracks = (0..<200).map { number in
      let track = Track()
      (track.seconds, track.title) = (Int32(number), "\(number)")
      first.insert(track)
      return track
    }
    let mix = Mix()
    mix.tracks = [tracks[0]]
    first.insert(mix)
    try first.saveChanges()
    let second = Store(backend: first.backend)
    try second.register(Track.self, Mix.self)
    let theirs = try second.allObjects(of: Track.self)
    for track in theirs[..<10] { track.seconds += 1000 }
    for track in theirs[20..<25] { second.delete(track) }
    let theirMix = try #require(try second.object(Mix.self, rowID: 2))
    theirMix.tracks = [theirs[1]]
    tracks[21].title = "changed here"
    first.delete(tracks[22])
    try second.saveChanges()

    let low = #Predicate<Track> { $0.seconds < 10 }
    let high = #Predicate<Track> { $0.seconds >= 1000 }
    func expect(_ store: Store, low expectedLow: [UInt32], high expectedHigh: [UInt32]) throws {
      #expect(try ids(store, low) == expectedLow)
      #expect(try ids(store, high) == expectedHigh)
      #expect(try store.count(of: Track.self, where: low) == expectedLow.count)
      #expect(try store.exists(Track.self, where: high) == !expectedHigh.isEmpty)
      #expect(try store.fetchIDs(Track.self, where: low) == expectedLow)
      #expect(try store.fetch(Track.self, where: \.seconds, is: 5).count == expectedLow.count / 10)
      #expect(
        try store.fetch(Track.self, where: \.seconds, is: 1005).count == expectedHigh.count / 10)
      let ordered = try store.fetch(Track.self, sortedBy: [.ascending(\.seconds)])
      #expect(ordered.map(\.seconds) == ordered.map(\.seconds).sorted())
      #expect(ordered.count == 195)
      #expect(try store.fetch(Track.self).count == 195)
      #expect(try store.fetchIDs(Track.self).count == 195)
      #expect(try store.allObjects(of: Track.self).count == 195)
      #expect(try store.count(of: Track.self) == 195)
      #expect(try store.count(of: Track.self, where: #Predicate { $0.title != "" }) == 195)
    }
    let rows = tracks[..<10].map(\.rowID)
    try expect(first, low: rows, high: [])
    #expect(try first.referrers(of: tracks[0], through: \Mix.tracks) == [mix])
    #expect(try first.referrers(of: tracks[1], through: \Mix.tracks) == [])
    try expect(second, low: [], high: rows)
    first.discardChanges()
    try expect(first, low: [], high: rows)
    #expect(try first.referrers(of: tracks[1], through: \Mix.tracks) == [mix])
  }

  @Test("A reference leads to an object that another store has deleted, with and without an index")
  func deletedTargets() throws {
    let first = try MemoryLocation().openStore(of: Track.self)
    let tracks = (0..<200).map { number in
      let track = Track()
      track.seconds = Int32(number)
      first.insert(track)
      return track
    }
    tracks[5].seconds = 500
    (tracks[0].versions, tracks[1].original) = ([tracks[5]], tracks[5])
    try first.saveChanges()
    let second = Store(backend: first.backend)
    try second.register(Track.self)
    try second.delete(#require(try second.object(Track.self, rowID: tracks[5].rowID)))
    try second.saveChanges()

    let inList = #Predicate<Track> { $0.versions.contains { $0.seconds > 400 } }
    let behind = #Predicate<Track> { $0.original?.seconds == 500 }
    let all = try first.allObjects(of: Track.self)
    #expect(all.filter { $0.versions.contains { $0.seconds > 400 } } == [tracks[0]])
    #expect(try ids(first, inList) == [tracks[0].rowID])
    #expect(try ids(first, behind) == [tracks[1].rowID])
    #expect(try first.count(of: Track.self, where: inList) == 1)
  }

  @Test("What another store has saved leads to an object that is deleted here and not saved")
  func targetsDeletedHere() throws {
    let first = try MemoryLocation().openStore(of: Track.self)
    for number in 0..<200 as Range<Int32> {
      let track = Track()
      track.seconds = number
      first.insert(track)
    }
    try first.saveChanges()
    let second = Store(backend: first.backend)
    try second.register(Track.self)
    let (deleted, referring) = (UInt32(7), UInt32(9))
    try first.delete(#require(try first.object(Track.self, rowID: deleted)))
    let theirs = try #require(try second.object(Track.self, rowID: referring))
    theirs.original = try second.object(Track.self, rowID: deleted)
    theirs.versions = try [#require(theirs.original)]
    try second.saveChanges()

    let behind = #Predicate<Track> { $0.original?.seconds == 5 }
    let other = #Predicate<Track> { $0.original?.seconds != 1000 }
    let inList = #Predicate<Track> { $0.versions.contains { $0.seconds < 10 } }
    #expect(try first.count(of: Track.self, where: behind) == 1)
    #expect(try ids(first, behind) == [referring])
    #expect(try first.count(of: Track.self, where: other) == 199)
    #expect(try ids(first, other).count == 199)
    #expect(try first.count(of: Track.self, where: inList) == 1)
  }

  @Test("A unique value is searched in the objects of the store itself")
  func uniqueValues() throws {
    let first = try MemoryLocation().openStore(of: Track.self)
    let track = Track()
    first.insert(track)
    try first.saveChanges()
    let code = track.code
    let second = Store(backend: first.backend)
    try second.register(Track.self)
    try #require(try second.object(Track.self, rowID: 2)).code = UUID()
    try second.saveChanges()
    #expect(try first.object(Track.self, where: \.code, is: code) === track)
    let new = Track()
    new.code = code
    #expect(try first.insertOrUpdate(new) === track)
    first.discardChanges()
    #expect(try first.object(Track.self, where: \.code, is: code) == nil)
  }
}
