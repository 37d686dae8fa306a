import StoreEngine

extension Store {
  /// Searches the full-text attributes of a class, and returns the best match first.
  ///
  ///     for hit in try store.search(Song.self, "choi* AND NOT rock", limit: 20) {
  ///       print(hit.object.title, hit.snippet.marked("*"))
  ///     }
  ///
  /// See ``TextQuery/init(parsing:)`` for the query language, and <doc:FullTextSearch> for the
  /// rules of matching. The result includes unsaved changes. Objects with the same score are in row
  /// order.
  ///
  /// Complexity: Linear in the number of matches, and in the number of times the trigrams of the
  /// query occur in the texts. One or two letters read all trigrams that begin with them. An index
  /// that is missing or stale is built first. If the store is read-only, all objects are read
  /// instead.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - includingSubclasses: Whether to search objects of registered subclasses, too. Each class
  ///     has its own index, and scores compare a text with those of its class.
  ///   - query: The text to parse as a query.
  ///   - attributes: The names of the attributes to search; nil for all.
  ///   - limit: The maximum number of hits to return and objects to read.
  ///   - offset: The number of best hits to skip.
  /// - Returns: The hits, by descending ``SearchHit/score``.
  /// - Precondition: The class has ``StoredObject/fullTextAttributes``.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidQuery`, `invalidArgument` (a negative limit
  ///   or offset, or an unknown attribute), `notRegistered`, and the errors of reading an object.
  public func search<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false, _ query: String,
    in attributes: [String]? = nil, limit: Int = .max, offset: Int = 0
  ) throws(StoreError) -> [SearchHit<Object>] {
    try search(
      type, includingSubclasses: includingSubclasses, TextQuery(parsing: query), in: attributes,
      limit: limit, offset: offset)
  }

  /// Searches with a query that you compose in Swift; otherwise the same as the other `search`.
  ///
  /// Complexity: as the other `search`.
  ///
  /// - Precondition: As for the other `search`.
  /// - Throws: The errors of the other `search`, except `invalidQuery`.
  @inlinable public func search<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false, _ query: TextQuery,
    in attributes: [String]? = nil, limit: Int = .max, offset: Int = 0
  ) throws(StoreError) -> [SearchHit<Object>] {
    let found = try foundObjects(
      type, includingSubclasses: includingSubclasses, query, in: attributes, limit: limit,
      offset: offset)
    var hits: [SearchHit<Object>] = []
    hits.reserveCapacity(found.count)
    for found in found {
      guard let object = found.object as? Object else { continue }
      hits.append(SearchHit(object: object, score: found.score, search: found.search))
    }
    return hits
  }

  /// Returns the hits of a search in any class.
  @usableFromInline func foundObjects(
    _ type: StoredObject.Type, includingSubclasses: Bool, _ query: TextQuery,
    in attributes: [String]?, limit: Int, offset: Int
  ) throws(StoreError) -> [FoundObject] {
    let compiled = CompiledQuery(query)
    var parts: [ClassHits] = []
    for entry in try searchedClasses(type, includingSubclasses) {
      try entry.requirePage(limit: limit, offset: offset)
      let names = try attributeNumbers(attributes, of: entry)
      let best = try bestRows(entry, compiled, names, limit.addingSaturated(offset))
      parts.append(
        ClassHits(entry: entry, search: HitSearch(compiled, names), rows: best.sorted()))
    }
    return try found(ClassHits.best(of: parts, offset, limit))
  }

  /// Returns the hits with their objects, in the order of the hits.
  ///
  /// The objects of a class are read in file order, which is faster.
  private func found(_ best: [ClassHits]) throws(StoreError) -> [FoundObject] {
    let count = best.reduce(0) { $0 + $1.rows.count }
    guard let first = best.first, count > 0 else { return [] }
    let nothing = FoundObject(object: nil, score: 0, search: first.search)
    var found = [FoundObject](repeating: nothing, count: count)
    for part in best {
      // Row and position are packed into one number, which sorts fast.
      let order = part.rows.indices.map { UInt64(part.rows[$0].row) << 32 | UInt64($0) }.sorted()
      var ahead = RowsAhead(self, part.entry)
      for (number, place) in order.enumerated() {
        if ahead.isEmpty {
          let next = order[number...].prefix(RowsAhead.greatestCount)
          ahead.fill(next.map { UInt32($0 >> 32) })
        }
        guard let object = try ahead.takeObject() else { continue }
        let index = Int(place & 0xFFFF_FFFF)
        found[part.positions?[index] ?? index] =
          FoundObject(object: object, score: part.rows[index].score, search: part.search)
      }
    }
    return found
  }

  /// Returns the number of objects that a search finds, without a limit; reads no object.
  ///
  /// Complexity: That of ``search(_:includingSubclasses:_:in:limit:offset:)-(_,_,String,_,_,_)``.
  ///
  /// - Precondition: As for `search`.
  /// - Throws: The errors of `search`.
  public func searchCount<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false, _ query: TextQuery,
    in attributes: [String]? = nil
  ) throws(StoreError) -> Int {
    let compiled = CompiledQuery(query)
    var count = 0
    for entry in try searchedClasses(type, includingSubclasses) {
      count += try bestRows(entry, compiled, attributeNumbers(attributes, of: entry), 0).count
    }
    return count
  }

  /// Returns the classes to search, all of which have full-text attributes.
  private func searchedClasses(
    _ type: StoredObject.Type, _ includingSubclasses: Bool
  ) throws(StoreError) -> [RegisteredClass] {
    let entries = try registrations(of: type, includingSubclasses: includingSubclasses)
      .filter { $0.fullText != nil }
    precondition(!entries.isEmpty, "\(type) has no fullTextAttributes.")
    return entries
  }

  /// Returns the numbers of the attributes to search.
  private func attributeNumbers(
    _ names: [String]?, of entry: RegisteredClass
  ) throws(StoreError) -> [Int] {
    let all = entry.fullText?.attributes.map(\.name) ?? []
    var numbers: [Int] = []
    for name in names ?? all {
      guard let number = all.firstIndex(of: name) else {
        throw StoreError(
          .invalidArgument, "There is no full-text attribute \"\(name)\": give one of \(all).",
          at: entry.location())
      }
      numbers.append(number)
    }
    return Array(Set(numbers)).sorted()
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
        guard try backend.canCommit() else { return try scanned(search, entry, text, limit) }
        try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
          try rebuildText(of: entry, text)
        }
        return try indexed(search, entry, text, limit) ?? BestRows(limit)
      }
    } catch { throw .wrapping(error, .ioError, at: entry.location()) }
  }

  /// Returns the rows that the index finds; nil if there is no index and none can be built.
  private func indexed(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws(StoreError) -> BestRows? {
    if try !text.isUsable(entry, backend) {
      guard try backend.canCommit() else { return nil }
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        try buildTextIfNeeded(of: entry, text)
      }
    }
    // A save of another store in between would be seen in part, so the search is repeated.
    for _ in 0..<3 {
      let before = try text.counts(backend)
      let best = try indexedOnce(search, entry, text, limit)
      if try text.counts(backend) == before { return best }
    }
    var best = BestRows(limit)
    settleRelationships()
    try backend.coordinator.whileCommitting { () throws(StoreError) in
      best = try indexedOnce(search, entry, text, limit)
    }
    return best
  }

  private func indexedOnce(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws(StoreError) -> BestRows {
    var best = BestRows(limit)
    let own = OwnContents(self, entry)
    try search.run(
      backend, without: own.rows, unsaved: own.objects.map { ($0.rowID, text.texts(of: $0)) },
      into: &best)
    return best
  }

  /// Returns the rows that a scan of all objects finds.
  private func scanned(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws(StoreError) -> BestRows {
    var best = BestRows(limit)
    try search.run(
      over: { (body) throws(StoreError) in
        var cursor = RowCursor(self, entry, keepsObjects: false)
        while let object = try cursor.next() { body(object.rowID, text.texts(of: object)) }
      }, into: &best)
    return best
  }
}

/// The hits of a search in one class.
private struct ClassHits {
  let entry: RegisteredClass
  let search: HitSearch
  /// The rows, the best first.
  var rows: [BestRows.Row]
  /// The position of each hit among those of all classes; nil if there is one class.
  var positions: [Int]?

  /// Returns the hits of a page.
  static func best(of parts: [ClassHits], _ offset: Int, _ limit: Int) -> [ClassHits] {
    var parts = parts
    if parts.count == 1 {
      parts[0].rows = Array(parts[0].rows.dropFirst(offset))
      return parts
    }
    var order: [(part: Int, row: BestRows.Row)] = []
    for (number, part) in parts.enumerated() { order += part.rows.map { (number, $0) } }
    // Among classes, hits with the same score are in order of registration.
    order.sort {
      $0.row.score == $1.row.score && $0.part != $1.part
        ? $0.part < $1.part : $0.row.isBefore($1.row)
    }
    for index in parts.indices { (parts[index].rows, parts[index].positions) = ([], []) }
    for (position, hit) in order.dropFirst(offset).prefix(limit).enumerated() {
      parts[hit.part].rows.append(hit.row)
      parts[hit.part].positions?.append(position)
    }
    return parts
  }
}
