public import FoundationEssentials
import StoreEngine

extension Store {
  /// Returns the sum of the numbers that objects have in a property; 0 for no objects.
  ///
  ///     let seconds = try store.sum(of: \Song.seconds, where: #Predicate { $0.genre == "Jazz" })
  ///
  /// Integers are added as `Int` (unsigned 64-bit integers as `UInt64`), other numbers as `Double`.
  /// nil adds nothing.
  ///
  /// The result includes unsaved changes. See <doc:FindingObjects> for when an index is enough.
  ///
  /// Complexity: Linear in the number of keys, if an index holds the property and covers the
  /// predicate. Otherwise linear in the number of objects that the predicate leads to.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``, and `notEvaluable` if
  ///   the sum is too large.
  public func sum<Object: StoredObject, Number: SummableValue>(
    of property: KeyPath<Object, Number>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> Number.Sum {
    try numbers(of: property, where: predicate, includingSubclasses: includingSubclasses).sum
  }

  /// Returns the average of the numbers that objects have in a property; nil if there are none.
  ///
  /// Complexity: As ``sum(of:where:includingSubclasses:)``.
  ///
  /// - Throws: The errors of ``sum(of:where:includingSubclasses:)``.
  public func average<Object: StoredObject, Number: SummableValue>(
    of property: KeyPath<Object, Number>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> Double? {
    try numbers(of: property, where: predicate, includingSubclasses: includingSubclasses).average
  }

  /// Returns the count, sum, average and extremes of a property's numbers in one pass.
  ///
  /// Complexity: As ``sum(of:where:includingSubclasses:)``.
  ///
  /// - Throws: The errors of ``sum(of:where:includingSubclasses:)``.
  public func numbers<Object: StoredObject, Number: SummableValue>(
    of property: KeyPath<Object, Number>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> QueryNumbers<Number.Sum> {
    var numbers = AnyNumbers()
    let entry = try forEachClass(predicate, includingSubclasses) { query in
      var walk = try AggregateWalk(query, [property])
      let before = numbers
      if let column = walk.column(of: property, Number.self).flatMap({ NumberColumn($0) }) {
        var isReadable = true
        try walk.forEachKey { reader in
          isReadable = reader.addNumber(column, to: &numbers)
          return isReadable ? .next : .pause
        }
        if !isReadable { (numbers, walk) = (before, AggregateWalk(objectsOf: query)) }
      } else {
        walk = AggregateWalk(objectsOf: query)
      }
      try walk.forEachObject { object in
        if let number = (object as? Object)?[keyPath: property].summand { numbers.add(number) }
      }
    }
    return try numbers.numbers(Number.Sum.self, entry)
  }

  /// Returns the distinct values that objects have in a property, the smallest first.
  ///
  ///     let genres = try store.distinctValues(of: \Song.genre)
  ///
  /// Complexity: O(log n) for each value, if an index begins with the property and covers the
  /// predicate. Otherwise as ``sum(of:where:includingSubclasses:)``.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func distinctValues<Object: StoredObject, Value: IndexableValue>(
    of property: KeyPath<Object, Value>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> [Value] {
    try groups(
      of: Object.self, by: property, where: predicate, includingSubclasses: includingSubclasses
    ).map(\.value)
  }

  /// Returns the number of objects for each value of a property, the smallest value first.
  ///
  ///     for group in try store.groups(of: Song.self, by: \.genre) {
  ///       print(group.value, group.count)
  ///     }
  ///
  /// Complexity: As ``distinctValues(of:where:includingSubclasses:)``. Memory: that of the groups.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func groups<Object: StoredObject, Value: IndexableValue>(
    of type: Object.Type, by property: KeyPath<Object, Value>,
    where predicate: Predicate<Object>? = nil, includingSubclasses: Bool = false
  ) throws(StoreError) -> [QueryGroup<Value, Int>] {
    try groups(Grouping<Object, Value, Int>(by: property, nil), predicate, includingSubclasses)
  }

  /// Returns, for each value of a property, the number of objects and their numbers in another.
  ///
  ///     for group in try store.groups(of: Song.self, by: \.genre, summing: \.seconds) {
  ///       print(group.value, group.count, group.numbers.sum, group.numbers.average ?? 0)
  ///     }
  ///
  /// Complexity: Linear in the number of keys, if an index holds both properties and covers the
  /// predicate. Otherwise linear in the number of objects that the predicate leads to. Memory: that
  /// of the groups.
  ///
  /// - Throws: The errors of ``sum(of:where:includingSubclasses:)``.
  public func groups<Object: StoredObject, Value: IndexableValue, Number: SummableValue>(
    of type: Object.Type, by property: KeyPath<Object, Value>,
    summing number: KeyPath<Object, Number>, where predicate: Predicate<Object>? = nil,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> [QueryGroup<Value, Number.Sum>] {
    try groups(Grouping(by: property, number), predicate, includingSubclasses)
  }

  private func groups<Object, Value, Number>(
    _ grouping: Grouping<Object, Value, Number>, _ predicate: Predicate<Object>?,
    _ includingSubclasses: Bool
  ) throws(StoreError) -> [QueryGroup<Value, Number.Sum>] {
    var grouping = grouping
    let entry = try forEachClass(predicate, includingSubclasses) { try grouping.add($0) }
    return try grouping.sorted(entry)
  }

  /// Queries the class of a predicate, and its subclasses if they count; returns the first class.
  @discardableResult
  func forEachClass<Object: StoredObject>(
    _ predicate: Predicate<Object>?, _ includingSubclasses: Bool, _ body: (Query) throws -> Void
  ) throws(StoreError) -> RegisteredClass {
    let entries = try registrations(of: Object.self, includingSubclasses: includingSubclasses)
    for entry in entries {
      let query = try query(predicate, of: entry)
      do { try body(query) } catch { throw entry.queryError(error) }
    }
    return entries[0]
  }
}
