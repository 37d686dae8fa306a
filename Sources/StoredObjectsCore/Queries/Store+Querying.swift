public import FoundationEssentials
import StoreEngine

extension Store {
  /// The objects of a class for which a predicate holds, in an order.
  ///
  ///     let songs = try store.fetch(
  ///       Song.self, where: #Predicate { $0.seconds > 200 && $0.title.starts(with: "A") },
  ///       sortedBy: [.ascending(\.title)], limit: 20)
  ///
  /// Objects of subclasses are not among them, see
  /// ``fetch(_:includingSubclasses:where:sortedBy:limit:offset:after:)``.
  ///
  /// Sees unsaved changes. Without an order the objects come in that of their rows, which is the
  /// order of their insertion. See <doc:FindingObjects> for what an ``AttributeIndex`` does for a
  /// query, and ``explain(_:where:sortedBy:limit:offset:)`` for what it does for this one.
  ///
  /// A page is best named by the last object of the page before it, `after`: it stays right while
  /// others insert and delete, and takes no longer for the last page than for the first. An
  /// `offset` counts the objects that are passed over.
  ///
  /// Complexity: with an index, O(log n) and linear in the objects that it leads to; without,
  /// linear in the number of objects of the class.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - predicate: What holds for the objects; all objects, if there is none.
  ///   - orders: By which properties they are ordered.
  ///   - limit: How many objects at the most, 0 or more.
  ///   - offset: How many are passed over first, 0 or more.
  ///   - object: An object behind which they come, as it is now, whether it would be found or not.
  /// - Returns: the objects.
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
    while let object = try cursor.next() { objects.append(object) }
    return objects
  }

  /// A cursor over the objects that ``fetch(_:where:sortedBy:limit:offset:after:)`` would give.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as that.
  public func cursor<Object: StoredObject>(
    over type: Object.Type, where predicate: Predicate<Object>?,
    sortedBy orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    after object: Object? = nil
  ) throws(StoreError) -> QueryCursor<Object> {
    let query = try query(predicate, orders, limit: limit, offset: offset)
    return QueryCursor(QueryWalk(query, limit: limit, offset: offset, after: object))
  }

  /// The first object for which a predicate holds, in an order; nil when there is none.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func first<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = []
  ) throws(StoreError) -> Object? {
    var cursor = try cursor(over: type, where: predicate, sortedBy: orders, limit: 1)
    return try cursor.next()
  }

  /// Whether a predicate holds for any object.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func exists<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>
  ) throws(StoreError) -> Bool {
    let query = try query(predicate, limit: 1)
    do {
      var walk = QueryWalk(query, limit: 1, offset: 0, after: nil)
      return try walk.nextUnordered() != nil
    } catch { throw query.entry.queryError(error) }
  }

  /// The number of objects for which a predicate holds.
  ///
  /// Complexity: O(log n) and linear in the unsaved changes, where an index tells all that is
  /// asked; linear in the objects that are looked at otherwise.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
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

  /// The row IDs of the objects that ``fetch(_:where:sortedBy:limit:offset:after:)`` would give.
  ///
  /// Where an index tells all that is asked, no record is read.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as that.
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

  /// Deletes the objects for which a predicate holds, as ``delete(_:)`` does; the next save removes
  /// their records.
  ///
  /// - Returns: how many there were.
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``;
  ///   nothing is deleted then.
  @discardableResult
  public func delete<Object: StoredObject>(
    _ type: Object.Type, where predicate: Predicate<Object>
  ) throws(StoreError) -> Int {
    let objects = try fetch(type, where: predicate)
    for object in objects { delete(object) }
    return objects.count
  }

  /// Describes how a query would be answered, and how many records it would look at.
  ///
  /// Nothing is written: an index that is missing or out of date, which the query would make first,
  /// is named in ``QueryPlan/indexesToBuild``. The plan is then the one without it.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
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

  /// The query of one class: that of the predicate, or a subclass.
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
