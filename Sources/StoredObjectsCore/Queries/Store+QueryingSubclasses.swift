public import FoundationEssentials
import StoreEngine

extension Store {
  /// The objects of a class and its registered subclasses for which a predicate holds, in an order.
  ///
  ///     let songs = try store.fetch(
  ///       Song.self, includingSubclasses: true, where: #Predicate { $0.seconds > 200 },
  ///       sortedBy: [.ascending(\.title)], limit: 20)
  ///
  /// Each class is asked by its own indexes, and the answers are merged. Objects that have the same
  /// values are in order of the registration of their classes, then of their rows. The class itself
  /// need not be registered if a subclass is.
  ///
  /// See ``fetch(_:where:sortedBy:limit:offset:after:)`` for the parameters.
  ///
  /// Complexity: that of the queries of each class. Each finds up to `limit` and `offset` objects.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func fetch<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    after object: Object? = nil
  ) throws(StoreError) -> [Object] {
    var cursor = try cursor(
      over: type, includingSubclasses: includingSubclasses, where: predicate, sortedBy: orders,
      limit: limit, offset: offset, after: object)
    var objects: [Object] = []
    while let object = try cursor.next() { objects.append(object) }
    return objects
  }

  /// A cursor over the objects that
  /// ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)`` would give.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as that.
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

  /// The IDs of the objects that
  /// ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)`` would give, to be handed to
  /// another store or task.
  ///
  ///     let ids = try store.fetchObjectIDs(Song.self, where: #Predicate { $0.seconds > 200 })
  ///
  /// Where an index tells all that is asked of a single class, no record is read.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as that.
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

  /// Describes how a query of a class and its registered subclasses would be answered: a plan for
  /// each class, in the order of their class IDs.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
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

  /// The first object of a class and its registered subclasses for which a predicate holds, in an
  /// order; nil when there is none.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func first<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = []
  ) throws(StoreError) -> Object? {
    var cursor = try cursor(
      over: type, includingSubclasses: includingSubclasses, where: predicate, sortedBy: orders,
      limit: 1)
    return try cursor.next()
  }

  /// Whether a predicate holds for any object of a class and its registered subclasses.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func exists<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>
  ) throws(StoreError) -> Bool {
    try first(type, includingSubclasses: includingSubclasses, where: predicate) != nil
  }

  /// The number of objects of a class and its registered subclasses for which a predicate holds.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
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

  /// Deletes the objects of a class and its registered subclasses for which a predicate holds, as
  /// ``delete(_:)`` does.
  ///
  /// - Returns: how many there were.
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``;
  ///   nothing is deleted then.
  @discardableResult
  public func delete<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool, where predicate: Predicate<Object>
  ) throws(StoreError) -> Int {
    let objects = try fetch(type, includingSubclasses: includingSubclasses, where: predicate)
    for object in objects { delete(object) }
    return objects.count
  }
}
