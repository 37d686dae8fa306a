public import FoundationEssentials
import StoreEngine

extension Store {
  /// Returns the objects of a class and its subclasses that match a predicate, in an order.
  ///
  ///     let songs = try store.fetch(
  ///       Song.self, includingSubclasses: true, where: #Predicate { $0.seconds > 200 },
  ///       sortedBy: [.ascending(\.title)], limit: 20)
  ///
  /// Each registered class is queried by its own indexes, and the results are merged. Objects with
  /// the same values come in the order in which their classes were registered, then in row order.
  /// The class itself need not be registered if a subclass is.
  ///
  /// See ``fetch(_:where:sortedBy:limit:offset:after:)`` for the parameters.
  ///
  /// Complexity: The sum of the queries of each class. Each finds up to `limit` plus `offset`
  /// objects.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func fetch<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    after object: Object? = nil
  ) throws(StoreError) -> [Object] {
    var cursor = try cursor(
      over: type, includingSubclasses: includingSubclasses, where: predicate, sortedBy: orders,
      limit: limit, offset: offset, after: object)
    var objects: [Object] = []
    while let object = try cursor.next() { objects.append(consume object) }
    return objects
  }

  /// Returns a cursor over the objects of a class and its subclasses that match a predicate.
  ///
  /// The objects are those of ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``.
  ///
  /// Complexity: as ``cursor(over:where:sortedBy:limit:offset:after:)`` for each class.
  ///
  /// - Throws: The errors of ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``.
  public func cursor<Object: StoredObject>(
    over type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>?,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    after object: Object? = nil
  ) throws(StoreError) -> QueryCursor<Object> {
    let entries = try registrations(of: type, includingSubclasses: includingSubclasses)
    if entries.count == 1 {
      let query = try query(predicate, orders, of: entries[0], limit: limit, offset: offset)
      return QueryCursor(QueryWalk(query, limit: limit, offset: offset, after: object))
    }
    try entries[0].requirePage(limit: limit, offset: offset)
    let most = limit.map { $0.addingSaturated(offset) }
    var queries: [Query] = []
    for entry in entries { queries.append(try query(predicate, orders, of: entry, limit: most)) }
    return QueryCursor(
      QueryMerge(queries, limit: limit, offset: offset, after: object),
      first: QueryWalk(queries[0], limit: 0, offset: 0, after: nil))
  }

  /// Returns the IDs of the objects that match a predicate, to hand to another store or task.
  ///
  ///     let ids = try store.fetchObjectIDs(Song.self, where: #Predicate { $0.seconds > 200 })
  ///
  /// The objects are those of ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``.
  /// If an index of a single class covers the predicate, no record is read.
  ///
  /// Complexity: As ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``.
  ///
  /// - Throws: The errors of ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``.
  public func fetchObjectIDs<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false,
    where predicate: Predicate<Object>? = nil, sortedBy orders: [QueryOrder<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> [ObjectID<Object>] {
    let entries = try registrations(of: type, includingSubclasses: includingSubclasses)
    if entries.count == 1, entries[0].type == type {
      let rows = try fetchIDs(
        type, where: predicate, sortedBy: orders, limit: limit, offset: offset)
      return rows.map { ObjectID(className: entries[0].name, rowID: $0) }
    }
    return try fetch(
      type, includingSubclasses: includingSubclasses, where: predicate, sortedBy: orders,
      limit: limit, offset: offset
    ).map { ObjectID($0) }
  }

  /// Returns the plans of a query of a class and its registered subclasses.
  ///
  /// There is one plan for each class, in the order of their class IDs.
  ///
  /// Complexity: as ``explain(_:where:sortedBy:limit:offset:)`` for each class.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func explain<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> [QueryPlan] {
    let most = limit.map { $0.addingSaturated(offset) }
    var plans: [QueryPlan] = []
    for entry in try registrations(of: type, includingSubclasses: includingSubclasses) {
      try entry.requirePage(limit: limit, offset: offset)
      plans.append(try query(predicate, orders, of: entry, limit: most, isExplained: true).plan)
    }
    return plans
  }

  /// Returns the first object of a class and its subclasses that matches a predicate, in an order.
  ///
  /// Returns nil if there is none. Only registered subclasses count.
  ///
  /// Complexity: As ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)`` with a
  /// limit of 1.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func first<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = []
  ) throws(StoreError) -> Object? {
    var cursor = try cursor(
      over: type, includingSubclasses: includingSubclasses, where: predicate, sortedBy: orders,
      limit: 1)
    return try cursor.next()
  }

  /// Returns whether any object of a class and its registered subclasses matches a predicate.
  ///
  /// Complexity: As ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)`` with a
  /// limit of 1.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func exists<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>
  ) throws(StoreError) -> Bool {
    try first(type, includingSubclasses: includingSubclasses, where: predicate) != nil
  }

  /// Returns the number of objects of a class and its registered subclasses that match a predicate.
  ///
  /// Complexity: The sum of the counts of each class, see ``count(of:where:)``.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func count<Object: StoredObject>(
    of type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>
  ) throws(StoreError) -> Int {
    var count = 0
    for entry in try registrations(of: type, includingSubclasses: includingSubclasses) {
      let query = try query(predicate, of: entry, isCounting: true)
      do { count += try query.count() } catch { throw entry.queryError(error) }
    }
    return count
  }

  /// Deletes the objects of a class and its registered subclasses that match a predicate.
  ///
  /// Each object is deleted as by ``delete(_:)``.
  ///
  /// Complexity: As ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``, and
  /// ``delete(_:)`` for each object.
  ///
  /// - Returns: The number of objects that match.
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``. Nothing is deleted
  ///   then.
  @discardableResult
  public func delete<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>
  ) throws(StoreError) -> Int {
    let objects = try fetch(type, includingSubclasses: includingSubclasses, where: predicate)
    for object in objects { delete(object) }
    return objects.count
  }
}
