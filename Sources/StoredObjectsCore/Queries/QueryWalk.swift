import StoreEngine

/// The implementation of ``QueryCursor`` for any class.
@usableFromInline struct QueryWalk {
  private let query: Query
  private let after: SortKey?
  /// Rows in ascending order, looked up one by one, if only a few objects are wanted.
  private var lookUps: RowLookUps?
  /// The number of rows that are still skipped without being read.
  private var unread = 0
  private var page: QueryPage
  /// The rows in the order of an index, if that is the order of the query.
  private var index: IndexWalk?
  /// The rows in the order of the query otherwise, the next one last; nil before the search.
  private var rows: [UInt32]?
  /// The number of commits at the time the rows were found.
  private var commitCount: UInt64?
  /// The next rows, with their records.
  private var ahead: RowsAhead
  /// The number of rows to read together the next time.
  private var aheadCount: Int
  /// The unsaved objects that match and are still ahead, the next one last.
  private var unsaved: [(key: SortKey, object: StoredObject)] = []
  /// The next saved object, if an unsaved object came before it.
  private var waiting: (key: SortKey, object: StoredObject)?
  private var hasBegun = false
  /// All objects, if they may come in any order.
  private var scan: RowCursor?

  /// The start of a walk among objects with the same values as the object it comes after.
  enum Start {
    /// After the row of the object.
    case row
    case beforeAll
    case behindAll
  }

  init(
    _ query: Query, limit: Int?, offset: Int, after: StoredObject?, start: Start? = nil
  ) {
    let start = start ?? .row
    self.query = query
    self.after = after.map { SortKey($0, query.orders, start) }
    let page = QueryPage(offset: offset, limit: limit)
    self.page = page
    ahead = RowsAhead(query.store, query.entry)
    // If the index covers the predicate, the number of rows to read is known.
    let mostAhead = query.choice.isCovered && limit != nil ? RowsAhead.greatestCount : 16
    aheadCount = min(mostAhead, max(1, page.wanted))
    lookUps = Self.lookUps(query, limit: limit, offset: offset, after: after, start)
    index = Self.indexWalk(query, limit: limit, offset: offset, after: after, start)
  }

  /// Returns the look-ups of a query of few objects in any order; nil for any other query.
  private static func lookUps(
    _ query: Query, limit: Int?, offset: Int, after: StoredObject?, _ start: Start
  ) -> RowLookUps? {
    // A look-up reads an object even if the page starts later. Known rows are skipped unread.
    let skipsMany = query.choice.isCovered && offset > RowsAhead.greatestCount
    guard let limit, !skipsMany, query.orders.isEmpty, case .scan = query.choice.access else {
      return nil
    }
    return RowLookUps(
      after: start == .row ? after?.rowID ?? 0 : 0, query.entry,
      wanted: limit.addingSaturated(offset),
      budget: QueryPlanner.lookUpBudget(for: query.choice.recordCount))
  }

  /// Returns the walk through the index that provides the order; nil if none does.
  private static func indexWalk(
    _ query: Query, limit: Int?, offset: Int, after: StoredObject?, _ start: Start
  ) -> IndexWalk? {
    guard query.choice.isOrdered, case .index(let part) = query.choice.access else { return nil }
    // If the index covers the predicate, the number of keys to read is known.
    let wanted = query.choice.isCovered ? limit?.addingSaturated(offset) : nil
    var walk = IndexWalk(
      query.store.backend, part, isReversed: query.choice.isReversed, wanted: wanted)
    if let after { walk.goOn(after: key(of: after, start, query, part)) }
    return walk
  }

  /// Returns the key of an object in the index that provides the order, stored there or not.
  ///
  /// Only the properties of the order count; the object may have any value in others.
  private static func key(
    of object: StoredObject, _ start: Start, _ query: Query, _ part: IndexRanges
  ) -> [UInt8] {
    var key = IndexKey()
    let isBehindFixed =
      query.orders.count == part.index.declaration.properties.count - part.fixedCount
    key.bytes = isBehindFixed ? part.fixedPrefix : [RegisteredIndex.mark]
    for order in query.orders { order.writeKey(object, &key) }
    switch start {
    // An object without a row sorts before all objects with the same values.
    case .row where object.rowID > 0: key.write(object.rowID)
    case .row, .beforeAll: key.write(query.choice.isReversed ? UInt32.max : 0)
    case .behindAll: key.write(query.choice.isReversed ? 0 : UInt32.max)
    }
    return key.bytes
  }

  /// Returns the next object, or nil at the end.
  @usableFromInline mutating func next() throws(StoreError) -> StoredObject? {
    do {
      while page.hasRoom, let object = try nextInOrder() { if page.takes() { return object } }
      return nil
    } catch {
      throw query.entry.queryError(error)
    }
  }

  // MARK: Saved and unsaved

  private mutating func begin() throws {
    if hasBegun { return }
    hasBegun = true
    if !query.unsaved.isEmpty {
      unsaved = try query.unsaved.filter { try query.matches($0) }
        .map { (SortKey($0, query.orders), $0) }
        .filter { entry in after.map { $0 < entry.key } ?? true }
        .sorted { $1.key < $0.key }
    }
    if index == nil, lookUps == nil, try !findRowsOfPage() { try findRows(after: after) }
    let isKnown = query.orders.isEmpty || query.choice.isOrdered
    if query.choice.isCovered, isKnown, lookUps == nil {
      // Wherever the unsaved objects come, at least this many saved rows are skipped.
      unread = max(0, page.offset - unsaved.count)
      if query.own.isEmpty { skipKnownRows() }
    }
    // Rows that need not be read any more are not read ahead.
    aheadCount = min(aheadCount, max(1, page.wanted))
  }

  /// Skips known rows, all at once.
  private mutating func skipKnownRows() {
    let count = min(unread, rows?.count ?? 0)
    rows?.removeLast(count)
    unread -= count
    page.offset -= count
  }

  /// Finds only the rows of the page, where all rows are known and can't change.
  private mutating func findRowsOfPage() throws -> Bool {
    guard query.orders.isEmpty, case .scan = query.choice.access, query.own.isEmpty,
      unsaved.isEmpty, query.store.backend.isReadOnly,
      let found = try allRows(after: after, skipping: page.offset, atMost: page.left)
    else { return false }
    commitCount = query.entry.shared.commitCount
    rows = found.reversed()
    page.offset = 0
    return true
  }

  private mutating func findRows(after start: SortKey?) throws {
    if query.orders.isEmpty { commitCount = query.entry.shared.commitCount }
    rows = try rowsInOrder(after: start).reversed()
  }

  private mutating func nextInOrder() throws -> StoredObject? {
    try begin()
    guard let first = unsaved.last else { return try takeWaiting() ?? nextSaved() }
    if waiting == nil, let object = try nextSaved() {
      waiting = (SortKey(object, query.orders), object)
    }
    guard let waiting, waiting.key < first.key else { return unsaved.removeLast().object }
    return takeWaiting()
  }

  private mutating func takeWaiting() -> StoredObject? {
    guard let object = waiting?.object else { return nil }
    waiting = nil
    return object
  }

  private mutating func nextSaved() throws -> StoredObject? {
    while true {
      if ahead.isEmpty, try !readAhead() { return nil }
      if let object = try query.nextObject(&ahead, asOf: commitCount) { return object }
    }
  }

  /// Reads the records of the next rows; returns false at the end.
  ///
  /// The rows are from one batch of the index, so that one number of commits applies to all of
  /// them.
  private mutating func readAhead() throws -> Bool {
    var rows: [UInt32] = []
    rows.reserveCapacity(aheadCount)
    while rows.isEmpty || rows.count < aheadCount && index?.isAtEndOfBatch != true,
      let row = try nextRow()
    {
      if !query.own.isEmpty, query.unsavedRows.contains(row) { continue }
      if !skipsUnread() { rows.append(row) }
    }
    // Batches start small: a caller that wants only the first objects doesn't wait for many.
    aheadCount = min(RowsAhead.greatestCount, aheadCount * 4)
    ahead.fill(rows)
    return !rows.isEmpty
  }

  /// Returns whether to skip a row that the index says matches, without reading it.
  private mutating func skipsUnread() -> Bool {
    guard unread > 0 else { return false }
    unread -= 1
    page.offset -= 1
    return true
  }

  private mutating func nextRow() throws -> UInt32? {
    if let row = lookUps?.next() { return row }
    if let lookUps {
      self.lookUps = nil
      if lookUps.isAtEnd { return nil }
      try findRows(after: SortKey(row: lookUps.row))
    }
    guard index != nil else { return rows?.popLast() }
    if index?.isAtEndOfBatch == true { commitCount = query.entry.shared.commitCount }
    return try index?.next()
  }

  // MARK: Sorting

  /// Returns the rows of the saved objects that match, in the order of the query.
  ///
  /// Without an order, rows that an index leads to are not read for this, nor are the rows of all
  /// objects.
  private func rowsInOrder(after: SortKey?) throws -> [UInt32] {
    if query.orders.isEmpty {
      if let rows = try query.rows() {
        return after.map { after in rows.filter { $0 > after.row } } ?? rows
      }
      if let rows = try allRows(after: after) { return rows }
    }
    // No more keys are kept than are wanted.
    let kept = page.wanted > 1 << 40 ? .max : page.wanted
    let most = kept == .max ? .max : max(1024, 4 * kept)
    var found: [SortKey] = []
    try forEachSaved { object in
      let key = SortKey(object, query.orders)
      if let after, !(after < key) { return }
      found.append(key)
      guard found.count > most else { return }
      found.sort()
      found.removeLast(found.count - kept)
    }
    found.sort()
    let isDescending = query.orders.last?.isDescending == true
    return found.map { isDescending ? ~$0.row : $0.row }
  }

  /// Returns all rows in ascending order, or a part of them, if no record has to be read for it.
  private func allRows(
    after start: SortKey?, skipping offset: Int = 0, atMost limit: Int = .max
  ) throws -> [UInt32]? {
    guard query.choice.isCovered else { return nil }
    return try query.store.savedRows(of: query.entry)
      .rows(after: start?.row ?? 0, skipping: offset, atMost: limit)
  }

  private func forEachSaved(_ body: (StoredObject) throws -> Void) throws {
    if let rows = try query.rows() {
      var ahead = RowsAhead(query.store, query.entry)
      for start in stride(from: 0, to: rows.count, by: RowsAhead.greatestCount) {
        ahead.fill(Array(rows[start...].prefix(RowsAhead.greatestCount)))
        while !ahead.isEmpty {
          if let object = try query.nextObject(&ahead) { try body(object) }
        }
      }
      return
    }
    var cursor = RowCursor(query.store, query.entry, keepsObjects: false)
    while let object = try cursor.next() {
      if try !query.unsavedRows.contains(object.rowID) && query.matches(object) {
        try body(object)
      }
    }
  }

  // MARK: In any order

  /// Returns the next object in any order, which may be faster.
  mutating func nextUnordered() throws -> StoredObject? {
    if case .scan = query.choice.access {
      if scan == nil { scan = RowCursor(query.store, query.entry, keepsObjects: false) }
      while let object = try scan?.next() {
        if try query.matches(object) { return object }
      }
      return nil
    }
    return try next()
  }
}
