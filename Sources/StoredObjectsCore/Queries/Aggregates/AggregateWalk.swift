import StoreEngine

/// A walk through the matches of a query in one class, for the values of some properties.
///
/// It reads the keys of an index if one holds all the properties and covers the predicate.
/// Otherwise it reads objects.
struct AggregateWalk {
  let query: Query
  /// The keys to read, or nil if objects are read.
  let part: IndexRanges?

  init(_ query: Query, _ properties: [AnyKeyPath]) throws {
    self.query = query
    let known = properties.map { $0.inherited(by: query.entry.type) }
    part = try query.planner.covering(known)
  }

  /// Creates a walk through the objects that uses no index.
  init(objectsOf query: Query) { (self.query, part) = (query, nil) }

  /// Returns the column of a property in the keys, or nil if it can't be read from them.
  func column<Value: IndexableValue>(
    of property: AnyKeyPath, _: Value.Type, behind other: Int = -1
  ) -> KeyColumn<Value>? {
    let property = property.inherited(by: query.entry.type)
    guard let index = part?.index.declaration, let read = reading(Value.self),
      let position = index.properties.firstIndex(of: property)
    else { return nil }
    return KeyColumn(index, position, behind: other, read)
  }

  /// Returns a closure that reads values from keys.
  ///
  /// References become faults, so no record is read for them.
  private func reading<Value: IndexableValue>(
    _: Value.Type
  ) -> ((inout KeyReader) -> Value?)? {
    guard let type = Value.self as? any ObjectReference.Type else { return keyReading(Value.self) }
    let isOptional = !(type is StoredObject.Type)
    let store = query.store
    return { reader in
      if isOptional, reader.byte() == 0 { return Optional<StoredObject>.none as Any as? Value }
      guard let classID = reader.byte(), let row = reader.number(UInt32.self) else { return nil }
      return store.registration(classID: classID)?.object(row) as? Value
    }
  }

  /// Returns whether the keys are in the order of a column.
  func isOrdered<Value>(by column: KeyColumn<Value>) -> Bool {
    guard let part else { return false }
    return column.position <= part.fixedCount && (part.ranges.count == 1 || column.position == 0)
  }

  /// Calls a closure with the saved keys, except those of rows with other content in the store.
  ///
  /// The closure returns whether to continue.
  func forEachKey(
    in ranges: [KeyRange]? = nil, isReversed: Bool = false, _ body: (inout KeyReader) -> ScanStep
  ) throws(StoreError) {
    guard let part else { return }
    let ranges = ranges ?? part.ranges
    var reader = KeyReader()
    let own = query.own.rows
    let isAlone = query.own.isEmpty
    for range in isReversed ? ranges.reversed() : ranges {
      let isDone = try query.store.backend.scanKeys(
        of: part.index.table, range, isReversed: isReversed
      ) { (key, _) throws(StoreError) in
        if !isAlone, own.contains(RegisteredIndex.row(key)) { return .next }
        reader.show(key)
        return body(&reader)
      }
      if !isDone { return }
    }
  }

  /// Calls a closure with the objects that the keys don't describe.
  ///
  /// These are the objects with other content in the store, or all objects if no keys are read.
  func forEachObject(_ body: (StoredObject) -> Void) throws {
    guard part == nil else {
      for object in query.unsaved where try query.matches(object) { body(object) }
      return
    }
    var walk = QueryWalk(query, limit: nil, offset: 0, after: nil)
    while let object = try walk.nextUnordered() { body(object) }
  }
}

extension QueryPlanner {
  /// Returns the part of an index that covers the query and holds some properties; nil without one.
  func covering(_ properties: [AnyKeyPath]) throws -> IndexRanges? {
    var best: IndexRanges?
    let indexes = try usableIndexes { _ in true }
    for index in indexes where properties.allSatisfy(index.declaration.properties.contains) {
      let part = try ranges(index, condition)
      guard condition?.isTold(by: part.properties) ?? true else { continue }
      // Keys in the order of the first property are worth more than a few keys less.
      let isFirst = index.declaration.properties.first == properties.first
      if best.map({ part.count < $0.count || part.count == $0.count && isFirst }) ?? true {
        best = part
      }
    }
    return best
  }
}
