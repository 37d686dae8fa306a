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
  ///   - type: The class.
  ///   - includingSubclasses: Whether objects of registered subclasses are searched, too. Each class
  ///     has an index of its own, and scores compare a text with those of its class.
  ///   - query: What to search for.
  ///   - attributes: The names of the attributes that count; nil for all.
  ///   - limit: At most so many hits are returned, and objects read.
  ///   - offset: So many of the best hits are left out.
  /// - Returns: The hits, as ``SearchHit/score`` orders them.
  /// - Precondition: the class has ``StoredObject/fullTextAttributes``.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidQuery`, `invalidArgument` (a negative limit
  ///   or offset, or a name that is none of the attributes), `notRegistered`, or what reading an
  ///   object throws.
  public func search<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false, _ query: String,
    in attributes: [String]? = nil, limit: Int = .max, offset: Int = 0
  ) throws(StoreError) -> [SearchHit<Object>] {
    try search(
      type, includingSubclasses: includingSubclasses, TextQuery(parsing: query), in: attributes,
      limit: limit, offset: offset)
  }

  /// Searches for a query that is made in Swift, see the other `search`.
  ///
  /// - Precondition: as there.
  /// - Throws: ``/StoreEngine/StoreError`` as there, but never `invalidQuery`.
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

  /// The hits of a search, whatever the class.
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

  /// The hits with their objects, in the order that they have.
  ///
  /// The objects of a class are read in the order of their file, which is quicker.
  private func found(_ best: [ClassHits]) throws(StoreError) -> [FoundObject] {
    let count = best.reduce(0) { $0 + $1.rows.count }
    guard let first = best.first, count > 0 else { return [] }
    let nothing = FoundObject(object: nil, score: 0, search: first.search)
    var found = [FoundObject](repeating: nothing, count: count)
    for part in best {
      // A row and its place in one number: numbers are sorted in no time.
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

  /// The number of objects that a search would find, without a limit; none is read.
  ///
  /// Complexity: that of ``search(_:includingSubclasses:_:in:limit:offset:)-(_,_,String,_,_,_)``.
  ///
  /// - Precondition: as there.
  /// - Throws: ``/StoreEngine/StoreError`` as there.
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

  /// The classes that are searched, all of which have texts.
  private func searchedClasses(
    _ type: StoredObject.Type, _ includingSubclasses: Bool
  ) throws(StoreError) -> [RegisteredClass] {
    let entries = try registrations(of: type, includingSubclasses: includingSubclasses)
      .filter { $0.fullText != nil }
    precondition(!entries.isEmpty, "\(type) has no fullTextAttributes.")
    return entries
  }

  /// The numbers of the attributes that count.
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

  /// What the index finds; nil when there is none and none can be made.
  private func indexed(
    _ search: TextSearch, _ entry: RegisteredClass, _ text: RegisteredText, _ limit: Int
  ) throws(StoreError) -> BestRows? {
    if try !text.isUsable(entry, backend) {
      guard try backend.canCommit() else { return nil }
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        try buildTextIfNeeded(of: entry, text)
      }
    }
    // A save of another store in between would be seen in part.
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

  /// What a look at all objects finds.
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
  /// Where each stands among the hits of all classes; nil where there is one class.
  var positions: [Int]?

  /// The hits of a page.
  static func best(of parts: [ClassHits], _ offset: Int, _ limit: Int) -> [ClassHits] {
    var parts = parts
    if parts.count == 1 {
      parts[0].rows = Array(parts[0].rows.dropFirst(offset))
      return parts
    }
    var order: [(part: Int, row: BestRows.Row)] = []
    for (number, part) in parts.enumerated() { order += part.rows.map { (number, $0) } }
    // The order of classes with the same score is that of their registration.
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
