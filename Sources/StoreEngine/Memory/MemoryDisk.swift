import Locks

/// The storage of a ``MemoryBackend``, as a disk is for other backends.
///
/// It outlives the backend, so that a store can be closed and opened again. Safe on any thread.
public final class MemoryDisk: Sendable {
  struct Contents: Sendable {
    var tables: [String: MemoryTable] = [:]
    var names: [ExactName: [UInt8]] = [:]
    var ordered: [OrderedTableName: KeyRuns] = [:]
    /// The chunks of external values.
    var values: [ExternalID: [[UInt8]]] = [:]
    var lastCommit: Commit?
    var readers = 0
    var hasWriter = false
  }

  let contents: Locked<Contents>

  /// Creates an empty disk.
  public init() { contents = Locked(Contents()) }

  init(_ contents: Contents) { self.contents = Locked(contents) }

  /// Opens the disk, and returns the last commit on it.
  func open(isReadOnly: Bool) throws(StoreError) -> Commit? {
    try contents.withLock { (contents) throws(StoreError) in
      guard !contents.hasWriter, isReadOnly || contents.readers == 0 else {
        throw StoreError(.inUse, "Another backend has this memory open.", at: .init(path: "memory"))
      }
      if isReadOnly { contents.readers += 1 } else { contents.hasWriter = true }
      return contents.lastCommit
    }
  }

  func close(isReadOnly: Bool) {
    contents.withLock { contents in
      if isReadOnly { contents.readers -= 1 } else { contents.hasWriter = false }
    }
  }

  /// Applies a whole change set, or throws before it has applied any of it.
  func apply(
    _ changes: ChangeSet, _ commit: Commit?, tableNames: [String],
    orderedNames: [OrderedTableName]
  ) throws(StoreError) {
    try contents.withLock { (contents) throws(StoreError) in
      for table in changes.tables {
        let name = tableNames[table.table.index]
        try contents.tables[name]?.checkInsertedRows(table, className: name)
      }
      for table in changes.tables where !table.records.isEmpty {
        contents.tables[tableNames[table.table.index], default: MemoryTable()]
          .apply(table, changes.bytes)
      }
      for change in changes.names {
        contents.names[ExactName(change.name)] = change.range.map { Array(changes.bytes[$0]) }
      }
      for change in changes.ordered where !change.isEmpty {
        contents.ordered[orderedNames[change.table.index], default: KeyRuns()]
          .apply(change, changes.bytes)
      }
      contents.lastCommit = commit
    }
  }
}

extension KeyRuns {
  /// Merges the changes of a save, with no file below the runs.
  fileprivate mutating func apply(_ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    if changes.clearsFirst { self = KeyRuns() }
    // Keeps only the keys, and not the records of the save.
    let run = KeyRun(bytes: bytes, changes.changes).compacted()
    add(run.counted { find($0).map { !$0.change.isRemoval } ?? false }, isBottom: true)
  }
}

/// The records of one class.
struct MemoryTable: Sendable {
  private(set) var records: [UInt32: [UInt8]] = [:]
  /// The rows in ascending order, without repeats; removed rows may remain for a while.
  private(set) var rows: [UInt32] = []
  /// The number of commits that have changed the table.
  private(set) var generation: UInt64 = 0

  func checkInsertedRows(
    _ changes: ChangeSet.TableChanges, className: String
  ) throws(StoreError) {
    let clash = changes.records.first { $0.kind == .insert && records[$0.rowID] != nil }
    guard let clash else { return }
    throw StoreError(
      .rowExists, "The metadata row was set back, or a program wrote the row by hand.",
      at: .init(path: "memory", className: className, rowID: clash.rowID))
  }

  mutating func apply(_ changes: ChangeSet.TableChanges, _ bytes: [UInt8]) {
    generation += 1
    for change in changes.records {
      if change.kind == .delete {
        records[change.rowID] = nil
      } else if records.updateValue(Array(bytes[change.range]), forKey: change.rowID) == nil {
        enter(change.rowID)
      }
    }
    if rows.count > 2 * records.count + 64 { rows.removeAll { records[$0] == nil } }
  }

  private mutating func enter(_ rowID: UInt32) {
    if rows.last.map({ $0 < rowID }) ?? true { return rows.append(rowID) }
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] < rowID { low = middle + 1 } else { high = middle }
    }
    if rows[low] != rowID { rows.insert(rowID, at: low) }
  }
}
