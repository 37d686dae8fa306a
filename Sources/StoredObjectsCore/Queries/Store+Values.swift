import StoreEngine

extension Store {
  /// The first object that has a value in a property, in the order of the rows; nil when there is
  /// none.
  ///
  ///     let song = try store.first(Song.self, where: \.title, is: "Sunny")
  ///
  /// Sees unsaved changes. It is what a predicate with `==` finds, and the quickest way to it:
  /// nothing has to be translated and planned.
  ///
  /// Complexity: O(log n), where the class has an ``AttributeIndex`` that begins with the property;
  /// all objects of the class are read otherwise.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func first<Object: StoredObject, Value: IndexableValue & Equatable>(
    _ type: Object.Type, where property: KeyPath<Object, Value>, is value: Value
  ) throws(StoreError) -> Object? {
    try fetch(type, where: property, is: value, limit: 1).first
  }

  /// The objects that have a value in a property, in the order of the rows.
  ///
  /// Sees unsaved changes.
  ///
  /// Complexity: O(log n) and linear in the objects that are found, where the class has an
  /// ``AttributeIndex`` that begins with the property; all objects of the class are read otherwise.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func fetch<Object: StoredObject, Value: IndexableValue & Equatable>(
    _ type: Object.Type, where property: KeyPath<Object, Value>, is value: Value, limit: Int? = nil
  ) throws(StoreError) -> [Object] {
    let entry = try requireRegistration(of: type)
    // NaN is equal to nothing.
    guard value == value else { return [] }
    do {
      settleRelationships()
      let own = OwnContents(self, entry)
      var found: [Object] = []
      let rows = try savedRows(entry, property, value)
      for row in rows ?? [] where limit.map({ found.count < $0 }) ?? true {
        if own.rows.contains(row) { continue }
        guard let object = try object(entry, rowID: row) as? Object else { continue }
        if object[keyPath: property] == value { found.append(object) }
      }
      if rows == nil {
        var cursor = RowCursor(self, entry, keepsObjects: false)
        while let object = try cursor.next() {
          guard !own.rows.contains(object.rowID), let object = object as? Object else { continue }
          if object[keyPath: property] == value { found.append(object) }
        }
      }
      if rows != nil && own.isEmpty { return found }
      for object in own.objects {
        guard let object = object as? Object, object[keyPath: property] == value else { continue }
        found.append(object)
      }
      found.sort { $0.rowID < $1.rowID }
      return limit.map { Array(found.prefix($0)) } ?? found
    } catch { throw entry.queryError(error) }
  }

  /// The saved rows that have a value, in ascending order; nil where no index tells.
  private func savedRows(
    _ entry: RegisteredClass, _ property: AnyKeyPath, _ value: some IndexableValue
  ) throws -> [UInt32]? {
    let index = entry.indexes.first {
      !$0.declaration.isMultiple && $0.declaration.properties[0] == property
    }
    guard let index, try prepare(index, of: entry) else { return nil }
    var key = IndexKey()
    key.bytes.append(RegisteredIndex.mark)
    value.writeKey(to: &key)
    var rows: [UInt32] = []
    _ = try backend.scanKeys(of: index.table, .prefix(key.bytes), isReversed: false) { key, _ in
      rows.append(RegisteredIndex.row(key))
      return .next
    }
    if index.declaration.properties.count > 1 { rows.sort() }
    return rows
  }
}
