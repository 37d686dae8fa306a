import StoreEngine

// Objects of a class and its subclasses. Each class has its own table, so these visit the tables
// one after the other.

extension Store {
  /// Returns all objects of a class and its registered subclasses, with their content.
  ///
  ///     for song in try store.allObjects(of: Song.self, includingSubclasses: true) {
  ///       print(song.title, song is LiveSong)
  ///     }
  ///
  /// The objects are grouped by class, in order of the class IDs. Within a class they are in the
  /// order of their insertion. The class itself need not be registered if a subclass is.
  ///
  /// Includes unsaved changes.
  ///
  /// Complexity: linear in the number of objects.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``allObjects(of:)``.
  public func allObjects<Object: StoredObject>(
    of type: Object.Type, includingSubclasses: Bool
  ) throws(StoreError) -> [Object] {
    var objects: [Object] = []
    for entry in try registrations(of: type, includingSubclasses: includingSubclasses) {
      let start = objects.count
      var rows = RowCursor(self, entry, keepsObjects: true)
      while let object = try rows.next() as? Object { objects.append(object) }
      objects[start...].sort { $0.rowID < $1.rowID }
    }
    return objects
  }

  /// Returns the number of objects of a class and its registered subclasses.
  ///
  /// Reads no record. Includes unsaved changes.
  ///
  /// Complexity: linear in the number of registered classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``count(of:)``.
  public func count<Object: StoredObject>(
    of type: Object.Type, includingSubclasses: Bool
  ) throws(StoreError) -> Int {
    var count = 0
    for entry in try registrations(of: type, includingSubclasses: includingSubclasses) {
      count += try self.count(of: entry)
    }
    return count
  }

  /// Visits the objects of a class and its registered subclasses, in no particular order.
  ///
  /// Set `stop` to true to end the enumeration. The guarantees of ``ObjectCursor`` apply here.
  ///
  /// Complexity: linear in the number of objects.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``ObjectCursor/next()``, and any error that the
  ///   closure throws.
  public func enumerate<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool,
    _ body: (Object, _ stop: inout Bool) throws -> Void
  ) throws {
    var cursor = try cursor(over: type, includingSubclasses: includingSubclasses)
    var stop = false
    while !stop, let object = try cursor.next() { try body(object, &stop) }
  }

  /// Returns a cursor over the objects of a class and its registered subclasses.
  ///
  /// See ``ObjectCursor``.
  ///
  /// Complexity: linear in the number of subclasses; the cursor reads objects later.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`.
  public func cursor<Object: StoredObject>(
    over type: Object.Type, includingSubclasses: Bool
  ) throws(StoreError) -> ObjectCursor<Object> {
    let entries = try registrations(of: type, includingSubclasses: includingSubclasses)
    let rows = entries.map { RowCursor(self, $0, keepsObjects: false) }
    return ObjectCursor(rows[0], following: rows.dropFirst().reversed())
  }

  /// Returns the class and its registered subclasses, at least one, in order of their class IDs.
  func registrations(
    of type: StoredObject.Type, includingSubclasses: Bool
  ) throws(StoreError) -> [RegisteredClass] {
    guard includingSubclasses else { return [try requireRegistration(of: type)] }
    let entries = classes.filter { $0.isKind(of: type) }
    return entries.isEmpty ? [try requireRegistration(of: type)] : entries
  }
}
