import StoreEngine

/// The saved rows of a class that the indexes don't describe, and the objects that replace them.
///
/// The store has other content for these rows than the disk. A query sees each object as it is in
/// the store: with unsaved changes, and, if another store has saved it since without a merge, as it
/// was when it was read. The object is found as long as its row exists.
struct OwnContents {
  /// The rows of unsaved changes and of outdated objects.
  private(set) var rows: RowSet
  /// New, changed and outdated objects whose rows are not deleted.
  private(set) var objects: [StoredObject] = []
  /// The rows whose content on disk is, or was, another.
  private(set) var savedRows: [UInt32] = []

  var isEmpty: Bool { objects.isEmpty && savedRows.isEmpty }

  init(_ store: Store, _ entry: RegisteredClass) {
    store.collectChangesElsewhere()
    rows = RowSet()
    if entry.pending.isEmpty, store.foreign.outdated.isEmpty { return }
    rows = RowSet(entry.changed.lazy.map(\.rowID))
    let hasDeleted = store.foreign.hasDeleted(entry.classID)
    for object in entry.pending {
      guard let change = object.state.change else { continue }
      // An object that is restored here may have been restored and saved elsewhere.
      if change != .insert || store.isChangedElsewhere(object.rowID, entry) {
        savedRows.append(object.rowID)
      }
      if change == .delete || hasDeleted && store.isDeletedElsewhere(object, entry) { continue }
      objects.append(object)
    }
    if store.foreign.outdated.isEmpty { return }
    for rowID in store.foreign.outdated[entry.table].sorted() where rows.insert(rowID) {
      // An object that was restored here and deleted again has no change, and is not found.
      guard let object = entry.living(rowID), object.hasContent,
        !object.state.contains(.deleted), !store.isDeletedElsewhere(object, entry)
      else { continue }
      savedRows.append(rowID)
      objects.append(object)
    }
  }
}

extension Store {
  /// Returns the rows that a class has on disk.
  ///
  /// Complexity: Linear in the number of rows; no record is decoded. On a read-only backend such as
  /// a snapshot, constant after the first call.
  func savedRows(of entry: RegisteredClass) throws -> RowSet {
    if let rows = entry.unchangingRows { return rows }
    let rows = try scannedRows(of: entry)
    if backend.isReadOnly { entry.unchangingRows = rows }
    return rows
  }

  private func scannedRows(of entry: RegisteredClass) throws -> RowSet {
    var rows = RowSet()
    var position: ScanPosition?
    while true {
      let end = try backend.scan(entry.table, from: position) { rowID, _ in
        if rowID > ClassMetadata.rowID { rows.insert(rowID) }
        return .next
      }
      switch end {
      case .finished: return rows
      case .paused(let next): position = next
      case .disturbed: (rows, position) = (RowSet(), nil)
      }
    }
  }
}
