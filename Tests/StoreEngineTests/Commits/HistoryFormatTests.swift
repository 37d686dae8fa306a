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
    return entry
  }()

  private static let key = HistoryFormat.key(entry.commit.number)

  @Test("An entry is the same when it is read, and each beginning of it is an error")
  func bytes() throws {
    let bytes = HistoryFormat.encoded(Self.entry)
    let read = try HistoryFormat.entry(bytes, of: Self.key)
    #expect(read.commit == Self.entry.commit && read.buffers == Self.entry.buffers)
    #expect(read.tables.map(\.records) == Self.entry.tables.map(\.records))
    for count in bytes.indices {
      #expect(throws: DataBufferError.self) {
        try HistoryFormat.entry(Array(bytes[..<count]), of: Self.key)
      }
    }
    #expect(throws: DataBufferError.self) { try HistoryFormat.entry(bytes + [0], of: Self.key) }
  }

  @Test("The entry of another commit is damage, and nobody reads it again and again")
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
}
