public import FoundationEssentials
import StoreEngine

// Edits of all objects that a query finds: in the next save, or batch by batch.

extension Store {
  /// Changes the objects that match a predicate; the next save writes them.
  ///
  ///     try store.update(Song.self, where: #Predicate { $0.genre == "Jaz" }) { $0.genre = "Jazz" }
  ///     try store.saveChanges()
  ///
  /// The changes are saved all or none, together with your other changes, and stay in memory until
  /// then. For more objects than fit in memory, use
  /// ``update(_:where:includingSubclasses:savingEvery:_:)``.
  ///
  /// Complexity: As ``fetch(_:where:sortedBy:limit:offset:after:)``, and the closure for each
  /// object.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - predicate: The condition, evaluated for all objects before the first of them is changed.
  ///   - includingSubclasses: Whether to include objects of registered subclasses.
  ///   - change: Changes an object. If it throws, the changes so far stay unsaved.
  /// - Returns: The number of objects.
  /// - Throws: The errors of the closure and of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  @discardableResult
  public func update<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false, _ change: (Object) throws -> Void
  ) throws -> Int {
    let objects = try fetch(type, includingSubclasses: includingSubclasses, where: predicate)
    for object in objects { try change(object) }
    return objects.count
  }

  /// Changes the objects that match a predicate in bounded memory; each batch is a save.
  ///
  ///     try store.update(Song.self, where: #Predicate { $0.genre == "Jaz" }, savingEvery: 1000) {
  ///       $0.genre = "Jazz"
  ///     }
  ///
  /// Each batch is saved all or none, but the batches are separate saves. After an error, the
  /// batches before it stay saved, and the changes of the failed batch are discarded. Write
  /// closures that can run again.
  ///
  /// An object that no longer matches when its turn comes is skipped, and so is an object that is
  /// inserted meanwhile. Memory: one batch, and four bytes for each object.
  ///
  /// Complexity: As ``fetch(_:where:sortedBy:limit:offset:after:)``, and a save for each batch.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - predicate: The condition.
  ///   - includingSubclasses: Whether to include objects of registered subclasses.
  ///   - batchSize: The number of objects in a save, 1 or more.
  ///   - change: Changes an object.
  /// - Returns: The number of changed objects.
  /// - Throws: The errors of the closure, of ``fetch(_:where:sortedBy:limit:offset:after:)`` and of
  ///   ``saveChanges()``; `unsavedChanges` if there are unsaved changes already.
  @discardableResult
  public func update<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false, savingEvery batchSize: Int,
    _ change: (Object) throws -> Void
  ) throws -> Int {
    try requireBatches(batchSize)
    var count = 0
    for entry in try registrations(of: type, includingSubclasses: includingSubclasses) {
      let query = try query(predicate, of: entry)
      do {
        count += try edit(query, batchSize) { object in
          if let object = object as? Object { try change(object) }
        }
      } catch {
        discardChanges()
        throw error
      }
    }
    return count
  }

  /// Deletes the objects that match a predicate in bounded memory; each batch is a save.
  ///
  ///     try store.delete(Play.self, where: #Predicate { $0.day < lastYear }, savingEvery: 1000)
  ///
  /// The batches are separate saves, see ``update(_:where:includingSubclasses:savingEvery:_:)``.
  /// Objects that delete rules delete or change are saved with the batch.
  ///
  /// Complexity: As ``update(_:where:includingSubclasses:savingEvery:_:)``.
  ///
  /// - Returns: The number of deleted objects that match the predicate.
  /// - Throws: The errors of ``update(_:where:includingSubclasses:savingEvery:_:)``.
  @discardableResult
  public func delete<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false, savingEvery batchSize: Int
  ) throws(StoreError) -> Int {
    do {
      return try update(
        type, where: predicate, includingSubclasses: includingSubclasses, savingEvery: batchSize
      ) { delete($0) }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }

  private func requireBatches(_ size: Int) throws(StoreError) {
    let location = StoreError.Location(path: backend.location)
    guard size > 0 else {
      throw StoreError(
        .invalidArgument, "The size of a batch is \(size): give 1 or more.", at: location)
    }
    guard !hasUnsavedChanges else {
      throw StoreError(
        .unsavedChanges,
        "There are unsaved changes, which the first batch would save: save or discard them before.",
        at: location)
    }
  }

  /// Edits the objects that a query finds, batch by batch; returns their number.
  private func edit(
    _ query: Query, _ batchSize: Int, _ body: (StoredObject) throws -> Void
  ) throws -> Int {
    // Collects rows first, since edits may move objects to index positions that are still ahead.
    let rows = try rows(of: query)
    var count = 0
    for start in stride(from: 0, to: rows.count, by: batchSize) {
      for row in rows[start...].prefix(batchSize) {
        guard let object = try object(query.entry, rowID: row), try query.matches(object) else {
          continue
        }
        try body(object)
        count += 1
      }
      try saveChanges()
    }
    return count
  }

  private func rows(of query: Query) throws -> [UInt32] {
    do {
      if query.choice.isCovered, query.hasNothingUnsaved, let rows = try query.rows() {
        return rows
      }
      var walk = QueryWalk(query, limit: nil, offset: 0, after: nil)
      var rows: [UInt32] = []
      while let object = try walk.next() { rows.append(object.rowID) }
      return rows
    } catch { throw query.entry.queryError(error) }
  }
}
