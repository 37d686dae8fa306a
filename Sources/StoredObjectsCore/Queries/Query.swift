import FoundationEssentials

/// A query that has been planned.
struct Query<Object: StoredObject> {
  let store: Store
  let entry: RegisteredClass
  let term: QueryTerm<Object, Bool>?
  let orders: [QueryOrder<Object>]
  let choice: QueryPlanner.Choice
  /// Unsaved objects, and the rows that they take the place of.
  let unsaved: [Object]
  let unsavedRows: RowSet

  init(
    _ store: Store, _ predicate: Predicate<Object>?, _ orders: [QueryOrder<Object>], limit: Int?,
    isCounting: Bool = false
  ) throws {
    self.store = store
    self.orders = orders
    entry = try store.requireRegistration(of: Object.self)
    store.collectChangesElsewhere()
    let indexes = entry.indexes.map(\.declaration).filter { $0.properties.count == 1 }
    let names = Dictionary(indexes.map { ($0.properties[0], $0.name) }) { first, _ in first }
    term = predicate.map { QueryTranslation.of($0, names: names) }
    let pending = entry.pending.filter { $0.state.change != nil }
    unsavedRows = RowSet(pending.lazy.map(\.rowID))
    unsaved = pending.filter { $0.state.change != .delete }.compactMap { $0 as? Object }
    let isUniform = Set(orders.map(\.isDescending)).count == 1
    let order = isUniform ? (orders.map(\.property), orders[0].isDescending) : nil
    choice = try QueryPlanner(
      store: store, entry: entry, condition: term?.condition,
      order: orders.isEmpty ? nil : order ?? ([], false), limit: limit,
      isCounting: isCounting
    ).choose()
  }

  var hasNothingUnsaved: Bool { entry.changeCounts.isEmpty }

  /// Whether the predicate holds for an object.
  func matches(_ object: Object) throws -> Bool { try term?.read(object) ?? true }

  /// The object of a row that is saved, if the predicate holds for it.
  func object(_ row: UInt32) throws -> Object? {
    guard let object = try store.object(entry, rowID: row) as? Object, try matches(object) else {
      return nil
    }
    return object
  }

  /// The plan, for the user.
  var plan: QueryPlan {
    let parts: [IndexRanges] =
      switch choice.access {
      case .scan: []
      case .index(let part): [part]
      case .union(let parts): parts
      }
    return QueryPlan(
      indexes: parts.map(\.index.declaration.name), touchedCount: choice.touchedCount,
      isOrderedByIndex: choice.isOrdered, isAnsweredByIndex: choice.isCovered,
      condition: term?.text ?? "")
  }

  // MARK: Rows

  /// The saved rows that an index leads to, in ascending order; nil where all objects are read.
  func rows() throws -> [UInt32]? {
    switch choice.access {
    case .scan: return nil
    case .index(let part): return try rows(of: [part])
    case .union(let parts): return try rows(of: parts)
    }
  }

  private func rows(of parts: [IndexRanges]) throws -> [UInt32] {
    var rows: [UInt32] = []
    for part in parts {
      for range in part.ranges {
        _ = try store.backend.scanKeys(of: part.index.table, range, isReversed: false) { key, _ in
          rows.append(RegisteredIndex.row(key))
          return .next
        }
      }
    }
    rows.sort()
    if parts.count > 1 { rows = rows.reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
    return unsaved.isEmpty ? rows : rows.filter { !unsavedRows.contains($0) }
  }

  // MARK: Counting

  func count() throws -> Int {
    guard choice.isCovered, case .index(let part) = choice.access else {
      if term == nil { return try store.count(of: Object.self) }
      var count = 0
      var cursor = QueryCursor(self, limit: nil, offset: 0, after: nil)
      while try cursor.nextUnordered() != nil { count += 1 }
      return count
    }
    // Counted as they are saved, and put right for what is not.
    var count = try part.ranges.reduce(0) {
      $0 + (try store.backend.keyCount(in: part.index.table, $1))
    }
    for object in entry.pending {
      let change = object.state.change
      if change == .update || change == .delete,
        let saved = try store.savedObject(object.rowID, entry) as? Object, try matches(saved)
      {
        count -= 1
      }
      if change == .update || change == .insert, let object = object as? Object,
        try matches(object)
      {
        count += 1
      }
    }
    return count
  }
}
