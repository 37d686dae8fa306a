import FoundationEssentials
import StoreEngine

/// A query that has been planned, whatever its class: what is done for each object is compiled
/// once.
struct Query {
  let store: Store
  let entry: RegisteredClass
  let orders: [QueryOrderKey]
  let planner: QueryPlanner
  let choice: QueryPlanner.Choice
  /// The objects that indexes say nothing of, and the rows that they take the place of.
  let own: OwnContents
  /// Those of them that the query is about.
  let unsaved: [StoredObject]
  var unsavedRows: RowSet { own.rows }
  /// Whether the predicate holds for an object; nil when there is none.
  private let predicate: ((StoredObject) throws -> Bool)?
  private let conditionText: () -> String

  init<Object: StoredObject>(
    _ store: Store, _ entry: RegisteredClass, _ predicate: Predicate<Object>?,
    _ orders: [QueryOrder<Object>], limit: Int?, offset: Int = 0, isCounting: Bool = false,
    isExplained: Bool = false
  ) throws {
    store.settleRelationships()
    let term = predicate.map { QueryTranslation.of($0, entry, store, isExplained: isExplained) }
    try self.init(
      store, entry, term, orders, limit: limit, offset: offset, isCounting: isCounting,
      isExplained: isExplained)
  }

  /// A query whose predicate is translated, after relationships are settled.
  init<Object: StoredObject>(
    _ store: Store, _ entry: RegisteredClass, _ term: QueryTerm<Object, Bool>?,
    _ orders: [QueryOrder<Object>] = [], limit: Int? = nil, offset: Int = 0,
    isCounting: Bool = false, isExplained: Bool = false
  ) throws {
    (self.store, self.entry, self.orders) = (store, entry, orders.map(\.key))
    let subclass = entry.type == Object.self ? nil : entry.type
    self.predicate = term.map { term in
      { object in try (object as? Object).map(term.read) ?? false }
    }
    conditionText = { term?.text ?? "" }
    own = OwnContents(store, entry)
    unsaved = own.objects.filter { $0 is Object }
    planner = QueryPlanner(
      store: store, entry: entry, condition: term?.condition,
      order: Self.order(self.orders, subclass),
      limit: limit.map { $0.addingSaturated(offset) }, unreadCount: max(0, offset - unsaved.count),
      isCounting: isCounting, isExplained: isExplained)
    choice = try planner.choose()
  }

  /// The properties of an order, and the direction of all; none when they have several.
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

  /// Whether the predicate holds for an object.
  func matches(_ object: StoredObject) throws -> Bool { try predicate?(object) ?? true }

  /// The object of the next of some rows that are saved, if the predicate holds for it.
  ///
  /// An index that tells all that is asked is believed as long as nobody has saved since it led to
  /// the row, nobody else can have, and the object is as it is saved. `commitCount` says how many
  /// commits there had been.
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

  /// The plan, for the user.
  var plan: QueryPlan {
    QueryPlan(
      indexes: choice.access.parts.map(\.index.declaration.name),
      touchedCount: choice.touchedCount, isOrderedByIndex: choice.isOrdered,
      isAnsweredByIndex: choice.isCovered, isIntersection: choice.access.isIntersection,
      condition: conditionText(), indexesToBuild: choice.missing)
  }

  // MARK: Rows

  /// The saved rows that indexes lead to, in ascending order; nil where all objects are read.
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

  /// Counts keys as they are saved, and corrects that by the objects that have other content.
  private func count(_ part: IndexRanges) throws -> Int {
    var count = try part.ranges.reduce(0) {
      $0 + (try store.backend.keyCount(in: part.index.table, $1))
    }
    for row in own.savedRows {
      do throws(StoreError) {
        // Its keys as they were counted: what it referred to may be another by now.
        if let saved = try store.savedObject(row, entry) {
          count -= part.index.keys(of: saved).count { key in
            part.ranges.contains { $0.contains(key) }
          }
        }
      } catch {
        guard [.damaged, .notAuthentic].contains(error.code) else { throw error }
        // Its keys may be in the index or not; it was deleted here because of that.
        return try countByLook()
      }
    }
    return try unsaved.reduce(count) { try $0 + (matches($1) ? 1 : 0) }
  }
}
