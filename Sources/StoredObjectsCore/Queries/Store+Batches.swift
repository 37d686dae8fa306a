public import FoundationEssentials
import StoreEngine

// Edits of all objects that a query finds: as one with the next save, or batch by batch.

extension Store {
  /// Changes the objects for which a predicate holds; the next save writes them.
  ///
  ///     try store.update(Song.self, where: #Predicate { $0.genre == "Jaz" }) { $0.genre = "Jazz" }
  ///     try store.saveChanges()
  ///
  /// They are saved all or none, together with your other changes, and are in memory until then. For
  /// more objects than that see ``update(_:where:includingSubclasses:savingEvery:_:)``.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - predicate: What holds for the objects before the first of them is changed.
  ///   - includingSubclasses: Whether objects of registered subclasses count.
  ///   - change: Changes an object. If it throws, what it has changed so far stays unsaved.
  /// - Returns: how many there were.
  /// - Throws: what the closure throws; ``/StoreEngine/StoreError`` as
  ///   ``fetch(_:where:sortedBy:limit:offset:after:)``.
  @discardableResult
  public func update<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false, _ change: (Object) throws -> Void
  ) throws -> Int {
    let objects = try fetch(type, includingSubclasses: includingSubclasses, where: predicate)
    for object in objects { try change(object) }
    return objects.count
  }

  /// Changes the objects for which a predicate holds, in bounded memory: each batch is a save.
  ///
  ///     try store.update(Song.self, where: #Predicate { $0.genre == "Jaz" }, savingEvery: 1000) {
  ///       $0.genre = "Jazz"
  ///     }
  ///
  /// A batch is saved as a whole or not at all, but the batches are not one save: after an error
  /// those before it stay saved, and the changes of the failed one are discarded. Write closures
  /// that can run again.
  ///
  /// An object of which the predicate no longer holds when its turn comes is left out, and so is one
  /// that was inserted meanwhile. Memory: a batch, and four bytes for each object.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - predicate: What holds for the objects.
  ///   - includingSubclasses: Whether objects of registered subclasses count.
  ///   - batchSize: How many objects are saved together, 1 or more.
  ///   - change: Changes an object.
  /// - Returns: how many objects were changed.
  /// - Throws: what the closure throws; ``/StoreEngine/StoreError`` as
  ///   ``fetch(_:where:sortedBy:limit:offset:after:)`` and ``saveChanges()``, and with
  ///   `unsavedChanges` if there are some already.
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

  /// Deletes the objects for which a predicate holds, in bounded memory: each batch is a save.
  ///
  ///     try store.delete(Play.self, where: #Predicate { $0.day < lastYear }, savingEvery: 1000)
  ///
  /// The batches are not one save, see ``update(_:where:includingSubclasses:savingEvery:_:)``. What
  /// the rules of relationships delete or change is saved with its batch.
  ///
  /// - Returns: how many objects that the predicate holds for were deleted.
  /// - Throws: ``/StoreEngine/StoreError`` as
  ///   ``update(_:where:includingSubclasses:savingEvery:_:)``.
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

  /// Edits what a query finds, batch by batch; returns how many objects there were.
  private func edit(
    _ query: Query, _ batchSize: Int, _ body: (StoredObject) throws -> Void
  ) throws -> Int {
    // Rows, since edits may move objects to places of an index that are still to come.
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
