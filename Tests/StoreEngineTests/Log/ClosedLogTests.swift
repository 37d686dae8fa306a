import CDBBackend
import StoreEngine
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Closed logs")
struct ClosedLogTests {
  private static func saved(on disk: CrashingDirectory, count: UInt32) throws -> StoreImage {
    let backend = try CDBBackend(disk)
    let table = try backend.table(named: "Song")
    for rowID in 2..<count + 2 {
      var changes = ChangeSet(bytes: [7, 8, UInt8(rowID)])
      changes.tables = [
        .init(table: table, records: [.init(kind: .insert, rowID: rowID, range: 0..<3)])
      ]
      try backend.commit(changes)
    }
    let image = try StoreImage(of: backend)
    try backend.close()
    return image
  }

  @Test("Opening, reading and closing a closed log writes and syncs nothing")
  func untouched() throws {
    let disk = try CrashingDirectory()
    let image = try Self.saved(on: disk, count: 3)
    disk.plan(.none)
    let backend = try CDBBackend(disk)
    #expect(try StoreImage(of: backend) == image)
    try backend.close()
    #expect(!disk.operations.isEmpty && disk.changes.isEmpty)
  }

  @Test("A session that saves and dies leaves a log that is read to its last save")
  func dies() throws {
    let disk = try CrashingDirectory()
    _ = try Self.saved(on: disk, count: 1)
    let backend = try CDBBackend(disk)
    let table = try backend.table(named: "Song")
    var changes = ChangeSet(bytes: [1])
    changes.tables = [
      .init(table: table, records: [.init(kind: .insert, rowID: 9, range: 0..<1)])
    ]
    try backend.commit(changes)
    let image = try StoreImage(of: backend)
    var generator = Seeds.generator(for: "a session that dies")
    let later = try disk.afterPowerCut(using: &generator)
    let reopened = try CDBBackend(later)
    #expect(try StoreImage(of: reopened) == image)
  }
}
