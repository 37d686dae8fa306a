import FoundationEssentials

/// Walks through the objects that a query finds, one by one.
///
///     var cursor = try store.cursor(over: Song.self, where: #Predicate { $0.seconds > 200 })
///     while let song = try cursor.next() { print(song.title) }
///
/// Where an index gives the order, or none is asked for, it holds some hundred row numbers or, for the
/// latter, four bytes for each object that an index leads to; otherwise the keys of all objects that are
/// found, to sort them. Objects are made as they are asked for, and held by nobody but you.
///
/// Unsaved changes count as they are when the walk begins; what is saved meanwhile may be found or not,
/// but no object comes twice, unless a save moves it to a place that is still to come.
public struct QueryCursor<Object: StoredObject> {
  private let query: Query<Object>
  private let after: SortKey?
  private var offset: Int
  private var left: Int
  private var source: Source
  /// Unsaved objects that match and come later, the next one last.
  private var unsaved: [(key: SortKey, object: Object)] = []
  /// What comes from the source next, when an unsaved object came before it.
  private var waiting: (key: SortKey, object: Object)?

  private enum Source {
    case notBegun
    /// In the order of an index, which is that of the query.
    case walk(IndexWalk)
    /// Rows in the order of the query, the next one last.
    case rows([UInt32])
    case end
  }

  init(_ query: Query<Object>, limit: Int?, offset: Int, after: Object?) {
    self.query = query
    self.after = after.map { SortKey($0, query.orders) }
    (self.offset, left, source) = (offset, limit ?? .max, .notBegun)
    if query.choice.isOrdered, case .index(let part) = query.choice.access {
      var walk = IndexWalk(query.store.backend, part, isReversed: query.choice.isReversed)
      if let after, let key = part.index.keys(of: after).first { walk.goOn(after: key) }
      source = .walk(walk)
    }
  }

  /// The next object, or nil at the end.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `newerVersion`, `notEvaluable`, `ioError` or `closed`.
  public mutating func next() throws(StoreError) -> Object? {
    do {
      while left > 0, let object = try nextInOrder() {
        if offset > 0 {
          offset -= 1
          continue
        }
        left -= 1
        return object
      }
      return nil
    } catch {
      throw .wrapping(error, .ioError, at: query.entry.place())
    }
  }

  // MARK: Saved and unsaved

  private var hasUnsaved = false

  private mutating func begin() throws {
    if hasUnsaved { return }
    hasUnsaved = true
    unsaved = try query.unsaved.filter { try query.matches($0) }
      .map { (SortKey($0, query.orders), $0) }
      .filter { entry in after.map { $0 < entry.key } ?? true }
      .sorted { $1.key < $0.key }
    if case .notBegun = source {
      source = .rows(try rowsInOrder().reversed())
    }
  }

  private mutating func nextInOrder() throws -> Object? {
    try begin()
    guard let first = unsaved.last else { return try takeWaiting() ?? nextSaved() }
    if waiting == nil, let object = try nextSaved() {
      waiting = (SortKey(object, query.orders), object)
    }
    guard let waiting, waiting.key < first.key else { return unsaved.removeLast().object }
    return takeWaiting()
  }

  private mutating func takeWaiting() -> Object? {
    defer { waiting = nil }
    return waiting?.object
  }

  private mutating func nextSaved() throws -> Object? {
    while let row = try nextRow() {
      if query.unsavedRows.contains(row) { continue }
      if skipsUnread() { continue }
      if let object = try query.object(row) { return object }
    }
    return nil
  }

  /// Whether a row is passed over that the index says to be one, without reading it.
  private mutating func skipsUnread() -> Bool {
    guard offset > 0, query.choice.isCovered, query.choice.isOrdered, query.unsaved.isEmpty else {
      return false
    }
    offset -= 1
    return true
  }

  private mutating func nextRow() throws -> UInt32? {
    switch source {
    case .walk(var walk):
      let row = try walk.next()
      source = .walk(walk)
      return row
    case .rows(var rows):
      source = .end
      let row = rows.popLast()
      source = .rows(rows)
      return row
    case .notBegun, .end: return nil
    }
  }

  // MARK: Sorting

  /// The rows of the saved objects that match, in the order of the query.
  ///
  /// Without an order, rows that an index leads to are not read for it.
  private func rowsInOrder() throws -> [UInt32] {
    if query.orders.isEmpty, let rows = try query.rows() {
      guard let after else { return rows }
      return rows.filter { $0 > after.row }
    }
    // No more are kept than are wanted.
    let wanted = left == .max ? .max : max(1024, 4 * (left + offset))
    var found: [SortKey] = []
    try forEachSaved { object in
      let key = SortKey(object, query.orders)
      if let after, !(after < key) { return }
      found.append(key)
      guard found.count > wanted else { return }
      found.sort()
      found.removeLast(found.count - (left + offset))
    }
    found.sort()
    let isDescending = query.orders.last?.isDescending == true
    return found.map { isDescending ? ~$0.row : $0.row }
  }

  private func forEachSaved(_ body: (Object) throws -> Void) throws {
    if let rows = try query.rows() {
      for row in rows { if let object = try query.object(row) { try body(object) } }
      return
    }
    var cursor = RowCursor(query.store, query.entry, keepsObjects: false)
    while let object = try cursor.next() {
      guard !query.unsavedRows.contains(object.rowID), let object = object as? Object,
        try query.matches(object)
      else { continue }
      try body(object)
    }
  }

  // MARK: In no order

  /// The next object in no order, where that is quicker.
  private var scan: RowCursor?

  mutating func nextUnordered() throws -> Object? {
    if case .scan = query.choice.access {
      var cursor = scan ?? RowCursor(query.store, query.entry, keepsObjects: false)
      defer { scan = cursor }
      while let object = try cursor.next() {
        if let object = object as? Object, try query.matches(object) { return object }
      }
      return nil
    }
    return try next()
  }
}
