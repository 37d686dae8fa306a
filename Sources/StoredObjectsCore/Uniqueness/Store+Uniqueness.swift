import StoreEngine

extension Store {
  /// Inserts an object, or updates the object that has the same unique values.
  ///
  ///     let song = try store.insertOrUpdate(Song(number: 42, title: "Sunny"))
  ///
  /// An existing object, saved or not, gets the whole content of the new one. The new object then
  /// stays outside of the store.
  ///
  /// Complexity: O(log n) for each unique index of the class (see ``AttributeIndex``), and linear
  /// in the number of unsaved objects.
  ///
  /// - Returns: The object in the store: the given one or the existing one.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `notUnique` (the values belong to
  ///   two different objects), `notEncodable`, or any error of reading an object.
  @discardableResult
  public func insertOrUpdate<Object: StoredObject>(
    _ object: Object
  ) throws(StoreError) -> Object {
    let entry = try requireRegistration(of: type(of: object))
    var found: StoredObject?
    for index in entry.indexes where index.declaration.isUnique {
      guard let key = index.uniqueKey(of: object),
        let other = try self.object(entry, with: key, by: index), other !== object
      else { continue }
      if let found, found !== other { throw index.notUnique(entry, other.rowID, found.rowID) }
      found = other
    }
    guard let found, let existing = found as? Object else {
      insert(object)
      return object
    }
    let content = try contentImage(of: object, entry)
    willUpdate(existing)
    try setContent(of: existing, entry, to: content)
    existing.noteObservedChange()
    return existing
  }

  /// Returns the object with a value in a unique property, saved or not.
  ///
  ///     let song = try store.object(Song.self, where: \.number, is: 42)
  ///
  /// A nil value finds nothing.
  ///
  /// Complexity: O(log n), and linear in the number of unsaved objects.
  ///
  /// - Precondition: the property has a unique ``AttributeIndex`` of its own.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, or any error of reading an object.
  public func object<Object: StoredObject, Value: IndexableValue & Equatable>(
    _ type: Object.Type, where property: KeyPath<Object, Value>, is value: Value
  ) throws(StoreError) -> Object? {
    let entry = try requireRegistration(of: type)
    let indexes = entry.indexes.lazy.map(\.declaration)
    guard indexes.contains(where: { $0.isUnique && $0.properties == [property] })
    else { preconditionFailure("\(property) is not unique: see AttributeIndex.") }
    // Only nil has this key.
    if IndexKey(value).bytes == [0], Value.self is any ExpressibleByNilLiteral.Type { return nil }
    return try first(type, where: property, is: value)
  }

  /// Returns the object with the values of a key, saved or not.
  private func object(
    _ entry: RegisteredClass, with key: [UInt8], by index: RegisteredIndex
  ) throws(StoreError) -> StoredObject? {
    settleRelationships()
    let own = OwnContents(self, entry)
    if let object = own.objects.first(where: { index.uniqueKey(of: $0) == key }) { return object }
    do {
      guard try prepare(index, of: entry) else { return try scan(entry, for: key, by: index) }
      var rows: [UInt32] = []
      try index.forEachRow(key, backend) { row in
        rows.append(row)
        return true
      }
      // An unsaved change may have given a saved object other values.
      for row in rows where !own.rows.contains(row) {
        if let object = try object(entry, rowID: row) { return object }
      }
      return nil
    } catch { throw .wrapping(error, .ioError, at: entry.location()) }
  }

  /// Scans the class, if the store can't be written and has no index yet.
  private func scan(
    _ entry: RegisteredClass, for key: [UInt8], by index: RegisteredIndex
  ) throws(StoreError) -> StoredObject? {
    var cursor = RowCursor(self, entry, keepsObjects: false)
    while let object = try cursor.next() {
      if object.state.change == nil, index.uniqueKey(of: object) == key { return object }
    }
    return nil
  }
}
