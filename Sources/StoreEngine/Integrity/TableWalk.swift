/// A walk over all records of one table, a batch at a time, each row once.
///
/// It passes on records while no call to the backend is running.
package struct TableWalk {
  let backend: any StoreBackend
  let table: TableID
  /// The rows that have been visited.
  private(set) var rows = RowSet()
  /// The number of these rows, including row 1.
  private(set) var count = 0
  /// The number of rows that occurred more than once in a single scan.
  private(set) var repeatedCount = 0

  /// The errors of records in an encrypted store that could not be opened.
  package private(set) var failures: [StoreError] = []

  package init(_ backend: any StoreBackend, _ table: TableID) {
    self.backend = backend
    self.table = table
  }

  /// Calls a closure with every record, as a range of bytes.
  package mutating func run(
    _ body: (_ rowID: UInt32, _ bytes: [UInt8], _ range: Range<Int>) throws(StoreError) -> Void
  ) throws(StoreError) {
    var batch = RecordBatch()
    batch.keepsFailures = true
    var position: ScanPosition?
    var isRestarted = false
    while true {
      batch.removeAll()
      let end = try backend.copyRecords(of: table, from: position, to: &batch)
      if case .disturbed = end {
        // Records have moved: restart, and skip the rows that were visited already.
        (position, isRestarted) = (nil, true)
        continue
      }
      try lend(batch, isRestarted, body)
      guard case .paused(let next) = end else { return }
      position = next
    }
  }

  private mutating func lend(
    _ batch: RecordBatch, _ isRestarted: Bool,
    _ body: (UInt32, [UInt8], Range<Int>) throws(StoreError) -> Void
  ) throws(StoreError) {
    for failure in batch.failures {
      guard let rowID = failure.location.rowID, !rows.contains(rowID) else { continue }
      rows.insert(rowID)
      count += 1
      failures.append(failure)
    }
    for (rowID, start, end) in batch.entries {
      if rows.contains(rowID) {
        if !isRestarted { repeatedCount += 1 }
        continue
      }
      rows.insert(rowID)
      count += 1
      try body(rowID, batch.bytes, Int(start)..<Int(end))
    }
  }
}
