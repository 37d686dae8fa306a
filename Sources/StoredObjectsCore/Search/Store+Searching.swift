import StoreEngine

extension Store {
  /// Searches the full-text attributes of a class, the best match first.
  ///
  ///     for hit in try store.search(Song.self, "choi* AND NOT rock", limit: 20) {
  ///       print(hit.object.title, hit.snippet.marked("*"))
  ///     }
  ///
  /// See ``TextQuery/init(parsing:)`` for what may be in a query, and <doc:FullTextSearch> for what
  /// matches what. Unsaved changes are seen. Objects with the same score are in the order of their
  /// rows.
  ///
  /// Complexity: linear in the number of matches, and in how often the letters of the query are in
  /// the texts, three at a time. One or two letters are looked for in all threes that begin with
  /// them. An index that is missing or stale is made first; a store that can't be written is read
  /// from one end to the other instead.
  ///
  /// - Parameters:
  ///   - type: The class; objects of subclasses are not searched.
  ///   - query: What to search for.
  ///   - attributes: The names of the attributes that count; nil for all.
  ///   - limit: At most so many hits are returned, and objects read.
  ///   - offset: So many of the best hits are left out.
  /// - Returns: The hits, as ``SearchHit/score`` orders them.
  /// - Precondition: the class has ``StoredObject/fullTextAttributes``.
  /// - Throws: ``StoreError`` with `invalidQuery`, `invalidArgument` (a negative limit or offset,
  ///   or a name that is none of the attributes), `notRegistered`, or what reading an object
  ///   throws.
  public func search<Object: StoredObject>(
    _ type: Object.Type, _ query: String, in attributes: [String]? = nil, limit: Int = .max,
    offset: Int = 0
  ) throws(StoreError) -> [SearchHit<Object>] {
    try search(
      type, TextQuery(parsing: query), in: attributes, limit: limit, offset: offset)
  }

  /// Searches for a query that is made in Swift, see the other `search`.
  ///
  /// - Precondition: as there.
  /// - Throws: ``StoreError`` as there, but never `invalidQuery`.
  public func search<Object: StoredObject>(
    _ type: Object.Type, _ query: TextQuery, in attributes: [String]? = nil, limit: Int = .max,
    offset: Int = 0
  ) throws(StoreError) -> [SearchHit<Object>] {
    let (entry, compiled, names) = try prepareSearch(type, query, attributes)
    try entry.requirePage(limit: limit, offset: offset)
    let best = try bestRows(entry, compiled, names, limit.addingSaturated(offset))
    let rows = Array(best.sorted().dropFirst(offset))
    let objects = try objects(rows, entry)
    let search = HitSearch(compiled, names)
    var hits: [SearchHit<Object>] = []
    hits.reserveCapacity(rows.count)
    for (row, object) in zip(rows, objects) {
      guard let object = object as? Object else { continue }
      hits.append(SearchHit(object: object, score: row.score, search: search))
    }
    return hits
  }

  /// The objects of rows, in their order; they are read in that of their file, which is quicker.
  private func objects(
    _ rows: [BestRows.Row], _ entry: RegisteredClass
  ) throws(StoreError) -> [StoredObject?] {
    var objects = [StoredObject?](repeating: nil, count: rows.count)
    // A row and its place in one number: numbers are sorted in no time.
    let order = rows.indices.map { UInt64(rows[$0].row) << 32 | UInt64($0) }.sorted()
    for number in order {
      let index = Int(number & 0xFFFF_FFFF)
      objects[index] = try object(entry, rowID: rows[index].row)
    }
    return objects
  }

  /// The number of objects that a search would find, without a limit; none is read.
  ///
  /// Complexity: that of ``search(_:_:in:limit:offset:)-(_,String,_,_,_)``.
  ///
  /// - Precondition: as there.
  /// - Throws: ``StoreError`` as there.
  public func searchCount<Object: StoredObject>(
    _ type: Object.Type, _ query: TextQuery, in attributes: [String]? = nil
  ) throws(StoreError) -> Int {
    let (entry, compiled, names) = try prepareSearch(type, query, attributes)
    return try bestRows(entry, compiled, names, 0).count
  }

  private func prepareSearch(
    _ type: StoredObject.Type, _ query: TextQuery, _ names: [String]?
  ) throws(StoreError) -> (RegisteredClass, CompiledQuery, [Int]) {
    let entry = try requireRegistration(of: type)
    guard let text = entry.fullText else {
      preconditionFailure("\(type) has no fullTextAttributes.")
    }
    let all = text.attributes.map(\.name)
    var numbers: [Int] = []
    for name in names ?? all {
      guard let number = all.firstIndex(of: name) else {
        throw StoreError(
          .invalidArgument, "There is no full-text attribute \"\(name)\": give one of \(all).",
          at: entry.location())
      }
      numbers.append(number)
    }
    return (entry, CompiledQuery(query), Array(Set(numbers)).sorted())
  }

  // MARK: Looking up

  private func bestRows(
    _ entry: RegisteredClass, _ query: CompiledQuery, _ attributes: [Int], _ limit: Int
  ) throws(StoreError) -> BestRows {
    guard let text = entry.fullText, !query.isEmpty, !attributes.isEmpty else {
      return BestRows(limit)
    }
    let search = TextSearch(query, text, attributes)
    do {
      do {
        return try indexed(search, entry, text, limit) ?? scanned(search, entry, text, limit)
      } catch let error as StoreError where error.isOfIndex {
        if backend.isReadOnly { return try scanned(search, entry, text, limit) }
        try backend.coordinator.whileCommitting { try rebuildText(of: entry, text) }
        return try indexed(search, entry, text, limit) ?? BestRows(limit)
      }
    } catch { throw .wrapping(error, .ioError, at: entry.location()) }
  }

  /// What the index finds; nil when there is none and none can be made.
  private func indexed(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws -> BestRows? {
    if try !text.isUsable(entry, backend) {
      if backend.isReadOnly { return nil }
      try backend.coordinator.whileCommitting { try buildTextIfNeeded(of: entry, text) }
    }
    // A save of another store in between would be seen in part.
    for _ in 0..<3 {
      let before = try text.counts(backend)
      let best = try indexedOnce(search, entry, text, limit)
      if try text.counts(backend) == before { return best }
    }
    var best = BestRows(limit)
    settleRelationships()
    try backend.coordinator.whileCommitting {
      best = try indexedOnce(search, entry, text, limit)
    }
    return best
  }

  private func indexedOnce(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws -> BestRows {
    var best = BestRows(limit)
    let own = OwnContents(self, entry)
    try search.run(
      backend, without: own.rows, unsaved: own.objects.map { ($0.rowID, text.texts(of: $0)) },
      into: &best)
    return best
  }

  /// What a look at all objects finds.
  private func scanned(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws -> BestRows {
    var best = BestRows(limit)
    try search.run(
      over: { body in
        var cursor = RowCursor(self, entry, keepsObjects: false)
        while let object = try cursor.next() { body(object.rowID, text.texts(of: object)) }
      }, into: &best)
    return best
  }
}
