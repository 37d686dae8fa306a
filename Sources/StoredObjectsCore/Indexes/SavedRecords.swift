import Files
import StoreEngine

/// The saved records of the rows that a save updates or deletes.
///
/// The indexes need the earlier values of these objects, and the saved rows that have the unique
/// values of the new ones. A server is asked for many records and for all values at once, and first
/// of all together with the state of the indexes. Other backends read each record and each value
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
  /// The rows that have a unique value, for each index that is unique; nil before the server is
  /// asked.
  private var rowsOfValues: [OrderedTableID: [[UInt8]: [UInt32]]]?

  init(_ store: Store, _ entry: RegisteredClass) {
    (self.store, self.entry) = (store, entry)
    guard store.backend.coordinator.isOnServer else { return }
    rest = entry.changed.filter { $0.state.change != .insert }.map(\.rowID).reversed()
    // A record that can't be opened is read again when it is needed, which throws its error.
    batch.keepsFailures = true
  }

  /// Reads the state of the class's indexes together with the first records.
  mutating func readFirst() throws(StoreError) -> TableSummary {
    let values = uniqueValues()
    let summary = try store.summary(
      of: entry.indexes, entry, copying: nextRows(), keysIn: Self.ranges(of: values), to: &batch)
    note()
    note(summary.keys, values)
    return summary
  }

  /// Reads the rows that have unique values again, because an index was built.
  mutating func readValuesAgain() throws(StoreError) {
    let values = uniqueValues()
    if rowsOfValues == nil || values.isEmpty { return }
    var noRecords = RecordBatch()
    let summary = try store.summary(
      of: [], entry, keysIn: Self.ranges(of: values), to: &noRecords)
    note(summary.keys, values)
  }

  /// Returns the rows that have a unique value; nil if they were not asked for.
  func rows(with value: [UInt8], in index: RegisteredIndex) -> [UInt32]? {
    rowsOfValues?[index.table]?[value]
  }

  /// Returns the values of the changed objects that no other object may have.
  private func uniqueValues() -> [(table: OrderedTableID, value: [UInt8])] {
    var values: [(table: OrderedTableID, value: [UInt8])] = []
    for index in entry.indexes where index.declaration.isUnique {
      var known: Set<[UInt8]> = []
      for object in entry.changed where object.state.change != .delete {
        guard let value = index.uniqueKey(of: object), known.insert(value).inserted else {
          continue
        }
        values.append((index.table, value))
      }
    }
    return values
  }

  private static func ranges(
    of values: [(table: OrderedTableID, value: [UInt8])]
  ) -> [(table: OrderedTableID, range: KeyRange)] {
    values.map { ($0.table, RegisteredIndex.range(of: $0.value)) }
  }

  private mutating func note(
    _ keys: [[[UInt8]]], _ values: [(table: OrderedTableID, value: [UInt8])]
  ) {
    var rows: [OrderedTableID: [[UInt8]: [UInt32]]] = [:]
    for (value, keys) in zip(values, keys) {
      rows[value.table, default: [:]][value.value] = keys.map { key in
        key.lend { RegisteredIndex.row($0) }
      }
    }
    rowsOfValues = rows
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
