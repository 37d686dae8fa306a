import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Many encrypted records")
struct ManyRecordsTests {
  /// Different in size and content for each row.
  private func record(_ row: UInt32) -> [UInt8] {
    Array("record \(row)".utf8) + [UInt8](repeating: UInt8(row % 251), count: Int(row % 37))
  }

  /// Reads a table in batches that are large enough to be opened on two threads.
  private func read(
    _ backend: any StoreBackend, keepsFailures: Bool
  ) throws -> (records: [UInt32: [UInt8]], failures: [StoreError]) {
    let table = try backend.table(named: "SecretDiary")
    var (records, failures) = ([UInt32: [UInt8]](), [StoreError]())
    var position: ScanPosition?
    while true {
      var batch = RecordBatch()
      batch.keepsFailures = keepsFailures
      let end = try backend.copyRecords(of: table, from: position, to: &batch)
      for entry in batch.entries {
        records[entry.rowID] = Array(batch.bytes[Int(entry.start)..<Int(entry.end)])
      }
      failures += batch.failures
      guard case .paused(let next) = end else { return (records, failures) }
      position = next
    }
  }

  @Test(
    "Two threads seal and open each record correctly, and a moved record is named",
    arguments: StoreFormat.allCases)
  func halves(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let backend = try kind.open(path)
      let table = try backend.table(named: "SecretDiary")
      let rows = UInt32(2)...6_000
      try backend.commit { changes in
        for row in rows { changes.insert(row, in: table, record(row)) }
      }
      try EncryptedStore.fold(backend)
      let all = Dictionary(uniqueKeysWithValues: rows.map { ($0, record($0)) })
      #expect(try read(backend, keepsFailures: false).records == all)
      try backend.close()

      let moved: [UInt32] = [700, 5_990]
      for row in moved {
        try SealedFiles(kind, path).copyRecord(fromRow: 2, to: row, inTableOf: "SecretDiary")
      }
      let again = try kind.open(path, readOnly: true)
      let found = try read(again, keepsFailures: true)
      #expect(found.records == all.filter { !moved.contains($0.key) })
      #expect(found.failures.compactMap(\.location.rowID).sorted() == moved)
      let error = #expect(throws: StoreError.self) { try read(again, keepsFailures: false) }
      #expect(error?.code == .notAuthentic)
      try again.close()
    }
  }
}
