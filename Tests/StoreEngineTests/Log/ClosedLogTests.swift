import StoreEngine
import StoredObjectsTestSupport
import Testing

@Suite("A log that was closed")
struct ClosedLogTests {
  private static func saved(on disk: SimulatedDisk, count: UInt32) throws -> StoreImage {
    let backend = try LoggedBackend(files: SimulatedFiles(disk))
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

  @Test("Opening, reading and closing it writes nothing and syncs nothing")
  func untouched() throws {
    let disk = SimulatedDisk()
    let image = try Self.saved(on: disk, count: 3)
    let before = disk.operations.count
    let backend = try LoggedBackend(files: SimulatedFiles(disk))
    #expect(try StoreImage(of: backend) == image)
    try backend.close()
    let since = disk.operations[before...]
    #expect(!since.contains { $0 == .write || $0 == .synchronize || $0 == .resize })
  }

  @Test("A session that saves and dies leaves a log that is read to its last save")
  func dies() throws {
    let disk = SimulatedDisk()
    _ = try Self.saved(on: disk, count: 1)
    let backend = try LoggedBackend(files: SimulatedFiles(disk))
    let table = try backend.table(named: "Song")
    var changes = ChangeSet(bytes: [1])
    changes.tables = [.init(table: table, records: [.init(kind: .insert, rowID: 9, range: 0..<1)])]
    try backend.commit(changes)
    let image = try StoreImage(of: backend)
    var generator = Seeds.generator(for: "a session that dies")
    let later = disk.afterPowerCut(using: &generator)
    let reopened = try LoggedBackend(files: SimulatedFiles(later))
    #expect(try StoreImage(of: reopened) == image)
  }
}
