import StoredObjectsTestSupport
import Testing

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
    "Batches give every record once, with its bytes, and none is larger than its limits",
    arguments: [(0, 1), (1, 1), (1023, 4), (1024, 4), (5000, 4), (200, 5000)])
  func batches(count: Int, titleLength: Int) throws {
    let (store, entry, model) = try makeStore(count, titleLength: titleLength)
    var batch = RecordBatch()
    var found: [UInt32: [UInt8]] = [:]
    var position: ScanPosition?
    scanning: while true {
      let end = try batch.fill(from: position, entry, store)
      var size = 0
      while let (rowID, range) = batch.popFirst() {
        size += 1
        #expect(found.updateValue(Array(batch.bytes[range]), forKey: rowID) == nil)
      }
      #expect(size <= 1024)
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

  @Test("A batch that is dropped gives nothing more, until it is filled again")
  func dropping() throws {
    let (store, entry, _) = try makeStore(3, titleLength: 4)
    var batch = RecordBatch()
    #expect(batch.popFirst() == nil)
    _ = try batch.fill(from: nil, entry, store)
    #expect(batch.popFirst() != nil)
    batch.removeAll()
    #expect(batch.popFirst() == nil)
    _ = try batch.fill(from: nil, entry, store)
    #expect(batch.popFirst() != nil)
  }

  @Test("A batch knows how many commits came before it")
  func commits() throws {
    let (store, entry, _) = try makeStore(3, titleLength: 4)
    var batch = RecordBatch()
    _ = try batch.fill(from: nil, entry, store)
    #expect(batch.commitCount == entry.shared.commitCount)
    store.insert(Song("later", 1))
    try store.saveChanges()
    #expect(batch.commitCount != entry.shared.commitCount)
  }
}
