import Files
import StoreEngine

/// The saved records of the rows that a save updates or deletes.
///
/// The indexes need the earlier values of these objects. A server is asked for many records at
/// once, and first of all together with the state of the indexes. Other backends read each record
/// when it is needed, and don't copy it.
struct SavedRecords {
  /// The number of records that are asked for at a time.
  private static let count = 1024

  private let store: Store
  private let entry: RegisteredClass
  /// The rows that were not asked for yet, in reverse order.
  private var rest: [UInt32] = []
  private var batch = RecordBatch()
  /// The places of the rows in the batch.
  private var ranges: [UInt32: Range<Int>] = [:]

  init(_ store: Store, _ entry: RegisteredClass) {
    (self.store, self.entry) = (store, entry)
    guard store.backend.coordinator.isOnServer else { return }
    rest = entry.changed.filter { $0.state.change != .insert }.map(\.rowID).reversed()
    // A record that can't be opened is read again when it is needed, which throws its error.
    batch.keepsFailures = true
  }

  /// Reads the state of the class's indexes together with the first records.
  mutating func readFirst() throws(StoreError) -> TableSummary {
    let summary = try store.summary(of: entry.indexes, entry, copying: nextRows(), to: &batch)
    note()
    return summary
  }

  /// Reads the next records if a row is among them.
  mutating func prepare(_ row: UInt32) throws(StoreError) {
    guard rest.last == row else { return }
    batch.removeAll()
    try store.backend.copyRecords(nextRows(), of: entry.table, to: &batch)
    note()
  }

  private mutating func nextRows() -> [UInt32] {
    let rows = Array(rest.suffix(Self.count).reversed())
    rest.removeLast(rows.count)
    return rows
  }

  private mutating func note() {
    ranges.removeAll(keepingCapacity: true)
    for record in batch.entries { ranges[record.rowID] = Int(record.start)..<Int(record.end) }
  }

  /// Returns a saved row as a separate object; nil if there is no such row.
  func object(_ row: UInt32) throws(StoreError) -> StoredObject? {
    guard let range = ranges[row] else { return try store.savedObject(row, entry) }
    var buffer = store.takeWindow(batch.bytes, range)
    return try store.looseObject(row, entry, &buffer)
  }
}
