import Files
import FoundationEssentials

/// A change set that repeats a commit of another store.
///
/// Each row, buffer and key of the target must equal the old value in the entry.
struct ReplayedChanges {
  private let target: any StoreBackend
  private(set) var changes = ChangeSet()
  /// The bytes of a row, a buffer or a key in the target.
  private var found: [UInt8] = []

  init(_ target: any StoreBackend) { self.target = target }

  /// Adds the changes of an entry.
  ///
  /// - Throws: ``StoreError`` with `damaged` if the target differs or the entry is invalid;
  ///   `invalidName`, `ioError` or `closed`.
  mutating func add(_ entry: HistoryEntry) throws(StoreError) {
    try checkNames(entry, mayHaveHistory: false)
    for table in entry.tables { try add(table, isNew: false) }
    for change in entry.buffers {
      found.removeAll(keepingCapacity: true)
      let isThere = try target.withNamedBuffer(change.name) { found.append(copying: $0) } != nil
      guard (isThere ? found : nil) == change.before else { throw differs(change.name) }
      changes.set(change.after, named: change.name)
    }
    for table in entry.orderedTables {
      let id = try target.orderedTable(table.name)
      if table.isCleared { changes.clear(id) }
      for change in table.keys {
        if table.name.kind != .index { try check(change, id, table.name) }
        changes.set(change.key, to: change.after, in: id)
      }
    }
  }

  /// Adds a part of a first copy, in which all rows, buffers and keys are new.
  mutating func addNew(_ entry: HistoryEntry) throws(StoreError) {
    try checkNames(entry, mayHaveHistory: true)
    for table in entry.tables { try add(table, isNew: true) }
    for change in entry.buffers {
      changes.set(change.after, named: change.name)
    }
    for table in entry.orderedTables {
      let id = try target.orderedTable(table.name)
      for change in table.keys { changes.set(change.key, to: change.after, in: id) }
    }
  }

  private mutating func add(
    _ table: HistoryEntry.TableChanges, isNew: Bool
  ) throws(StoreError) {
    let id = try target.table(named: table.name)
    var records = ChangeSet.TableChanges(table: id, records: [])
    records.records.reserveCapacity(table.records.count)
    var rows: Set<UInt32> = []
    for record in table.records {
      guard record.rowID > 0, rows.insert(record.rowID).inserted else { throw makesNoSense() }
      if isNew {
        guard record.before == nil, record.after != nil else { throw makesNoSense() }
      } else {
        found.removeAll(keepingCapacity: true)
        let isThere = try target.copyRecord(record.rowID, in: id, to: &found)
        guard (isThere ? found : nil) == record.before else {
          throw differs(table.name, record.rowID)
        }
      }
      let kind: ChangeSet.Kind =
        record.after == nil ? .delete : record.before == nil ? .insert : .update
      records.records.append(
        .init(kind: kind, rowID: record.rowID, range: changes.take(record.after) ?? 0..<0))
    }
    changes.tables.append(records)
  }

  private mutating func check(
    _ change: HistoryEntry.KeyChange, _ id: OrderedTableID, _ name: OrderedTableName
  ) throws(StoreError) {
    found.removeAll(keepingCapacity: true)
    let isThere = try target.copyValue(of: change.key, in: id, to: &found)
    guard (isThere ? found : nil) == change.before else { throw differs(name.fileName) }
  }

  // MARK: The follower's own tables

  /// Adds the entry to the history, which then keeps the values that the commit releases.
  mutating func remember(_ entry: HistoryEntry, _ bytes: [UInt8]) throws(StoreError) {
    let history = try target.orderedTable(HistoryFormat.table)
    changes.set(HistoryFormat.key(entry.commit.number), to: bytes, in: history)
    for (key, size) in entry.keysOfDroppedValues() {
      changes.set(key, to: size, in: try target.orderedTable(ExternalCatalogue.table))
    }
  }

  /// Removes entries from the history.
  ///
  /// - Returns: The values that the history kept for these entries.
  mutating func forget(
    _ numbers: ClosedRange<UInt64>, _ id: UUID
  ) throws(StoreError) -> [ExternalID] {
    let history = try target.orderedTable(HistoryFormat.table)
    var values: [ExternalID] = []
    for number in numbers {
      if let entry = try target.historyEntry(of: number) {
        values += try target.release(entry, in: &changes)
      }
      changes.set(HistoryFormat.key(number), to: nil, in: history)
    }
    changes.set(
      HistoryFormat.stampKey, to: HistoryFormat.encoded(.init(since: numbers.upperBound, id: id)),
      in: history)
    return values
  }

  /// Sets the position of the target.
  mutating func mark(_ mark: FollowerMark) throws(StoreError) {
    changes.set(
      FollowerMark.key, to: mark.bytes, in: try target.orderedTable(FollowerMark.table))
  }

  // MARK: Errors

  /// Throws if an entry has a name twice, or changes a table that only the follower writes.
  private func checkNames(
    _ entry: HistoryEntry, mayHaveHistory: Bool
  ) throws(StoreError) {
    let tables = Set(entry.tables.map { ExactName($0.name) })
    let buffers = Set(entry.buffers.map { ExactName($0.name) })
    let ordered = Set(entry.orderedTables.map(\.name))
    guard tables.count == entry.tables.count, buffers.count == entry.buffers.count,
      ordered.count == entry.orderedTables.count, !ordered.contains(FollowerMark.table),
      mayHaveHistory || !ordered.contains(HistoryFormat.table)
    else { throw makesNoSense() }
  }

  private func makesNoSense() -> StoreError {
    StoreError(
      .damaged, "An entry of the stream is invalid. Read the stream again from its source.",
      at: .init(path: target.location))
  }

  private func differs(_ name: String, _ rowID: UInt32? = nil) -> StoreError {
    StoreError(
      .damaged,
      "The copy differs from the followed store before the commit. Make a new copy.",
      at: .init(path: target.location, className: name, rowID: rowID))
  }
}
