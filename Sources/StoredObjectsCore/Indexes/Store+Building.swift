import Files
import StoreEngine

extension Store {
  /// Builds the missing and outdated indexes of the registered classes.
  ///
  /// Queries and saves do so automatically when they first need an index. Call this method to build
  /// them at a time of your choice, and to show the progress. It continues where an earlier process
  /// has stopped.
  ///
  /// Saves of other stores on the backend wait meanwhile.
  ///
  /// Complexity: linear in the number of objects of the affected classes, whose records are read.
  ///
  /// - Parameter progress: Called with the progress in rows.
  /// - Throws: ``/StoreEngine/StoreError`` with `readOnly`, `damaged`, `newerVersion`, `noSpace`,
  ///   `ioError` or `closed`.
  public func buildIndexes(
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        for entry in classes {
          for index in entry.indexes { try buildIfNeeded(index, of: entry, progress) }
        }
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }

  /// Rebuilds all indexes of a class, whatever their state.
  ///
  /// Use it only for an index that ``check(progress:)`` has found not to match the objects, which
  /// should not happen otherwise.
  ///
  /// Complexity: O(n log n) for *n* objects of the class, for each index.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``buildIndexes(progress:)``.
  public func rebuildIndexes(of type: StoredObject.Type) throws(StoreError) {
    let entry = try requireRegistration(of: type)
    do {
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        for index in entry.indexes {
          var changes = ChangeSet()
          changes.clear(index.table)
          try backend.commit(changes)
          try buildIfNeeded(index, of: entry)
        }
      }
    } catch { throw .wrapping(error, .ioError, at: entry.location()) }
  }

  /// Builds an index unless it is usable; called in the commit lock.
  func buildIfNeeded(
    _ index: RegisteredIndex, of entry: RegisteredClass,
    _ progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    guard try !isUsable(index, of: entry) else { return }
    var build = IndexBuild(self, entry, index)
    try build.run(progress)
  }

  /// Whether an index is complete, as far as a quick check can tell.
  func isUsable(_ index: RegisteredIndex, of entry: RegisteredClass) throws(StoreError) -> Bool {
    if backend.coordinator.isOnServer {
      var noRecords = RecordBatch()
      let summary = try summary(of: [index], entry, to: &noRecords)
      return isUsable(index, of: entry, summary.ordered[0], summary.recordCount)
    }
    guard try index.isReady(backend) else { return false }
    if index.declaration.isMultiple { return true }
    let count = try backend.recordCount(in: entry.table)
    return try backend.keyCount(in: index.table, KeyRange()) == keyCount(entry, count)
  }

  /// Returns the state of indexes as of one commit, so that they match the number of objects also
  /// if others save meanwhile.
  ///
  /// It also copies records, and finds keys.
  func summary(
    of indexes: [RegisteredIndex], _ entry: RegisteredClass, copying rows: [UInt32] = [],
    keysIn ranges: [(table: OrderedTableID, range: KeyRange)] = [], to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary {
    try backend.summary(
      of: entry.table, indexes.map(\.table), valuesOf: RegisteredIndex.stampKey, copying: rows,
      keysIn: ranges, to: &batch)
  }

  /// Whether an index is complete, by its state and the number of records.
  func isUsable(
    _ index: RegisteredIndex, of entry: RegisteredClass, _ state: TableSummary.Ordered,
    _ recordCount: Int
  ) -> Bool {
    guard state.value == index.stamp else { return false }
    return index.declaration.isMultiple || state.keyCount == keyCount(entry, recordCount)
  }

  /// Returns the number of keys of a complete index: one for each object, and the stamp.
  private func keyCount(_ entry: RegisteredClass, _ recordCount: Int) -> Int {
    max(0, recordCount - (entry.shared.metadata == nil ? 0 : 1)) + 1
  }

  /// Whether a query can use an index as it is.
  func isReadable(_ index: RegisteredIndex, of entry: RegisteredClass) throws(StoreError) -> Bool {
    if index.commitCountWhenWhole == entry.shared.commitCount { return true }
    do {
      return try isUsable(index, of: entry)
    } catch  where error.isOfIndex {
      return false
    }
  }

  /// Builds an index if necessary and possible, and returns whether a query can use it.
  func prepare(_ index: RegisteredIndex, of entry: RegisteredClass) throws(StoreError) -> Bool {
    // Only a commit can have changed this since the last check.
    let commitCount = entry.shared.commitCount
    if index.commitCountWhenWhole == commitCount { return true }
    do {
      if try isUsable(index, of: entry) {
        index.commitCountWhenWhole = commitCount
        return true
      }
      guard try backend.canCommit() else { return false }
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        try buildIfNeeded(index, of: entry)
      }
      return true
    } catch  where error.isOfIndex {
      // Building from the start replaces the damaged index.
      guard try backend.canCommit() else { return false }
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        var build = IndexBuild(self, entry, index)
        try build.run { _ in }
      }
      return true
    }
  }
}

/// An index that is being built from the records, in the order of the rows.
private struct IndexBuild {
  /// The number of bytes of keys that are committed at a time.
  private static let batchSize = 32 << 20

  private let store: Store
  private let entry: RegisteredClass
  private let index: RegisteredIndex
  /// The beginning of the stamp while the index is incomplete; its last row follows.
  private var unfinished: [UInt8] { IndexStamp.unfinished + index.stamp + [0] }

  init(_ store: Store, _ entry: RegisteredClass, _ index: RegisteredIndex) {
    (self.store, self.entry, self.index) = (store, entry, index)
  }

  mutating func run(_ progress: (IntegrityProgress) -> Void) throws(StoreError) {
    let title = "\(entry.name) by \(index.declaration.name)"
    var row = try lastRow() ?? 1
    let last = entry.shared.lastRowID
    var changes = ChangeSet()
    if row == 1 {
      changes.clear(index.table)
      try addAll(&changes, { progress(IntegrityProgress(title, $0, of: Int(last))) }, &row)
    }
    while row < last {
      row += 1
      try add(row, to: &changes)
      if changes.bytes.count > Self.batchSize {
        try commit(&changes, unfinished(row))
        progress(IntegrityProgress(title, Int(row), of: Int(last)))
      }
    }
    try commit(&changes, index.stamp)
    progress(IntegrityProgress(title, Int(last), of: Int(last)))
  }

  /// Adds all keys in the order of the file, which is faster, if they fit into one batch.
  private func addAll(
    _ changes: inout ChangeSet, _ progress: (Int) -> Void, _ row: inout UInt32
  ) throws(StoreError) {
    guard try store.backend.recordCount(in: entry.table) < 1 << 20 else { return }
    var walk = TableWalk(store.backend, entry.table)
    var done = 0
    var copy = ChangeSet()
    try walk.run { (rowID, bytes, range) throws(StoreError) in
      guard rowID > ClassMetadata.rowID else { return }
      var buffer = store.takeWindow(bytes, range)
      let object = try store.reading(entry, rowID) { () throws(StoreError) in
        try store.looseObject(rowID, entry, &buffer)
      }
      add(object, rowID, to: &copy)
      done += 1
      if done % 8192 == 0 { progress(done) }
    }
    for failure in walk.failures {
      guard let rowID = failure.location.rowID, rowID > ClassMetadata.rowID else { continue }
      store.noteLeftOut(entry, rowID, failure)
      add(nil, rowID, to: &copy)
    }
    copy.ordered = copy.ordered.map {
      .init(table: $0.table, clearsFirst: true, changes: $0.changes)
    }
    if !copy.ordered.isEmpty { changes = copy }
    row = entry.shared.lastRowID
  }

  private func add(_ row: UInt32, to changes: inout ChangeSet) throws(StoreError) {
    // The outer optional is nil for a damaged record, the inner one for a row that does not exist.
    let object = try store.reading(entry, row) { () throws(StoreError) in
      try store.savedObject(row, entry)
    }
    if case .some(.none) = object { return }
    add(object ?? nil, row, to: &changes)
  }

  /// Adds the keys of an object; nil for an object whose record can't be read.
  private func add(_ object: StoredObject?, _ row: UInt32, to changes: inout ChangeSet) {
    let keys = object.map { index.keys(of: $0) } ?? [RegisteredIndex.leftOutKey(row)]
    for key in keys { changes.set(key, to: [], in: index.table) }
  }

  private func commit(_ changes: inout ChangeSet, _ stamp: [UInt8]) throws(StoreError) {
    changes.set(RegisteredIndex.stampKey, to: stamp, in: index.table)
    try store.backend.commit(changes)
    changes = ChangeSet()
  }

  /// Returns the stamp of an index that includes the rows up to a row.
  private func unfinished(_ row: UInt32) -> [UInt8] {
    var stamp = unfinished
    stamp.append(bigEndian: row)
    return stamp
  }

  /// Returns the last row that an earlier process has added; nil if there is nothing to continue.
  private func lastRow() throws(StoreError) -> UInt32? {
    try store.backend.withValue(of: RegisteredIndex.stampKey, in: index.table) { stamp in
      guard stamp.byteCount == unfinished.count + RegisteredIndex.rowSize else { return nil }
      let row = RegisteredIndex.row(stamp)
      return stamp.hasSameBytes(as: unfinished(row)) ? row : nil
    } ?? nil
  }
}
