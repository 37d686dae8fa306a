import StoredObjectsCore
import TestFiles
import TokyoCabinetBackend

/// Helpers of the tests of the Tokyo Cabinet backend.
enum TokyoFixtures {
  /// Runs a test with a directory of its own, which does not exist yet.
  static func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    try withTemporaryDirectory { try body($0 + "/store") }
  }

  /// Runs a test on a new backend with a table, and closes it.
  static func withBackend(_ body: (TokyoCabinetBackend, TableID) throws -> Void) throws {
    try withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      try body(backend, backend.table(named: "Song"))
      try backend.close()
    }
  }

  /// A change set of one table.
  static func changes(
    _ table: TableID, _ records: [(ChangeSet.Kind, UInt32, [UInt8])]
  ) -> ChangeSet {
    var changes = ChangeSet(tables: [.init(table: table, records: [])])
    for (kind, row, bytes) in records {
      let start = changes.bytes.count
      changes.bytes += bytes
      changes.tables[0].records.append(
        .init(kind: kind, rowID: row, range: start..<changes.bytes.count))
    }
    return changes
  }

  /// A record's bytes; nil when there is none.
  static func record(_ row: UInt32, _ table: TableID, _ backend: TokyoCabinetBackend) throws
    -> [UInt8]?
  {
    try backend.withRecord(row, in: table) { bytes($0) }
  }

  /// Copies lent bytes.
  static func bytes(_ span: RawSpan) -> [UInt8] {
    unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// The error that a call throws; nil when it throws none, or another.
  static func error(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }
}
