public import FoundationEssentials
import StoreEngine

extension Store {
  /// Returns the values that the objects matching a predicate have in a property.
  ///
  ///     let titles = try store.values(of: Song.self, \.title, where: #Predicate { $0.isLive })
  ///
  /// The result has one value for each object. For distinct values, see
  /// ``distinctValues(of:where:includingSubclasses:)``. Without an order, the values are in row
  /// order. The result includes unsaved changes.
  ///
  /// Complexity: Without an order, linear in the number of keys, if an index holds the property and
  /// covers the predicate. No object is created then. Otherwise as
  /// ``fetch(_:where:sortedBy:limit:offset:after:)``, with one object at a time in memory.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - property: The property, of a type that an index can hold.
  ///   - predicate: The condition; without one, all objects match.
  ///   - orders: The properties to sort by.
  ///   - limit: The maximum number of values, 0 or more.
  ///   - offset: The number of values to skip first, 0 or more.
  /// - Returns: The values.
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func values<Object: StoredObject, Value: IndexableValue>(
    of type: Object.Type, _ property: KeyPath<Object, Value>,
    where predicate: Predicate<Object>? = nil, sortedBy orders: [QueryOrder<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> [Value] {
    try propertyValues(predicate, orders, limit, offset, [property]) { walk in
      walk.column(of: property, Value.self).map { column in { try readValue(&$0, column) } }
    } ofObject: { (object: Object) in
      object[keyPath: property]
    }
  }

  /// Returns the values that the objects matching a predicate have in several properties.
  ///
  ///     for (title, seconds) in try store.values(of: Song.self, \.title, \.seconds) {
  ///       print(title, seconds)
  ///     }
  ///
  /// See ``values(of:_:where:sortedBy:limit:offset:)`` for the details.
  ///
  /// Complexity: As ``values(of:_:where:sortedBy:limit:offset:)``.
  ///
  /// - Returns: A tuple of values for each object.
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func values<
    Object: StoredObject, First: IndexableValue, Second: IndexableValue, each Rest: IndexableValue
  >(
    of type: Object.Type, _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>,
    _ rest: repeat KeyPath<Object, each Rest>, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> [(First, Second, repeat each Rest)] {
    var paths: [AnyKeyPath] = [first, second]
    for property in repeat each rest { paths.append(property) }
    return try propertyValues(predicate, orders, limit, offset, paths) { walk in
      let one = walk.column(of: first, First.self)
      let other = walk.column(of: second, Second.self)
      let columns = (repeat walk.column(of: each rest, (each Rest).self))
      return { reader in
        (
          try readValue(&reader, one), try readValue(&reader, other),
          repeat try readValue(&reader, each columns)
        )
      }
    } ofObject: { (object: Object) in
      (object[keyPath: first], object[keyPath: second], repeat object[keyPath: each rest])
    }
  }

  /// Returns one row of values for each object that a query finds.
  private func propertyValues<Object: StoredObject, Row>(
    _ predicate: Predicate<Object>?, _ orders: [QueryOrder<Object>], _ limit: Int?, _ offset: Int,
    _ paths: [AnyKeyPath],
    ofKey: (AggregateWalk) -> ((inout KeyReader) throws -> Row)?, ofObject: (Object) -> Row
  ) throws(StoreError) -> [Row] {
    let entry = try requireRegistration(of: Object.self)
    let query = try query(predicate, orders, of: entry, limit: limit, offset: offset)
    do {
      if orders.isEmpty {
        let wanted = limit.map { $0.addingSaturated(offset) }
        let walk = try AggregateWalk(query, paths)
        if let part = walk.part, Self.isWorthAllKeys(part, wanted), let read = ofKey(walk),
          let rows = try keyValues(walk, read, ofObject)
        {
          return rows.dropFirst(offset).prefix(limit ?? .max).map(\.values)
        }
      }
      var walk = QueryWalk(query, limit: limit, offset: offset, after: nil)
      var found: [Row] = []
      while let object = try walk.next() {
        if let object = object as? Object { found.append(ofObject(object)) }
      }
      return found
    } catch { throw entry.queryError(error) }
  }

  /// Returns whether reading all keys, which have another order, pays off for so many objects.
  private static func isWorthAllKeys(_ part: IndexRanges, _ wanted: Int?) -> Bool {
    wanted.map { part.count <= $0.addingSaturated(1000) } ?? true
  }

  /// Returns the values in row order, read from index keys; nil if they can't be read.
  private func keyValues<Object: StoredObject, Row>(
    _ walk: AggregateWalk, _ read: (inout KeyReader) throws -> Row, _ ofObject: (Object) -> Row
  ) throws -> [(row: UInt32, values: Row)]? {
    var rows: [(row: UInt32, values: Row)] = []
    var isReadable = true
    try walk.forEachKey { reader in
      do {
        rows.append((reader.row, try read(&reader)))
        return .next
      } catch {
        isReadable = false
        return .pause
      }
    }
    guard isReadable else { return nil }
    try walk.forEachObject { object in
      if let object = object as? Object { rows.append((object.rowID, ofObject(object))) }
    }
    return rows.sorted { $0.row < $1.row }
  }
}

/// The error for a key that can't be read.
private struct UnreadableKey: Error {}

private func readValue<Value>(
  _ reader: inout KeyReader, _ column: KeyColumn<Value>?
) throws(UnreadableKey) -> Value {
  reader.rewind()
  guard let value = column?.read(&reader) else { throw UnreadableKey() }
  return value
}
