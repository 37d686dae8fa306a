/// What an ``ObjectCursor`` does, whatever the class: it is compiled once.
@usableFromInline struct RowCursor {
  private let store: Store
  private let entry: RegisteredClass
  /// Rows above this one came later.
  private let lastRowID: UInt32
  /// Rows that had their turn.
  private var visited = RowSet()
  private var stage: Stage = .scanning(nil)
  private var batch: RecordBatch
  private var hasBegun = false
  /// Objects that were unsaved at the beginning, the next one last.
  private var unsaved: [StoredObject] = []

  private enum Stage {
    /// Reads the table from front to back, from here on.
    case scanning(ScanPosition?)
    /// The table has changed under the scan: looks up the rest, row by row, behind this row.
    case lookingUp(RowSet, after: UInt32)
    /// Only unsaved objects are left.
    case saved
  }

  init(_ store: Store, _ entry: RegisteredClass) {
    self.store = store
    self.entry = entry
    batch = RecordBatch(store: store)
    lastRowID = entry.shared.lastRowID
    for object in entry.pending.reversed() where object.state.contains(.inserted) {
      unsaved.append(object)
      visited.insert(object.rowID)
    }
  }

  /// The next object, or nil at the end.
  @usableFromInline mutating func next() throws(StoreError) -> StoredObject? {
    while true {
      switch stage {
      case .scanning(let position):
        if let object = try nextInBatch() { return object }
        try scan(from: position)
      case .lookingUp(let rows, let rowID):
        if let object = try lookUp(rows, after: rowID) { return object }
      case .saved:
        return nextUnsaved()
      }
    }
  }

  private mutating func nextUnsaved() -> StoredObject? {
    while let object = unsaved.popLast() {
      if object.registration === entry, !object.state.contains(.deleted) { return object }
    }
    return nil
  }
}

// MARK: - Front to back

extension RowCursor {
  private mutating func scan(from position: ScanPosition?) throws(StoreError) {
    do {
      let isUndisturbed = !hasBegun || batch.commitCount == entry.shared.commitCount
      guard isUndisturbed, !batch.isLast else { return try leaveScan(isUndisturbed) }
      hasBegun = true
      switch try batch.fill(from: position, entry, store) {
      case .paused(let position): stage = .scanning(position)
      case .finished: batch.isLast = true
      case .disturbed: try leaveScan(false)
      }
    } catch {
      throw .wrapping(error, .ioError, at: entry.place())
    }
  }

  /// The scan is over: because everything was read, or because the table has changed.
  private mutating func leaveScan(_ isComplete: Bool) throws {
    stage = isComplete ? .saved : .lookingUp(try rowsNotVisited(), after: ClassMetadata.rowID)
    batch = RecordBatch(store: store)
  }

  private mutating func nextInBatch() throws(StoreError) -> StoredObject? {
    // What was read ahead is out of date once anyone has committed. The news are taken in first: a
    // commit that comes after this test stays news, and a change that rests on the batch a conflict.
    store.collectChangesElsewhere()
    guard batch.commitCount == entry.shared.commitCount else {
      batch.removeAll()
      return nil
    }
    while let (rowID, range) = batch.popFirst() {
      guard rowID > ClassMetadata.rowID, rowID <= lastRowID, visited.insert(rowID) else {
        continue
      }
      if let object = try object(rowID, range) { return object }
    }
    return nil
  }

  /// The object of a record in the batch, or nil when it is deleted.
  private mutating func object(
    _ rowID: UInt32, _ range: Range<Int>
  ) throws(StoreError) -> StoredObject? {
    let object = entry.object(rowID)
    if object.state.contains(.deleted) { return nil }
    if object.hasContent || object.state.contains(.loading) { return object }
    store.forgetKnownChange(rowID, entry)
    try batch.withWindow(range) { buffer throws(StoreError) in
      try store.decode(object, entry, from: &buffer)
    }
    return object
  }
}

// MARK: - Row by row

extension RowCursor {
  /// The rows that are there and have not had their turn.
  private func rowsNotVisited() throws -> RowSet {
    var rows = RowSet()
    var position: ScanPosition?
    while true {
      let end = try store.backend.scan(entry.table, from: position) { rowID, _ in
        if rowID > ClassMetadata.rowID, rowID <= lastRowID, !visited.contains(rowID) {
          rows.insert(rowID)
        }
        return .next
      }
      switch end {
      case .finished: return rows
      case .paused(let next): position = next
      case .disturbed: position = nil
      }
    }
  }

  private mutating func lookUp(
    _ rows: RowSet, after rowID: UInt32
  ) throws(StoreError) -> StoredObject? {
    guard let next = rows.first(after: rowID) else {
      stage = .saved
      return nil
    }
    stage = .lookingUp(rows, after: next)
    visited.insert(next)
    return try store.object(entry, rowID: next)
  }
}
