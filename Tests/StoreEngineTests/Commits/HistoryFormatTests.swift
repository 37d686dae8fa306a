import FoundationEssentials
import Testing

@testable import StoreEngine

@Suite("Entries of a history")
struct HistoryFormatTests {
  private static let entry: HistoryEntry = {
    var entry = HistoryEntry(commit: .example)
    entry.tables = [
      .init(
        name: "Song",
        records: [
          .init(rowID: 2, before: [1, 2, 3], after: [1, 9, 3]),
          .init(rowID: 3, before: nil, after: []), .init(rowID: 4, before: [5], after: nil),
        ])
    ]
    entry.buffers = [.init(name: "Favorite", before: [7], after: [7, 7])]
    entry.orderedTables = [
      .init(
        name: OrderedTableName("Words", kind: .data),
        keys: [
          .init(key: [1], before: nil, after: [2]), .init(key: [3], before: [4], after: nil),
        ]),
      .init(
        name: OrderedTableName("Titles", kind: .index), isCleared: true,
        keys: [.init(key: [1], before: nil, after: nil)]),
    ]
    return entry
  }()

  private static let key = HistoryFormat.key(entry.commit.number)

  @Test("An entry reads back, and each prefix of it is an error")
  func bytes() throws {
    let bytes = HistoryFormat.encoded(Self.entry)
    let read = try HistoryFormat.entry(bytes, of: Self.key)
    #expect(read.commit == Self.entry.commit && read.buffers == Self.entry.buffers)
    #expect(read.tables.map(\.records) == Self.entry.tables.map(\.records))
    #expect(read.orderedTables.map(\.name) == Self.entry.orderedTables.map(\.name))
    #expect(read.orderedTables.map(\.isCleared) == Self.entry.orderedTables.map(\.isCleared))
    #expect(read.orderedTables.map(\.keys) == Self.entry.orderedTables.map(\.keys))
    for count in bytes.indices {
      #expect(throws: DataBufferError.self) {
        try HistoryFormat.entry(Array(bytes[..<count]), of: Self.key)
      }
    }
    #expect(throws: DataBufferError.self) { try HistoryFormat.entry(bytes + [0], of: Self.key) }
  }

  @Test("An entry of another commit is damage, and is not read repeatedly")
  func wrongNumber() throws {
    let backend = try MemoryBackend()
    try backend.beginHistory()
    var changes = ChangeSet()
    changes.set(
      HistoryFormat.key(Self.entry.commit.number + 1), to: HistoryFormat.encoded(Self.entry),
      in: try backend.orderedTable(HistoryFormat.table))
    try backend.commit(changes)
    let error = #expect(throws: StoreError.self) {
      try backend.forEachHistoryEntry(after: 1) { _ in .next }
    }
    #expect(error?.code == .damaged)
  }

  @Test("The beginning of a history reads back, with the ID from format 2 on")
  func stamp() throws {
    let stamp = HistoryFormat.Stamp(since: 7, id: UUID())
    let bytes = HistoryFormat.encoded(stamp)
    #expect(try HistoryFormat.stamp(bytes) == stamp)
    let earlier = try HistoryFormat.stamp([1] + bytes[1..<9])
    #expect(earlier == .init(since: 7, id: CommitToken.zero.uuid))
    #expect(throws: DataBufferError.self) { try HistoryFormat.stamp([3] + bytes[1...]) }
  }

  @Test("An entry of format 1 has no ordered tables")
  func earlierFormat() throws {
    var entry = Self.entry
    entry.orderedTables = []
    let bytes = HistoryFormat.encoded(entry)
    let read = try HistoryFormat.entry([1] + bytes[1...].dropLast(4), of: Self.key)
    #expect(read.buffers == entry.buffers && read.orderedTables.isEmpty)
  }
}
