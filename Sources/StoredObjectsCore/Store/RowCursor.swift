import StoreEngine

/// The part of ``ObjectCursor`` that does not depend on the class, so that it is compiled once.
@usableFromInline struct RowCursor {
  private let store: Store
  private let entry: RegisteredClass
  /// The last row ID at the start; later objects have higher ones.
  private let lastRowID: UInt32
  /// Row IDs that were reserved but unused at the start; they belong to later objects.
  private let openRows: Range<UInt64>
  /// Rows that have had their turn.
  private var visited = RowSet()
  private var stage: Stage = .scanning(nil)
  private var ahead: ReadAhead
  private var hasBegun = false
  /// Objects that were inserted and unsaved at the start, the next one last.
  private var unsaved: [StoredObject] = []
  /// Their rows, which are visited at the end, whether they are saved by then or not.
  private var unsavedRows = RowSet()

  private enum Stage {
    /// Scanning the table front to back, from a position.
    case scanning(ScanPosition?)
    /// Looking up the remaining rows one by one, after the table changed during the scan.
    case lookingUp(RowSet, after: UInt32)
    /// Only unsaved objects are left.
    case saved
  }

  /// Starts a walk.
  ///
  /// If `keepsObjects`, a second thread may make the objects. Otherwise it must not: memory that
  /// one thread allocates and another one frees costs more than the second thread gains.
  init(_ store: Store, _ entry: RegisteredClass, keepsObjects: Bool) {
    self.store = store
    self.entry = entry
    ahead = ReadAhead(store, keepsObjects: keepsObjects)
    store.refreshIfShared()
    (lastRowID, openRows) = (entry.shared.lastRowID, entry.shared.openRows)
    for object in entry.pending.reversed() where object.state.contains(.inserted) {
      unsaved.append(object)
      unsavedRows.insert(object.rowID)
    }
  }

  /// Returns the next object, or nil at the end.
  @usableFromInline mutating func next() throws(StoreError) -> StoredObject? {
    if let object = try nextReadAhead() { return object }
    return try nextBehind()
  }

  /// Returns the next object when nothing is left of the records that were read ahead.
  private mutating func nextBehind() throws(StoreError) -> StoredObject? {
    while true {
      switch stage {
      case .scanning(let position):
        try scan(from: position)
        if let object = try nextReadAhead() { return object }
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
      let isUndisturbed = !hasBegun || ahead.commitCount == entry.shared.commitCount
      guard isUndisturbed, !ahead.isLast else { return try leaveScan(isUndisturbed) }
      hasBegun = true
      switch try ahead.fill(from: position, entry, store.backend) {
      case .paused(let position): stage = .scanning(position)
      case .finished: ahead.isLast = true
      case .disturbed: try leaveScan(false)
      }
    } catch {
      throw .wrapping(error, .ioError, at: entry.location())
    }
  }

  /// Ends the scan, because everything was read or because the table has changed.
  private mutating func leaveScan(_ isComplete: Bool) throws {
    stage = isComplete ? .saved : .lookingUp(try rowsNotVisited(), after: ClassMetadata.rowID)
    ahead = ReadAhead(store, keepsObjects: false)
  }

  @inline(__always)
  private mutating func nextReadAhead() throws(StoreError) -> StoredObject? {
    if ahead.isEmpty { return nil }
    // Records read ahead are out of date once any store has committed. Changes of other stores are
    // collected first: a commit after this check stays pending, and a change based on the batch
    // becomes a conflict.
    if store.inbox.hasNews { store.collectChangesElsewhere() }
    guard ahead.commitCount == entry.shared.commitCount else {
      ahead.removeAll()
      return nil
    }
    while let (record, made) = ahead.popFirst() {
      guard record.rowID > ClassMetadata.rowID, !cameLater(record.rowID), isDue(record.rowID)
      else {
        continue
      }
      if let object = try object(at: record, made) { return object }
    }
    return nil
  }

  /// Whether a row was inserted after the walk began.
  @inline(__always)
  private func cameLater(_ rowID: UInt32) -> Bool {
    rowID > lastRowID || openRows.contains(UInt64(rowID))
  }

  /// Marks a row as visited, and returns whether its turn is now.
  private mutating func isDue(_ rowID: UInt32) -> Bool {
    visited.insert(rowID) && (unsaved.isEmpty || !unsavedRows.contains(rowID))
  }

  /// Returns the object of a record in the batch; nil if it is deleted.
  ///
  /// Uses the object that was made from the record if the row has no object yet.
  @inline(__always)
  private mutating func object(
    at record: RecordBatch.Entry, _ made: StoredObject?
  ) throws(StoreError) -> StoredObject? {
    let object = entry.object(record.rowID, orMade: made)
    if !object.state.isFault {
      if object === made { store.forgetKnownChange(record.rowID, entry) }
      return object.state.contains(.deleted) ? nil : object
    }
    store.forgetKnownChange(record.rowID, entry)
    try ahead.decode(object, at: record, entry, store)
    return object
  }
}

// MARK: - Row by row

extension RowCursor {
  /// Returns the existing rows that have not had their turn.
  private func rowsNotVisited() throws -> RowSet {
    var rows = RowSet()
    var position: ScanPosition?
    while true {
      let end = try store.backend.scan(entry.table, from: position) { rowID, _ in
        let isLeft = !visited.contains(rowID) && !unsavedRows.contains(rowID)
        if rowID > ClassMetadata.rowID, !cameLater(rowID), isLeft { rows.insert(rowID) }
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
