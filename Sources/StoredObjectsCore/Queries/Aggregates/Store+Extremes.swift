public import FoundationEssentials
import StoreEngine

extension Store {
  /// Returns the smallest value that objects have in a property; nil if there is none.
  ///
  ///     let oldest = try store.minimum(of: \Song.added)
  ///
  /// NaN does not count. The result includes unsaved changes.
  ///
  /// Complexity: O(log n) if an index begins with the property and covers the predicate. Otherwise
  /// as ``sum(of:where:includingSubclasses:)``.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func minimum<Object: StoredObject, Value: IndexableValue & Comparable>(
    of property: KeyPath<Object, Value>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> Value? {
    try extreme(of: property, { $0 }, <, isLast: false, predicate, includingSubclasses)
  }

  /// Returns the smallest value that objects have in an optional property; nil if there is none.
  ///
  /// Complexity: As for a property that is not optional.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func minimum<Object: StoredObject, Value: IndexableValue & Comparable>(
    of property: KeyPath<Object, Value?>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> Value? {
    try extreme(of: property, { $0 }, <, isLast: false, predicate, includingSubclasses)
  }

  /// Returns the greatest value that objects have in a property; nil if there is none.
  ///
  /// Complexity: As ``minimum(of:where:includingSubclasses:)-(KeyPath<Object,Value>,_,_)``.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func maximum<Object: StoredObject, Value: IndexableValue & Comparable>(
    of property: KeyPath<Object, Value>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> Value? {
    try extreme(of: property, { $0 }, >, isLast: true, predicate, includingSubclasses)
  }

  /// Returns the greatest value that objects have in an optional property; nil if there is none.
  ///
  /// Complexity: As for a property that is not optional.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func maximum<Object: StoredObject, Value: IndexableValue & Comparable>(
    of property: KeyPath<Object, Value?>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> Value? {
    try extreme(of: property, { $0 }, >, isLast: true, predicate, includingSubclasses)
  }

  private func extreme<Object: StoredObject, Property: IndexableValue, Value: Comparable>(
    of property: KeyPath<Object, Property>, _ unwrap: (Property) -> Value?,
    _ precedes: (Value, Value) -> Bool, isLast: Bool, _ predicate: Predicate<Object>?,
    _ includingSubclasses: Bool
  ) throws(StoreError) -> Value? {
    var best: Value?
    /// Records a value; returns whether it counts.
    func offer(_ property: Property) -> Bool {
      guard let value = unwrap(property), value == value else { return false }
      if best.map({ precedes(value, $0) }) ?? true { best = value }
      return true
    }
    try forEachClass(predicate, includingSubclasses) { query in
      var walk = try AggregateWalk(query, [property])
      if let column = walk.column(of: property, Property.self) {
        let isOrdered = walk.isOrdered(by: column)
        var isReadable = true
        try walk.forEachKey(isReversed: isLast) { reader in
          guard let value = column.read(&reader) else {
            isReadable = false
            return .pause
          }
          return offer(value) && isOrdered ? .pause : .next
        }
        if !isReadable { walk = AggregateWalk(objectsOf: query) }
      } else {
        walk = AggregateWalk(objectsOf: query)
      }
      try walk.forEachObject { object in
        if let object = object as? Object { _ = offer(object[keyPath: property]) }
      }
    }
    return best
  }
}
