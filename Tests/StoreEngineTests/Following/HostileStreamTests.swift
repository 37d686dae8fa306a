import Files
import Foundation
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

/// Streams with right checksums and wrong content, as a hostile sender writes them.
@Suite("Streams of hostile senders")
struct HostileStreamTests {
  private let source: MemoryBackend
  private let target: MemoryBackend

  init() throws {
    (source, target) = (try MemoryBackend(), try MemoryBackend())
    try source.commit { $0.insert(2, in: try source.table(named: "Song"), [1, 2]) }
    try source.beginHistory()
    var follower = try StoreFollower(target)
    try follower.catchUp(with: source)
  }

  private func songs() throws -> TableID { try source.table(named: "Song") }

  /// Returns the bytes of a stream with frames after a position.
  private func stream(
    _ frames: [HistoryStreamFrame], behind position: HistoryPosition? = nil
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var encoder = HistoryStreamEncoder(
      behind: try position ?? source.historyPosition(), to: &bytes)
    for frame in frames { encoder.append(frame, to: &bytes) }
    return bytes
  }

  private func expect(_ code: StoreError.Code, _ bytes: [UInt8]) throws {
    let before = try StoreImage(of: target)
    var follower = try StoreFollower(target)
    let error = #expect(throws: StoreError.self) { try follower.apply(bytes) }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(try StoreImage(of: target) == before)
  }

  private func frame(
    _ number: UInt64 = 3, since: UInt64 = 2, _ change: (inout HistoryEntry) -> Void
  ) -> HistoryStreamFrame {
    var entry = HistoryEntry(commit: Commit.example.numbered(number))
    change(&entry)
    return .entry(HistoryFormat.encoded(entry), since: since)
  }

  private func record(_ row: UInt32, _ before: [UInt8]?, _ after: [UInt8]?)
    -> HistoryEntry.TableChanges
  {
    .init(name: "Song", records: [.init(rowID: row, before: before, after: after)])
  }

  @Test("A valid entry is applied once, even if it is sent again")
  func again() throws {
    let good = try stream([frame { $0.tables = [record(2, [1, 2], [3])] }, .end])
    var follower = try StoreFollower(target)
    try follower.apply(good + good)
    try follower.finish()
    var other = try StoreFollower(target)
    try other.apply(good)
    #expect(target.lastCommitNumber == 3)
    #expect(try target.record(2, in: target.table(named: "Song")) == [3])
  }

  @Test("A stream of another store, and one of another commit with the same number, are refused")
  func otherStore() throws {
    let place = try source.historyPosition()
    let entry = frame { $0.tables = [record(2, [1, 2], [3])] }
    try expect(
      .otherHistory,
      stream([entry], behind: .init(historyID: UUID(), number: place.number, token: place.token)))
    try expect(
      .otherHistory,
      stream(
        [entry], behind: .init(historyID: place.historyID, number: place.number, token: UUID())))
    let other = try MemoryBackend()
    try other.beginHistory()
    var follower = try StoreFollower(target)
    let error = #expect(throws: StoreError.self) { try follower.catchUp(with: other) }
    #expect(error?.code == .otherHistory)
  }

  @Test("A source that was reset to an earlier state and then changed is refused")
  func forked() throws {
    let earlier = MemoryDisk()
    do {
      let copy = try MemoryBackend(disk: earlier)
      try BackendCopy(from: source, to: copy).run()
      copy.close()
    }
    try source.commit { $0.update(2, in: try songs(), [5]) }
    var follower = try StoreFollower(target)
    try follower.catchUp(with: source)
    let fork = try MemoryBackend(disk: earlier)
    #expect(try fork.historyID() == source.historyID())
    #expect(throws: StoreError.self) { try follower.catchUp(with: fork) }
    for value in 0..<3 as Range<UInt8> {
      try fork.commit { $0.update(2, in: try fork.table(named: "Song"), [9, value]) }
      let error = #expect(throws: StoreError.self) { try follower.catchUp(with: fork) }
      #expect(error?.code == .otherHistory)
    }
  }

  @Test("A gap is an error, between entries and before the first one")
  func gaps() throws {
    let place = try source.historyPosition()
    try expect(.historyExpired, stream([frame(4) { $0.tables = [record(2, [1, 2], [3])] }]))
    try expect(
      .historyExpired,
      stream([], behind: .init(historyID: place.historyID, number: 9, token: place.token)))
    try expect(.damaged, stream([frame(since: 3) { _ in }]))
  }

  @Test("An entry that does not match the content of the copy is damage")
  func unfit() throws {
    for records in [
      record(2, [1], [3]), record(2, nil, [3]), record(3, [1], [3]), record(3, [1], nil),
    ] {
      try expect(.damaged, stream([frame { $0.tables = [records] }]))
    }
    try expect(
      .damaged, stream([frame { $0.buffers = [.init(name: "A", before: [1], after: [2])] }]))
    let words = OrderedTableName("Words", kind: .data)
    try expect(
      .damaged,
      stream([
        frame {
          $0.orderedTables = [
            .init(name: words, keys: [.init(key: [1], before: [1], after: [2])])
          ]
        }
      ]))
  }

  @Test("An entry with a repeated name, row 0, or the follower's own tables is damage")
  func nonsense() throws {
    try expect(.damaged, stream([frame { $0.tables = [record(0, nil, [1])] }]))
    try expect(
      .damaged, stream([frame { $0.tables = [record(3, nil, [1]), record(4, nil, [1])] }]))
    try expect(
      .damaged,
      stream([
        frame {
          $0.tables = [record(3, nil, [0])]
          $0.tables[0].records += record(3, nil, [1]).records
        }
      ]))
    try expect(
      .damaged,
      stream([
        frame { $0.buffers = [0, 1].map { .init(name: "A", before: nil, after: [$0]) } }
      ]))
    for name in [FollowerMark.table, HistoryFormat.table] {
      try expect(
        .damaged,
        stream([
          frame {
            $0.orderedTables = [
              .init(name: name, keys: [.init(key: [7], before: nil, after: [2])])
            ]
          }
        ]))
    }
    try expect(.invalidName, stream([frame { $0.tables = [.init(name: "", records: [])] }]))
    try expect(.damaged, stream([.entry([], since: 2)]))
    try expect(.damaged, stream([.entry([1, 2, 3], since: 2)]))
  }

  @Test("A value that is not complete before its entry is damage")
  func values() throws {
    let bytes: [UInt8] = [1, 2, 3]
    let reference = ExternalReference(
      id: ExternalID(high: 1, low: 2), byteCount: 3,
      checksum: ExternalValueWriter.checksum(bytes))
    var changes = ChangeSet()
    let catalogue = try ExternalCatalogue(source)
    catalogue.add(reference, of: .init(1, 2), to: &changes)
    let entry = frame { entry in
      entry.orderedTables = [
        .init(
          name: ExternalCatalogue.table,
          keys: changes.ordered[0].changes.map { change in
            .init(
              key: Array(changes.bytes[change.key]), before: nil,
              after: Array(changes.bytes[change.value]))
          })
      ]
    }
    let whole = HistoryStreamFrame.value(reference, offset: 0, bytes)
    try expect(.damaged, stream([entry]))
    try expect(.damaged, stream([.value(reference, offset: 0, [1, 2]), entry]))
    try expect(.damaged, stream([.value(reference, offset: 1, [2, 3])]))
    try expect(.damaged, stream([.value(reference, offset: 0, [1, 2, 4]), entry]))
    var other = reference
    other = ExternalReference(id: reference.id, byteCount: 4, checksum: reference.checksum)
    try expect(.damaged, stream([.value(other, offset: 0, bytes + [4]), entry]))
    var follower = try StoreFollower(target)
    try follower.apply(try stream([whole, entry]))
    #expect(target.lastCommitNumber == 3)
    let input = try #require(target.externalStorage).open(reference)
    #expect(try input.chunk(0) == bytes)
  }

  @Test("An incomplete copy can't be used, and an interrupted one is made again")
  func copies() throws {
    let place = try source.historyPosition()
    let fresh = try MemoryBackend()
    var follower = try StoreFollower(fresh)
    let part = frame(2) { $0.tables = [record(2, nil, [1, 2])] }
    guard case .entry(let bytes, _) = part else { return }
    try follower.apply(try stream([.copyPart(bytes)], behind: place))
    #expect(try fresh.isFollower() && follower.position() == nil)
    // The copy has neither a history nor an end.
    #expect(throws: StoreError.self) {
      try follower.apply(try stream([.copyEnd(.example)], behind: place))
    }
    #expect(throws: StoreError.self) { _ = try StoreFollower(fresh) }
    #expect(throws: StoreError.self) { try fresh.promote() }
    let error = #expect(throws: StoreError.self) {
      try fresh.commit { $0.insert(9, in: try fresh.table(named: "Song"), [1]) }
    }
    #expect(error?.code == .readOnly)
    // Entries need a copy.
    let empty = try MemoryBackend()
    var early = try StoreFollower(empty)
    #expect(throws: StoreError.self) {
      try early.apply(try stream([frame { $0.tables = [record(2, nil, [3])] }]))
    }
    #expect(empty.lastCommitNumber == 0)
  }

  @Test("After any change to an entry, the copy is in the state of a commit")
  func fuzzedEntries() throws {
    var generator = Seeds.generator(for: "fuzzed entries of a stream")
    var entry = HistoryEntry(commit: Commit.example.numbered(3))
    entry.tables = [record(2, [1, 2], [3, 4, 5]), .init(name: "Album", records: [])]
    entry.tables[1].records = [.init(rowID: 7, before: nil, after: [1])]
    entry.buffers = [.init(name: "Favorite", before: nil, after: [1, 2, 3])]
    entry.orderedTables = [
      .init(
        name: .init("Words", kind: .data), keys: [.init(key: [1], before: nil, after: [2])]),
      .init(
        name: .init("Titles", kind: .index), keys: [.init(key: [1], before: nil, after: nil)]),
    ]
    let bytes = HistoryFormat.encoded(entry)
    let place = try source.historyPosition()
    var appliedCount = 0
    for _ in 0..<1500 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: changed.indices, using: &generator)
        changed[index] = .random(in: 0 ... .max, using: &generator)
      }
      let copy = try MemoryBackend()
      var follower = try StoreFollower(copy)
      try follower.catchUp(with: source)
      do {
        try follower.apply(try stream([.entry(changed, since: 2)], behind: place))
        appliedCount += 1
      } catch {
        #expect(error is StoreError)
      }
      let known = try #require(try follower.position()).number
      #expect(known == copy.lastCommitNumber && (2...3).contains(known))
      #expect(try StoreFollower(copy).position()?.number == known)
    }
    print("\(appliedCount) of 1500 changed entries made sense")
    #expect(appliedCount > 20 && appliedCount < 1400)
  }
}
