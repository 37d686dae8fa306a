import StoredObjectsTestSupport
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("Records that a cursor reads ahead")
struct RecordBatchTests {
  /// A store with songs of random titles up to a length, and what their records should hold.
  private func makeStore(
    _ count: Int, titleLength: Int
  ) throws -> (store: Store, entry: RegisteredClass, model: [UInt32: [UInt8]]) {
    var random = Seeds.generator(for: "record batches of \(count) songs")
    let store = Store(backend: try MemoryBackend(), configuration: .init(checksumsRecords: false))
    try store.register(Song.self)
    var model: [UInt32: [UInt8]] = [:]
    for number in 0..<count {
      let length = Int.random(in: 0...titleLength, using: &random)
      let song = Song(String(repeating: "x", count: length), UInt32(number))
      store.insert(song)
      model[song.rowID] =
        DataBuffer.holding {
          $0.write(Song.classVersion)
          $0.write(song.title)
          $0.write(song.seconds)
        }.bytes
    }
    try store.saveChanges()
    let entry = try #require(store.registration(of: Song.self))
    return (store, entry, model)
  }

  @Test(
    "Batches have every record once, with its bytes, and stay within their limits",
    arguments: [(0, 1), (1, 1), (1023, 4), (1024, 4), (5000, 4), (200, 5000)])
  func batches(count: Int, titleLength: Int) throws {
    let (store, entry, model) = try makeStore(count, titleLength: titleLength)
    var batch = RecordBatch()
    var found: [UInt32: [UInt8]] = [:]
    var position: ScanPosition?
    scanning: while true {
      batch.removeAll()
      let end = try store.backend.copyRecords(of: entry.table, from: position, to: &batch)
      for (rowID, start, end) in batch.entries {
        let record = Array(batch.bytes[Int(start)..<Int(end)])
        #expect(found.updateValue(record, forKey: rowID) == nil)
      }
      #expect(batch.count <= 1024)
      #expect(batch.bytes.count < 64 << 10 + titleLength + 9)
      switch end {
      case .finished: break scanning
      case .paused(let next): position = next
      case .disturbed: Issue.record("Nobody has committed.")
      }
    }
    found[ClassMetadata.rowID] = nil
    let isEqual = found == model
    #expect(isEqual)
  }

  @Test("A discarded batch returns no more records until it is filled again")
  func dropping() throws {
    let (store, entry, _) = try makeStore(3, titleLength: 4)
    var ahead = ReadAhead(store, keepsObjects: false)
    #expect(ahead.popFirst() == nil)
    _ = try ahead.fill(from: nil, entry, store.backend)
    #expect(ahead.popFirst() != nil)
    ahead.removeAll()
    #expect(ahead.popFirst() == nil)
    _ = try ahead.fill(from: nil, entry, store.backend)
    #expect(ahead.popFirst() != nil)
  }

  @Test("The number of commits before a batch is known")
  func commits() throws {
    let (store, entry, _) = try makeStore(3, titleLength: 4)
    var ahead = ReadAhead(store, keepsObjects: false)
    _ = try ahead.fill(from: nil, entry, store.backend)
    #expect(ahead.commitCount == entry.shared.commitCount)
    store.insert(Song("later", 1))
    try store.saveChanges()
    #expect(ahead.commitCount != entry.shared.commitCount)
  }

  @Test("A long scan reads ahead on a thread, and returns every object once, with its content")
  func prefetching() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    for number in 0..<60_000 { store.insert(Song("song \(number)", UInt32(number))) }
    try store.saveChanges()
    var songs = try store.cursor(over: Song.self)
    var next: UInt32 = 0
    while let song = try songs.next() {
      #expect(song.seconds == next && song.title == "song \(next)")
      next += 1
    }
    #expect(next == 60_000)
  }

  @Test("A save during a long scan is seen, and no object is repeated or left out")
  func prefetchingBesideSaves() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    for number in 0..<40_000 { store.insert(Song("old", UInt32(number))) }
    try store.saveChanges()
    let other = Store(backend: store.backend)
    try other.register(Song.self)
    var songs = try store.cursor(over: Song.self)
    var seen: Set<UInt32> = []
    var later = 0
    while let song = try songs.next() {
      #expect(seen.insert(song.rowID).inserted)
      if song.title == "new" { later += 1 }
      guard seen.count == 20_000 else { continue }
      for changed in try other.allObjects(of: Song.self) where !seen.contains(changed.rowID) {
        changed.title = "new"
      }
      try other.saveChanges()
    }
    #expect(seen.count == 40_000)
    #expect(later == 20_000)
  }

  @Test("A damaged record is reported at its turn, on the thread as well")
  func prefetchingDamage() throws {
    let backend = try MemoryBackend()
    let store = Store(backend: backend)
    try store.register(Song.self)
    for number in 0..<30_000 { store.insert(Song("song", UInt32(number))) }
    try store.saveChanges()
    let table = try backend.table(named: "Song")
    try backend.commit { $0.update(25_000, in: table, [0, 1, 2, 3, 4, 5]) }
    let fresh = Store(backend: backend)
    try fresh.register(Song.self)
    var songs = try fresh.cursor(over: Song.self)
    var (count, damaged): (Int, [UInt32?]) = (0, [])
    while true {
      do {
        guard try songs.next() != nil else { break }
        count += 1
      } catch {
        #expect(error.code == .damaged)
        damaged.append(error.location.rowID)
      }
    }
    #expect(damaged == [25_000])
    #expect(count == 29_999)
  }
}
