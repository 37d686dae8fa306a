import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing
import TokyoCabinetBackend

@Suite("Histories of earlier versions")
struct EarlierHistoryTests {
  @Test("A history in format 1 is read, and continues in the current format")
  func format1() throws {
    try withTemporaryDirectory { directory in
      let file = try #require(
        Data(base64Encoded: Self.format1File, options: .ignoreUnknownCharacters))
      try file.write(to: URL(filePath: directory + "/CommitHistory.ordered"))
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(try backend.historyStart() == 1)
      var entries: [HistoryEntry] = []
      try backend.forEachHistoryEntry(after: 1) { entry in
        entries.append(entry)
        return .next
      }
      #expect(entries.map(\.commit.number) == [2, 3, 4, 5, 6])
      #expect(entries.map { $0.tables.map(\.name) } == Array(repeating: ["Song"], count: 5))
      #expect(entries.flatMap { $0.tables[0].records.map(\.rowID) } == [2, 3, 4, 5, 6])
      #expect(entries.allSatisfy { $0.tables[0].records[0].before == nil })
      #expect(entries.allSatisfy { $0.buffers.isEmpty && $0.orderedTables.isEmpty })
      // The manifest of that store said so.
      try backend.continueNumbers(after: entries.last?.commit)
      try backend.purgeHistory(through: 4)
      #expect(try backend.historyStart() == 4)
      try backend.commit(ChangeSet(names: [.init(name: "Favorite", range: 0..<0)]))
      try backend.forEachHistoryEntry(after: 6) { entry in
        #expect(entry.buffers == [.init(name: "Favorite", before: nil, after: [])])
        return .pause
      }
      try backend.close()
    }
  }

  @Test(
    "A salvaged store has its history with a new ID, and continues it",
    arguments: TestedBackend.allCases.filter { $0 != .memory })
  func salvaged(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      guard backend.remembersCommits else { return }
      try backend.beginHistory()
      let (start, id) = (backend.lastCommitNumber, try backend.historyID())
      let song = try backend.table(named: "Song")
      for row in UInt32(2)..<6 { try backend.commit { $0.insert(row, in: song, [1]) } }
      let last = backend.lastCommitNumber
      try backend.checkpoint()
      try backend.close()
      // All that knows the number of the last commit, but for the entries.
      for name in ["Commit.log", "Commit.manifest"] {
        try FileManager.default.removeItem(atPath: directory + "/a/" + name)
      }
      _ = try kind.salvage(directory + "/a", to: directory + "/b")
      let salvaged = try kind.open(directory + "/b")
      #expect(try salvaged.historyStart() == start && salvaged.lastCommitNumber > last)
      #expect(try salvaged.historyID() != id)
      try salvaged.commit { $0.insert(9, in: try salvaged.table(named: "Song"), [1]) }
      var numbers: [UInt64] = []
      try salvaged.forEachHistoryEntry(after: start) { entry in
        numbers.append(entry.commit.number)
        return .next
      }
      #expect(numbers.dropLast() == Array(start + 1...last)[...] && numbers.last ?? 0 > last)
      try salvaged.close()
    }
  }

  /// CommitHistory.ordered of a store to which five songs were saved, one by one.
  private static let format1File = """
    U09LZXlzAAEqAgAAfpjw9QYAAAAAAAAAAAALAHIA2QBAAacBAQABAQAAAAAAAAAJAQAAAAAAAAACAQIAAAAAAAAAxAdF
    bTY+iKaAAAAAAAAAAQIHetwhYQYAAQAAAAAAAAAAAAAAAQAAAAQAAABTb25nAQAAAAIAAAAAEwAAAAAGAAAAU29uZyAw
    AAAAAF+v4zcAAAAACQEAAAAAAAAAAwEDAAAAAAAAAMQHRW02PoimgAAAAAAAAAL2CHrcIWEGAAIAAAAAAAAAAAAAAAEA
    AAAEAAAAU29uZwEAAAADAAAAABMAAAAABgAAAFNvbmcgMQEAAACsJoxrAAAAAAkBAAAAAAAAAAQBBAAAAAAAAADEB0Vt
    Nj6IpoAAAAAAAAADGQl63CFhBgADAAAAAAAAAAAAAAABAAAABAAAAFNvbmcBAAAABAAAAAATAAAAAAYAAABTb25nIDIC
    AAAAx2IJYAAAAAAJAQAAAAAAAAAFAQUAAAAAAAAAxAdFbTY+iKaAAAAAAAAABDMJetwhYQYABAAAAAAAAAAAAAAAAQAA
    AAQAAABTb25nAQAAAAUAAAAAEwAAAAAGAAAAU29uZyAzAwAAADTrZjwAAAAACQEAAAAAAAAABgEGAAAAAAAAAMQHRW02
    PoimgAAAAAAAAAWCCXrcIWEGAAUAAAAAAAAAAAAAAAEAAAAEAAAAU29uZwEAAAAGAAAAABMAAAAABgAAAFNvbmcgNAQA
    AABi/rFDAAAAAFNPS2V5RW5kAQAAAAEAAAAIAAAAAAAAACoCAAAAAAAABgAAAAAAAAByAgAAAAAAAHVszaSixK4j3a6v
    P+7UhIU=
    """
}
