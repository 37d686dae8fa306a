import Files
import StoreEngine

// A save writes the properties that a class has today. So that the steps of a migration that are
// still to come can read all others, the records of earlier layouts that a step overwrites or
// deletes are kept until the last step is done: in an ordered table for each class, under the row
// ID, the highest byte first.

extension Store {
  /// Adds the records of earlier layouts that a save overwrites.
  ///
  /// An overwritten record has today's layout, so that none is kept twice.
  func keepEarlierRecords(_ changes: inout ChangeSet) throws(StoreError) {
    for table in changes.tables {
      guard let entry = classes.first(where: { $0.table == table.table }), entry.versionsRecords
      else { continue }
      let earlier = try backend.earlierRecords(of: entry.name)
      for change in table.records
      where change.kind != .insert && change.rowID > ClassMetadata.rowID {
        var record: [UInt8] = []
        guard try backend.copyRecord(change.rowID, in: entry.table, to: &record),
          record.first != entry.version
        else { continue }
        changes.set(Self.earlierKey(change.rowID), to: record, in: earlier)
      }
    }
  }

  static func earlierKey(_ rowID: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.append(bigEndian: rowID)
    return key
  }
}

extension StoreBackend {
  /// The table of the records that a migration has overwritten.
  func earlierRecords(of className: String) throws(StoreError) -> OrderedTableID {
    try orderedTable(earlierRecordsName(of: className))
  }

  /// All tables of such records.
  func allEarlierRecords() throws(StoreError) -> [OrderedTableID] {
    try orderedTableNames()
      .filter { $0.kind == .data && $0.name.hasSuffix(IndexNames.earlierRecords) }
      .map(orderedTable)
  }
}

/// The name of the table of the records that a migration has overwritten.
func earlierRecordsName(of className: String) -> OrderedTableName {
  OrderedTableName(className + IndexNames.earlierRecords, kind: .data)
}
