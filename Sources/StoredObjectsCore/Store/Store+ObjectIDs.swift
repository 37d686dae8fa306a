import StoreEngine

extension Store {
  /// Returns the object with an ID, with its content; nil if there is no such object.
  ///
  ///     let song = try store.object(id)
  ///
  /// Includes unsaved changes: an inserted object is found, a deleted one is not. A temporary ID
  /// finds nothing.
  ///
  /// Complexity: linear in the number of classes; reads one record unless the object already has
  /// its content.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `invalidArgument` (the ID of an
  ///   object that is not an `Object`), `damaged`, `newerVersion`, `ioError` or `closed`.
  public func object<Object: StoredObject>(
    _ id: ObjectID<Object>
  ) throws(StoreError) -> Object? {
    if id.isTemporary { return nil }
    return try object(try registration(of: id), rowID: id.rowID) as? Object
  }

  /// Returns the class of an ID.
  func registration<Object: StoredObject>(
    of id: ObjectID<Object>
  ) throws(StoreError) -> RegisteredClass {
    guard let entry = classes.first(where: { $0.name == id.className }) else {
      throw StoreError(
        .notRegistered,
        "\(id) is of a class that is not registered: register it before using its IDs.",
        at: .init(path: backend.location, className: id.className, rowID: id.rowID))
    }
    guard entry.isKind(of: Object.self) else {
      throw StoreError(
        .invalidArgument, "\(id) is not the ID of a \(Object.self).",
        at: entry.location(id.rowID))
    }
    return entry
  }
}
