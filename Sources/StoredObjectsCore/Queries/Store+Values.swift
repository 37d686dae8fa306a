import StoreEngine

extension Store {
  /// Returns the first object that has a value in a property, in row order; nil if there is none.
  ///
  ///     let song = try store.first(Song.self, where: \.title, is: "Sunny")
  ///
  /// The result includes unsaved changes. It is the same as with a predicate that uses `==`, and
  /// this method is the fastest way to it, without translation and planning.
  ///
  /// Complexity: O(log n) if the class has an ``AttributeIndex`` that begins with the property.
  /// Otherwise all objects of the class are read.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func first<Object: StoredObject, Value: IndexableValue & Equatable>(
    _ type: Object.Type, where property: KeyPath<Object, Value>, is value: Value
  ) throws(StoreError) -> Object? {
    try ValueQuery(self, type, property, value)?.run(limit: 1).first as? Object
  }

  /// Returns the objects that have a value in a property, in row order.
  ///
  /// The result includes unsaved changes.
  ///
  /// Complexity: O(log n) plus the number of objects found, if the class has an ``AttributeIndex``
  /// that begins with the property. Otherwise all objects of the class are read.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
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
  /// Returns the index that begins with a property, or nil without one.
  fileprivate func index(of property: AnyKeyPath) -> RegisteredIndex? {
    // It is nearly always the same key path; comparing different ones for equality is slow.
    indexes.first { !$0.declaration.isMultiple && $0.firstProperty === property }
      ?? indexes.first { !$0.declaration.isMultiple && $0.firstProperty == property }
  }
}

/// A search for the objects that have a value in a property, for any class and value.
private struct ValueQuery {
  let store: Store
  let entry: RegisteredClass
  let property: AnyKeyPath
  /// The start of the keys of the value, in an index that begins with the property.
  let key: [UInt8]
  let matches: (StoredObject) -> Bool
  /// Whether equal keys imply equal values; objects of two stores may have the same key.
  let hasExactKeys: Bool

  /// Creates a search, or nil for a value that is equal to nothing, such as NaN.
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

  /// Returns the objects in row order.
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

  /// Returns the saved objects that an index leads to.
  private func saved(
    _ index: RegisteredIndex, _ own: OwnContents, _ limit: Int
  ) throws -> [StoredObject] {
    if own.isEmpty, limit < .max, index.declaration.properties.count == 1 {
      let found = try saved(index, own, limit, rowLimit: limit)
      if let found { return found }
    }
    return try saved(index, own, limit, rowLimit: .max) ?? []
  }

  /// Returns the saved objects in the first rows of an index; nil if these no longer have enough.
  ///
  /// Each object is checked for the value, unless nothing can have changed since the index was
  /// read.
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

  /// Calls a closure with the objects of rows, except those the store has other content for.
  ///
  /// The closure returns whether to continue.
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

  /// Returns the saved rows that have the value, in ascending order, up to a limit.
  private func rows(_ index: RegisteredIndex, _ limit: Int) throws -> [UInt32] {
    var rows: [UInt32] = []
    _ = try store.backend.scanKeys(of: index.table, .prefix(key), isReversed: false) { key, _ in
      rows.append(RegisteredIndex.row(key))
      return rows.count >= limit ? .pause : .next
    }
    if index.declaration.properties.count > 1 { rows.sort() }
    return rows
  }

  /// Returns the saved objects that have the value, by a scan of the class.
  private func scanned(_ own: OwnContents) throws -> [StoredObject] {
    var found: [StoredObject] = []
    var cursor = RowCursor(store, entry, keepsObjects: false)
    while let object = try cursor.next() {
      if !own.rows.contains(object.rowID), matches(object) { found.append(object) }
    }
    return found
  }

  /// Merges saved objects with those of the store that have the value, in row order.
  private func merged(
    _ saved: [StoredObject], _ own: OwnContents, _ limit: Int
  ) -> [StoredObject] {
    var found = saved + own.objects.filter(matches)
    found.sort { $0.rowID < $1.rowID }
    return limit < found.count ? Array(found.prefix(limit)) : found
  }
}
