/// Visits the objects of a class, each once, in bounded memory.
///
///     var songs = try store.cursor(over: Song.self)
///     while let song = try songs.next() { print(song.title) }
///
/// A cursor gives every object that was there when it was made and has not been deleted by the time
/// its turn comes, with its unsaved changes. It does not give objects inserted later. Cursors may
/// nest, may be left at any point, and go on rightly when objects are changed, deleted and saved
/// between two calls, here or by another store.
///
/// It reads ahead by some 64 KiB of records. Objects that the application lets go of are freed, so
/// that a class of any size can be walked.
///
/// The order is the backend's own. A cursor belongs to the isolation domain of its store.
public struct ObjectCursor<Object: StoredObject> {
  private let store: Store
  private let entry: RegisteredClass
  private let type: Object.Type
  /// Rows above this one came later.
  private let lastRowID: UInt32
  /// Rows that had their turn.
  private var visited = RowSet()
  private var stage: Stage = .scanning(nil)
  private var batch = RecordBatch()
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

  init(_ store: Store, _ entry: RegisteredClass, _ type: Object.Type) {
    self.store = store
    self.entry = entry
    self.type = type
    lastRowID = entry.shared.lastRowID
    for object in entry.pending.reversed() where object.state.contains(.inserted) {
      unsaved.append(object)
      visited.insert(object.rowID)
    }
  }

  /// The next object, or nil at the end.
  ///
  /// Complexity: constant time, over all calls.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `newerVersion`, `ioError` or `closed`. The record that
  ///   could not be read has had its turn: the next call goes on behind it.
  public mutating func next() throws(StoreError) -> Object? {
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

  private mutating func nextUnsaved() -> Object? {
    while let object = unsaved.popLast() {
      guard object.registration === entry, !object.state.contains(.deleted) else { continue }
      if let object = object as? Object { return object }
    }
    return nil
  }
}

// MARK: - Front to back

extension ObjectCursor {
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
    batch = RecordBatch()
  }

  private mutating func nextInBatch() throws(StoreError) -> Object? {
    // What was read ahead is out of date once anyone has committed. The news are taken in first: a
    // commit that comes after this test stays news, and a change that rests on the batch a conflict.
    store.collectChangesElsewhere()
    guard batch.commitCount == entry.shared.commitCount else {
      batch.removeAll()
      return nil
    }
    while let (rowID, range) = batch.popFirst() {
      guard rowID > ClassMetadata.rowID, rowID <= lastRowID, !visited.contains(rowID) else {
        continue
      }
      visited.insert(rowID)
      if let object = try object(rowID, range) { return object }
    }
    return nil
  }

  /// The object of a record in the batch, or nil when it is deleted.
  private mutating func object(
    _ rowID: UInt32, _ range: Range<Int>
  ) throws(StoreError) -> Object? {
    let object = entry.object(rowID, as: type)
    if object.state.contains(.deleted) { return nil }
    if object.hasContent || object.state.contains(.loading) { return object }
    store.forgetKnownChange(rowID, entry)
    var buffer = store.takeWindow(batch.bytes, range)
    try store.decode(object, entry, from: &buffer)
    return object
  }
}

// MARK: - Row by row

extension ObjectCursor {
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
  ) throws(StoreError) -> Object? {
    guard let next = rows.first(after: rowID) else {
      stage = .saved
      return nil
    }
    stage = .lookingUp(rows, after: next)
    visited.insert(next)
    return try store.object(type, rowID: next)
  }
}
