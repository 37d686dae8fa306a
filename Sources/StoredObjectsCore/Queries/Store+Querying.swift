public import FoundationEssentials
import StoreEngine

extension Store {
  /// Returns the objects of a class that match a predicate, in an order.
  ///
  ///     let songs = try store.fetch(
  ///       Song.self, where: #Predicate { $0.seconds > 200 && $0.title.starts(with: "A") },
  ///       sortedBy: [.ascending(\.title)], limit: 20)
  ///
  /// The result does not include objects of subclasses, see
  /// ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``. It includes unsaved
  /// changes. Without an order, the objects come in row order, which is the order of their
  /// insertion.
  ///
  /// See <doc:FindingObjects> for how an ``AttributeIndex`` speeds up a query, and
  /// ``explain(_:where:sortedBy:limit:offset:)`` for the plan of a particular query.
  ///
  /// To fetch page by page, pass the last object of the previous page as `after`. Such pages stay
  /// right while objects are inserted and deleted, and the last page takes no longer than the
  /// first. An `offset` counts the objects that it skips.
  ///
  /// Complexity: With an index, O(log n) plus the number of objects that it leads to. Without one,
  /// linear in the number of objects of the class.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - predicate: The condition; without one, all objects match.
  ///   - orders: The properties to sort by.
  ///   - limit: The maximum number of objects, 0 or more.
  ///   - offset: The number of objects to skip first, 0 or more.
  ///   - object: The object after which the result begins, by its current values. It need not
  ///     match.
  /// - Returns: The objects.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `invalidArgument` (a negative
  ///   limit or offset), `notEvaluable`, `damaged`, `newerVersion`, `noSpace`, `ioError` or
  ///   `closed`.
  @inlinable public func fetch<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    after object: Object? = nil
  ) throws(StoreError) -> [Object] {
    var cursor = try cursor(
      over: type, where: predicate, sortedBy: orders, limit: limit, offset: offset, after: object)
    var objects: [Object] = []
    if let limit { objects.reserveCapacity(min(limit, 256)) }
    while let object = try cursor.next() { objects.append(consume object) }
    return objects
  }

  /// Returns a cursor over the result of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  ///
  /// Complexity: O(log n), and linear in the number of unsaved changes of the class. An index that
  /// is missing or out of date is built first. The cursor reads objects later.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func cursor<Object: StoredObject>(
    over type: Object.Type, where predicate: Predicate<Object>?,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    after object: Object? = nil
  ) throws(StoreError) -> QueryCursor<Object> {
    let query = try query(predicate, orders, limit: limit, offset: offset)
    return QueryCursor(QueryWalk(query, limit: limit, offset: offset, after: object))
  }

  /// Returns the first object that matches a predicate, in an order; nil if there is none.
  ///
  /// Complexity: As ``fetch(_:where:sortedBy:limit:offset:after:)`` with a limit of 1.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func first<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = []
  ) throws(StoreError) -> Object? {
    var cursor = try cursor(over: type, where: predicate, sortedBy: orders, limit: 1)
    return try cursor.next()
  }

  /// Returns whether any object matches a predicate.
  ///
  /// Complexity: As ``fetch(_:where:sortedBy:limit:offset:after:)`` with a limit of 1 and no order.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func exists<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>
  ) throws(StoreError) -> Bool {
    let query = try query(predicate, limit: 1)
    do {
      var walk = QueryWalk(query, limit: 1, offset: 0, after: nil)
      return try walk.nextUnordered() != nil
    } catch { throw query.entry.queryError(error) }
  }

  /// Returns the number of objects that match a predicate.
  ///
  /// Complexity: O(log n) plus the number of unsaved changes, if an index covers the predicate.
  /// Otherwise linear in the number of objects that are examined.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func count<Object: StoredObject>(
    of type: Object.Type, where predicate: Predicate<Object>
  ) throws(StoreError) -> Int {
    let query = try query(predicate, isCounting: true)
    do {
      return try query.count()
    } catch {
      throw query.entry.queryError(error)
    }
  }

  /// Returns the row IDs of the result of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  ///
  /// If an index covers the predicate, no record is read.
  ///
  /// Complexity: As ``fetch(_:where:sortedBy:limit:offset:after:)``.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func fetchIDs<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> [UInt32] {
    let query = try query(predicate, orders, limit: limit, offset: offset)
    do {
      if orders.isEmpty, query.choice.isCovered, query.hasNothingUnsaved,
        let rows = try query.rows()
      {
        return Array(rows.dropFirst(offset).prefix(limit ?? .max))
      }
      var walk = QueryWalk(query, limit: limit, offset: offset, after: nil)
      var rows: [UInt32] = []
      while let object = try walk.next() { rows.append(object.rowID) }
      return rows
    } catch { throw query.entry.queryError(error) }
  }

  /// Deletes the objects that match a predicate; the next save removes their records.
  ///
  /// Each object is deleted as by ``delete(_:)``.
  ///
  /// Complexity: As ``fetch(_:where:sortedBy:limit:offset:after:)``, and ``delete(_:)`` for each
  /// object.
  ///
  /// - Returns: The number of objects that match.
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``. Nothing is deleted
  ///   then.
  @discardableResult
  public func delete<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>
  ) throws(StoreError) -> Int {
    let objects = try fetch(type, where: predicate)
    for object in objects { delete(object) }
    return objects.count
  }

  /// Returns the plan of a query, with the number of records that it would examine.
  ///
  /// This method writes nothing. If an index is missing or out of date, the query would build it
  /// first: ``QueryPlan/indexesToBuild`` has its name, and the plan is the one without it.
  ///
  /// Complexity: O(log n), and linear in the number of unsaved changes of the class.
  ///
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func explain<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> QueryPlan {
    try query(predicate, orders, limit: limit, offset: offset, isExplained: true).plan
  }

  private func query<Object: StoredObject>(
    _ predicate: Predicate<Object>?, _ orders: [QueryOrder<Object>] = [], limit: Int? = nil,
    offset: Int = 0, isCounting: Bool = false, isExplained: Bool = false
  ) throws(StoreError) -> Query {
    try query(
      predicate, orders, of: try requireRegistration(of: Object.self), limit: limit,
      offset: offset, isCounting: isCounting, isExplained: isExplained)
  }

  /// Plans a query of one class: the class of the predicate, or a subclass.
  func query<Object: StoredObject>(
    _ predicate: Predicate<Object>?, _ orders: [QueryOrder<Object>] = [],
    of entry: RegisteredClass, limit: Int? = nil, offset: Int = 0, isCounting: Bool = false,
    isExplained: Bool = false
  ) throws(StoreError) -> Query {
    try entry.requirePage(limit: limit, offset: offset)
    do {
      return try Query(
        self, entry, predicate, orders, limit: limit, offset: offset, isCounting: isCounting,
        isExplained: isExplained)
    } catch { throw entry.queryError(error) }
  }
}
