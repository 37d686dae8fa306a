import FoundationEssentials
import StoreEngine

/// A planned query of any class, which keeps the work for each object in code compiled once.
final class Query {
  let store: Store
  let entry: RegisteredClass
  let orders: [QueryOrderKey]
  let planner: QueryPlanner
  let choice: QueryPlanner.Choice
  /// The objects that indexes don't describe, and the rows that they replace.
  let own: OwnContents
  /// The objects among them that have the class of the query.
  let unsaved: [StoredObject]
  var unsavedRows: RowSet { own.rows }
  /// Returns whether the predicate holds for an object; nil without a predicate.
  private let predicate: ((StoredObject) throws -> Bool)?
  private let conditionText: () -> String

  convenience init<Object: StoredObject>(
    _ store: Store, _ entry: RegisteredClass, _ predicate: Predicate<Object>?,
    _ orders: [QueryOrder<Object>], limit: Int?, offset: Int = 0, isCounting: Bool = false,
    isExplained: Bool = false
  ) throws {
    store.settleRelationships()
    let translation = predicate.map { predicate in
      LazyTranslation { QueryTranslation.of(predicate, entry, store, isExplained: isExplained) }
    }
    // The properties of a subclass are others for its indexes.
    let isOwn = entry.type == Object.self
    let condition = isOwn ? predicate.flatMap { simpleCondition(of: $0) } : nil
    try self.init(
      store, entry, translation, condition ?? translation?.term.condition, orders, limit: limit,
      offset: offset, isCounting: isCounting, isExplained: isExplained)
  }

  /// Creates a query from a translated predicate, after relationships are settled.
  convenience init<Object: StoredObject>(
    _ store: Store, _ entry: RegisteredClass, _ term: QueryTerm<Object, Bool>?,
    _ orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    isCounting: Bool = false, isExplained: Bool = false
  ) throws {
    try self.init(
      store, entry, term.map { term in LazyTranslation { term } }, term?.condition, orders,
      limit: limit, offset: offset, isCounting: isCounting, isExplained: isExplained)
  }

  private init<Object: StoredObject>(
    _ store: Store, _ entry: RegisteredClass, _ translation: LazyTranslation<Object>?,
    _ condition: Condition?, _ orders: [QueryOrder<Object>], limit: Int?, offset: Int,
    isCounting: Bool, isExplained: Bool
  ) throws {
    (self.store, self.entry, self.orders) = (store, entry, orders.map { $0.key })
    let subclass = entry.type == Object.self ? nil : entry.type
    self.predicate = translation.map { translation in
      { object in try (object as? Object).map(translation.term.read) ?? false }
    }
    conditionText = { translation?.term.text ?? "" }
    own = OwnContents(store, entry)
    unsaved = own.objects.filter { $0 is Object }
    planner = QueryPlanner(
      store: store, entry: entry, condition: condition,
      order: Self.order(self.orders, subclass),
      limit: limit.map { $0.addingSaturated(offset) }, unreadCount: max(0, offset - unsaved.count),
      isCounting: isCounting, isExplained: isExplained)
    choice = try planner.choose()
  }

  /// Returns the properties of an order and their common direction; no properties if it differs.
  private static func order(
    _ orders: [QueryOrderKey], _ subclass: StoredObject.Type?
  ) -> (properties: [AnyKeyPath], isDescending: Bool)? {
    guard let first = orders.first else { return nil }
    guard orders.allSatisfy({ $0.isDescending == first.isDescending }) else { return ([], false) }
    let properties = orders.map { order in
      subclass.map { order.property.inherited(by: $0) } ?? order.property
    }
    return (properties, first.isDescending)
  }

  var hasNothingUnsaved: Bool { own.isEmpty }

  /// Returns whether the predicate holds for an object.
  func matches(_ object: StoredObject) throws -> Bool { try predicate?(object) ?? true }

  /// Returns the object of the next saved row if the predicate holds for it.
  ///
  /// An index that covers the predicate is trusted only under these conditions: no commit happened
  /// since it led to the row, no other process can have committed, and the object is as it is
  /// saved. `commitCount` is the number of commits at the time the index was read.
  func nextObject(
    _ ahead: inout RowsAhead, asOf commitCount: UInt64? = nil
  ) throws -> StoredObject? {
    guard let object = try ahead.takeObject() else { return nil }
    if predicate == nil { return object }
    let isKnown =
      choice.isCovered && commitCount == entry.shared.commitCount && object.state.change == nil
      && ahead.isUndisturbed
    return try isKnown || matches(object) ? object : nil
  }

  /// The plan that the user sees.
  var plan: QueryPlan {
    QueryPlan(
      indexes: choice.access.parts.map(\.index.declaration.name),
      touchedCount: choice.touchedCount, isOrderedByIndex: choice.isOrdered,
      isAnsweredByIndex: choice.isCovered, isIntersection: choice.access.isIntersection,
      condition: conditionText(), indexesToBuild: choice.missing)
  }

  // MARK: Rows

  /// Returns the saved rows that indexes lead to, in ascending order; nil if all objects are read.
  func rows() throws -> [UInt32]? {
    guard let rows = try choice.access.rows(store.backend) else { return nil }
    return hasNothingUnsaved ? rows : rows.filter { !unsavedRows.contains($0) }
  }

  // MARK: Counting

  func count() throws -> Int {
    guard choice.isCovered else { return try countByLook() }
    switch choice.access {
    case .scan: return try store.count(of: entry)
    case .index(let part): return try count(part)
    case .union, .intersection:
      return try (rows()?.count ?? 0) + unsaved.count { try matches($0) }
    }
  }

  private func countByLook() throws -> Int {
    var count = 0
    var walk = QueryWalk(self, limit: nil, offset: 0, after: nil)
    while try walk.nextUnordered() != nil { count += 1 }
    return count
  }

  /// Counts the saved keys, and corrects the count for objects with other content.
  private func count(_ part: IndexRanges) throws -> Int {
    var count = try part.ranges.reduce(0) {
      $0 + (try store.backend.keyCount(in: part.index.table, $1))
    }
    for row in own.savedRows {
      do throws(StoreError) {
        // Uses the keys as counted: they may contain values of another referenced object.
        if let saved = try store.savedObject(row, entry) {
          count -= part.index.keys(of: saved).count { key in
            part.ranges.contains { $0.contains(key) }
          }
        }
      } catch {
        guard [.damaged, .notAuthentic].contains(error.code) else { throw error }
        // The index may or may not have the keys of a damaged record, which was deleted here
        // because of the damage.
        return try countByLook()
      }
    }
    return try unsaved.reduce(count) { try $0 + (matches($1) ? 1 : 0) }
  }
}
