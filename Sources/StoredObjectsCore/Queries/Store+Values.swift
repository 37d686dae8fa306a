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
    try ValueQuery(self, type, property, value)?.run(limit: 1).first as? Object
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
    var found: [Object] = []
    for object in try ValueQuery(self, type, property, value)?.run(limit: limit) ?? [] {
      if let object = object as? Object { found.append(object) }
    }
    return found
  }
}

extension RegisteredClass {
  /// The index by whose first values a property is looked up; nil without one.
  fileprivate func index(of property: AnyKeyPath) -> RegisteredIndex? {
    // Most often it is the same key path, and not only an equal one, which takes long to tell.
    indexes.first { !$0.declaration.isMultiple && $0.firstProperty === property }
      ?? indexes.first { !$0.declaration.isMultiple && $0.firstProperty == property }
  }
}

/// A search for the objects that have a value in a property, whatever the class and the value.
private struct ValueQuery {
  let store: Store
  let entry: RegisteredClass
  let property: AnyKeyPath
  /// What the keys of the value begin with in an index that begins with the property.
  let key: [UInt8]
  let matches: (StoredObject) -> Bool
  /// Whether two values have the same key only if they are equal; objects of two stores may not.
  let hasExactKeys: Bool

  /// Nil for a value that is equal to nothing, such as NaN.
  init?<Object: StoredObject, Value: IndexableValue & Equatable>(
    _ store: Store, _ type: Object.Type, _ property: KeyPath<Object, Value>, _ value: Value
  ) throws(StoreError) {
    (self.store, self.property) = (store, property)
    entry = try store.requireRegistration(of: type)
    guard value == value else { return nil }
    var key = IndexKey()
    key.bytes.append(RegisteredIndex.mark)
    value.writeKey(to: &key)
    self.key = key.bytes
    hasExactKeys = Value.self == String.self || Value.self is any FixedWidthInteger.Type
    matches = { object in (object as? Object)?[keyPath: property] == value }
  }

  /// The objects in the order of their rows.
  func run(limit: Int?) throws(StoreError) -> [StoredObject] {
    do {
      store.settleRelationships()
      let own = OwnContents(store, entry)
      if let index = entry.index(of: property), try store.prepare(index, of: entry) {
        let saved = try saved(index, own, limit ?? .max)
        return own.isEmpty ? saved : merged(saved, own, limit ?? .max)
      }
      return merged(try scanned(own), own, limit ?? .max)
    } catch { throw entry.queryError(error) }
  }

  /// The saved objects to which an index leads.
  private func saved(
    _ index: RegisteredIndex, _ own: OwnContents, _ limit: Int
  ) throws -> [StoredObject] {
    if own.isEmpty, limit < .max, index.declaration.properties.count == 1 {
      let found = try saved(index, own, limit, rowLimit: limit)
      if let found { return found }
    }
    return try saved(index, own, limit, rowLimit: .max) ?? []
  }

  /// The same among so many rows; nil where these have too few that have the value by now.
  ///
  /// The objects are asked for their values, unless nobody can have changed them since the index
  /// was read.
  private func saved(
    _ index: RegisteredIndex, _ own: OwnContents, _ limit: Int, rowLimit: Int
  ) throws -> [StoredObject]? {
    let commitCount = entry.shared.commitCount
    let isAlone =
      hasExactKeys && store.backend.coordinator.isAlone && store.foreign.outdated.isEmpty
    let rows = try rows(index, rowLimit)
    var found: [StoredObject] = []
    try forEachObject(rows, own) { object in
      let isKnown =
        isAlone && commitCount == entry.shared.commitCount && object.state.change == nil
      if isKnown || matches(object) { found.append(object) }
      return found.count < limit
    }
    return found.count < limit && rows.count == rowLimit ? nil : found
  }

  /// Visits the objects of rows, but for those that count as they are in the store, as long as they
  /// are wanted.
  private func forEachObject(
    _ rows: [UInt32], _ own: OwnContents, _ body: (StoredObject) -> Bool
  ) throws {
    if rows.count == 1 {
      if own.rows.contains(rows[0]) { return }
      if let object = try store.object(entry, rowID: rows[0]) { _ = body(object) }
      return
    }
    var ahead = RowsAhead(store, entry)
    for start in stride(from: 0, to: rows.count, by: RowsAhead.greatestCount) {
      let batch = rows[start...].prefix(RowsAhead.greatestCount)
      ahead.fill(batch.filter { !own.rows.contains($0) })
      while !ahead.isEmpty {
        if let object = try ahead.takeObject(), !body(object) { return }
      }
    }
  }

  /// The saved rows that have the value, in ascending order, or the first ones.
  private func rows(_ index: RegisteredIndex, _ limit: Int) throws -> [UInt32] {
    var rows: [UInt32] = []
    _ = try store.backend.scanKeys(of: index.table, .prefix(key), isReversed: false) { key, _ in
      rows.append(RegisteredIndex.row(key))
      return rows.count >= limit ? .pause : .next
    }
    if index.declaration.properties.count > 1 { rows.sort() }
    return rows
  }

  /// The saved objects that have the value, by a look at all of them.
  private func scanned(_ own: OwnContents) throws -> [StoredObject] {
    var found: [StoredObject] = []
    var cursor = RowCursor(store, entry, keepsObjects: false)
    while let object = try cursor.next() {
      if !own.rows.contains(object.rowID), matches(object) { found.append(object) }
    }
    return found
  }

  /// Saved objects and those of the store that have the value, in the order of their rows.
  private func merged(
    _ saved: [StoredObject], _ own: OwnContents, _ limit: Int
  ) -> [StoredObject] {
    var found = saved + own.objects.filter(matches)
    found.sort { $0.rowID < $1.rowID }
    return limit < found.count ? Array(found.prefix(limit)) : found
  }
}
