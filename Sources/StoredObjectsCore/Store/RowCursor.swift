import StoreEngine

/// What an ``ObjectCursor`` does, whatever the class: it is compiled once.
@usableFromInline struct RowCursor {
  private let store: Store
  private let entry: RegisteredClass
  /// Rows above this one came later.
  private let lastRowID: UInt32
  /// And so did these, which this process had to itself and had not given out.
  private let openRows: Range<UInt64>
  /// Rows that had their turn.
  private var visited = RowSet()
  private var stage: Stage = .scanning(nil)
  private var ahead: ReadAhead
  private var hasBegun = false
  /// Objects that were unsaved at the beginning, the next one last.
  private var unsaved: [StoredObject] = []
  /// Their rows, which have their turn at the end, whether they are saved by then or not.
  private var unsavedRows = RowSet()

  private enum Stage {
    /// Reads the table from front to back, from here on.
    case scanning(ScanPosition?)
    /// The table has changed under the scan: looks up the rest, row by row, behind this row.
    case lookingUp(RowSet, after: UInt32)
    /// Only unsaved objects are left.
    case saved
  }

  /// Begins a walk; objects that whoever asks for them keeps may be made on a second thread.
  ///
  /// Others may not: memory that one thread takes and another one frees costs more than is won.
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

  /// The next object, or nil at the end.
  @usableFromInline mutating func next() throws(StoreError) -> StoredObject? {
    if let object = try nextReadAhead() { return object }
    return try nextBehind()
  }

  /// The next object when nothing is left of what was read ahead.
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

  /// The scan is over: because everything was read, or because the table has changed.
  private mutating func leaveScan(_ isComplete: Bool) throws {
    stage = isComplete ? .saved : .lookingUp(try rowsNotVisited(), after: ClassMetadata.rowID)
    ahead = ReadAhead(store, keepsObjects: false)
  }

  @inline(__always)
  private mutating func nextReadAhead() throws(StoreError) -> StoredObject? {
    if ahead.isEmpty { return nil }
    // What was read ahead is out of date once anyone has committed. The news are taken in first: a
    // commit that comes after this test stays news, and a change that rests on the batch a
    // conflict.
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

  /// Whether a row that a scan has come by has its turn now; it will not have another.
  @inline(__always)
  private func cameLater(_ rowID: UInt32) -> Bool {
    rowID > lastRowID || openRows.contains(UInt64(rowID))
  }

  private mutating func isDue(_ rowID: UInt32) -> Bool {
    visited.insert(rowID) && (unsaved.isEmpty || !unsavedRows.contains(rowID))
  }

  /// The object of a record in the batch, or nil when it is deleted.
  ///
  /// An object that was made of the record is taken if the row has none yet.
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
  /// The rows that are there and have not had their turn.
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
