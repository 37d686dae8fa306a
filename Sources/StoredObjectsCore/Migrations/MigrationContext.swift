import StoreEngine

/// The store as a step of a migration sees it.
///
/// A step makes *passes* over classes, and each pass visits the objects in batches:
///
///     Migration("artists are objects") { migration in
///       try migration.forEach(Song.self) { song, old in
///         guard let name = try old.value("artistName", as: String.self) else { return }
///         song.artist = try migration.store.insertOrUpdate(Artist(name: name))
///       }
///     }
///
/// The changes of a batch are saved together with the last row that the pass has visited. After an
/// interruption, the closure of the step runs again. Passes that are finished do nothing, and the
/// interrupted pass continues after that row. So each object is visited once.
///
/// A step must make the same passes each time. Values that the closure has collected in variables
/// are lost after an interruption: read them from the store.
///
/// Changes between passes would be made twice. A pass throws `unsavedChanges` if there are any;
/// make them after the last pass.
public final class MigrationContext {
  private let run: MigrationRun
  private var passCount: UInt32 = 0
  /// Whether a batch has been saved.
  private(set) var hasSaved = false
  private var readers: [String: RecordReader] = [:]

  init(_ run: MigrationRun) { self.run = run }

  /// The store, in which the step inserts, changes and deletes objects.
  ///
  /// The step must not save: each pass does.
  public var store: Store { run.store }

  /// Calls a closure with each object of a class and its record as it was saved, in row order.
  ///
  /// The pass visits the objects that exist when it begins. The record also has properties that the
  /// class no longer has. It is the last record of an earlier layout, even if an earlier step or
  /// pass has saved the object since. If the object was last saved with the current layout before
  /// the migration, the record is the current one.
  ///
  /// Complexity: Linear in the number of objects. Memory: a batch of objects, and a bit for each
  /// row.
  ///
  /// - Parameters:
  ///   - type: The class, which is registered.
  ///   - batchSize: The number of objects to visit before a save, at least 1.
  ///   - body: Receives an object and its record.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered` or `unsavedChanges`, and the errors
  ///   of ``Store/saveChanges()`` and of the closure.
  public func forEach<Object: StoredObject>(
    _ type: Object.Type, batchSize: Int = 1000,
    _ body: (Object, StoredRecord) throws -> Void
  ) throws {
    let entry = try store.requireRegistration(of: type)
    try pass(over: entry.name, batchSize) { record in
      guard let object = try store.object(entry, rowID: record.rowID) as? Object else { return }
      try body(object, record)
    }
  }

  /// Calls a closure with each record of a class that the program may no longer have, in row order.
  ///
  /// If the store does not have the class, there are no records.
  ///
  /// Complexity: As ``forEach(_:batchSize:_:)``.
  ///
  /// - Parameters:
  ///   - className: The name in the store.
  ///   - batchSize: The number of records to visit before a save, at least 1.
  ///   - body: Receives each record.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged` or `unsavedChanges`, and the errors of
  ///   ``Store/saveChanges()`` and of the closure.
  public func forEachRecord(
    of className: String, batchSize: Int = 1000, _ body: (StoredRecord) throws -> Void
  ) throws {
    try pass(over: className, batchSize, body)
  }

  /// Returns the record of an object, of a registered class or any other; nil if there is none.
  ///
  /// It is the last record of an earlier layout, as in ``forEach(_:batchSize:_:)``.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  public func record(_ id: ObjectID<StoredObject>) throws -> StoredRecord? {
    try reader(of: id.className)?.record(id.rowID)
  }

  private func reader(of className: String) throws -> RecordReader? {
    if let known = readers[className] { return known }
    let reader = try RecordReader(store, className)
    readers[className] = reader
    return reader
  }

  // MARK: Passes

  private func pass(
    over className: String, _ batchSize: Int, _ body: (StoredRecord) throws -> Void
  ) throws {
    precondition(batchSize > 0, "A batch has at least one object.")
    let number = passCount
    passCount += 1
    guard var current = run.state.current, number == current.passCount else { return }
    try checkForUnsavedChanges(className)
    if let reader = try reader(of: className) {
      let rows = try reader.rows()
      if current.endRow == 0 { current.endRow = rows.last ?? ClassMetadata.rowID }
      run.state.current = current
      try visit(rows, reader, batchSize, body)
    }
    run.state.current?.finishPass()
    if hasSaved || store.hasUnsavedChanges { try save() }
  }

  private func visit(
    _ rows: RowSet, _ reader: RecordReader, _ batchSize: Int,
    _ body: (StoredRecord) throws -> Void
  ) throws {
    guard let current = run.state.current else { return }
    let total = rows.count(upTo: current.endRow)
    var done = rows.count(upTo: current.lastRow)
    var last = current.lastRow
    while let row = rows.first(after: last), row <= current.endRow {
      if let record = try reader.record(row) { try body(record) }
      (last, done) = (row, done + 1)
      guard done % batchSize == 0 || done == total else { continue }
      run.state.current?.lastRow = last
      // The last batch is saved together with the end of the pass.
      if done < total { try save() }
      run.progress(
        MigrationProgress(
          step: current.name, className: reader.className, done: done, total: total))
    }
  }

  private func save() throws {
    try run.save()
    hasSaved = true
    // Objects that refer to each other would stay in memory.
    store.dissolveAllRelationships()
  }

  private func checkForUnsavedChanges(_ className: String) throws {
    guard store.hasUnsavedChanges else { return }
    throw StoreError(
      .unsavedChanges,
      """
      A step has changed something before its pass over \(className), and would do so again after \
      an interruption. Make the change after the last pass, or in a step of its own.
      """, at: .init(path: store.backend.location, className: className))
  }
}
