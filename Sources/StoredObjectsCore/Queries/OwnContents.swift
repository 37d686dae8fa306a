import StoreEngine

/// The saved rows of a class of which an index says nothing, because the store has other content
/// for them, and the objects that count in their place.
///
/// A query sees each object as it is in the store: with unsaved changes, and, where another store
/// has saved it since and nobody has merged, as it was when it was read. It is found as long as its
/// row is there.
struct OwnContents {
  /// The rows of unsaved changes and of outdated objects.
  private(set) var rows: RowSet
  /// New, changed and outdated objects whose rows nobody has deleted.
  private(set) var objects: [StoredObject] = []
  /// The rows that have, or had, another content on disk.
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
      if change != .insert { savedRows.append(object.rowID) }
      if change == .delete || hasDeleted && store.isDeletedElsewhere(object, entry) { continue }
      objects.append(object)
    }
    if store.foreign.outdated.isEmpty { return }
    for rowID in store.foreign.outdated[entry.table].sorted() where rows.insert(rowID) {
      guard let object = entry.living(rowID), object.hasContent,
        !store.isDeletedElsewhere(object, entry)
      else { continue }
      savedRows.append(rowID)
      objects.append(object)
    }
  }
}

extension Store {
  /// The rows that a class has on disk.
  ///
  /// Complexity: linear in the number of rows, of which none is decoded; constant after the first
  /// time on a backend for reading only, such as a snapshot.
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
