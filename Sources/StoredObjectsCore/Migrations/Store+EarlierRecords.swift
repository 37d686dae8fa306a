import Files
import StoreEngine

// A save writes the current properties of a class. The remaining steps of a migration may still
// need the others. So the records of earlier layouts that a step overwrites or deletes are kept
// until the last step is done. Each class has an ordered table for them; the key is the row ID, the
// most significant byte first.

extension Store {
  /// Adds the records of earlier layouts that a save overwrites.
  ///
  /// Records with the current layout are not kept, so none is kept twice.
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
  /// Returns the table of the records that a migration has overwritten.
  func earlierRecords(of className: String) throws(StoreError) -> OrderedTableID {
    try orderedTable(earlierRecordsName(of: className))
  }

  /// Returns all tables of overwritten records.
  func allEarlierRecords() throws(StoreError) -> [OrderedTableID] {
    try orderedTableNames()
      .filter { $0.kind == .data && $0.name.hasSuffix(IndexNames.earlierRecords) }
      .map(orderedTable)
  }
}

/// Returns the name of the table of the records that a migration has overwritten.
func earlierRecordsName(of className: String) -> OrderedTableName {
  OrderedTableName(className + IndexNames.earlierRecords, kind: .data)
}
