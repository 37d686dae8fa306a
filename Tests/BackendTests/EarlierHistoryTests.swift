import Foundation
import StoredObjectsCore
import TestFiles
import Testing
import TokyoCabinetBackend

@Suite("Histories of earlier versions")
struct EarlierHistoryTests {
  @Test("A history in format 1 is read, and goes on in today's format")
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
