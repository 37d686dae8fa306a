import StoreEngine

/// A grouping of the objects that a query finds, built class by class.
struct Grouping<Object: StoredObject, Value: IndexableValue, Number: SummableValue> {
  let property: KeyPath<Object, Value>
  /// The property to sum up, or nil if objects are only counted.
  let number: KeyPath<Object, Number>?
  private var table = GroupTable()
  /// The value of each group.
  private var values: [Value] = []

  init(by property: KeyPath<Object, Value>, _ number: KeyPath<Object, Number>?) {
    (self.property, self.number) = (property, number)
  }

  /// Adds the objects that a query finds.
  mutating func add(_ query: Query) throws {
    let properties: [AnyKeyPath] = [property] + (number.map { [$0] } ?? [])
    var walk = try AggregateWalk(query, properties)
    let before = self
    if try !addKeys(walk) {
      self = before
      walk = AggregateWalk(objectsOf: query)
    }
    try walk.forEachObject { add($0) }
  }

  private mutating func add(_ object: StoredObject) {
    guard let object = object as? Object else { return }
    let value = object[keyPath: property]
    if table.meet(IndexKey(value).bytes) { values.append(value) }
    table.addToLast()
    if let number, let number = object[keyPath: number].summand { table.addNumberToLast(number) }
  }

  /// Returns the groups in the order of their values.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notEvaluable`.
  func sorted(_ entry: RegisteredClass) throws(StoreError) -> [QueryGroup<Value, Number.Sum>] {
    let order = table.keys.indices.sorted {
      table.keys[$0].lexicographicallyPrecedes(table.keys[$1])
    }
    let (counts, numbers) = table.contents()
    return try order.map { (place) throws(StoreError) in
      QueryGroup(
        value: values[place], count: counts[place],
        numbers: try numbers[place].numbers(Number.Sum.self, entry))
    }
  }

  // MARK: Keys

  /// Adds the keys of a walk; returns false if they can't be read.
  private mutating func addKeys(_ walk: AggregateWalk) throws -> Bool {
    guard let column = walk.column(of: property, Value.self) else { return false }
    guard let number else {
      if walk.query.own.savedRows.isEmpty, walk.isOrdered(by: column) {
        return try countGroups(walk, column)
      }
      return try addEachKey(walk, column, nil)
    }
    guard let found = walk.column(of: number, Number.self, behind: column.position),
      let numbers = NumberColumn(found)
    else { return false }
    return try addEachKey(walk, column, numbers)
  }

  /// Adds keys one by one; returns false if one can't be read.
  private mutating func addEachKey(
    _ walk: AggregateWalk, in ranges: [KeyRange]? = nil, _ column: KeyColumn<Value>,
    _ numbers: NumberColumn?
  ) throws -> Bool {
    var isReadable = true
    let skips = column.skips
    try walk.forEachKey(in: ranges) { reader in
      // Generic code is run for the first key of a group only.
      var outcome = table.add(&reader, skipping: skips, numbers)
      if outcome == .otherGroup {
        outcome =
          meetGroup(&reader, column) ? table.addToLast(&reader, numbers) : .unreadable
      }
      isReadable = outcome == .added
      return isReadable ? .next : .pause
    }
    return isReadable
  }

  /// Selects the group of a key, whose value comes next.
  private mutating func meetGroup(_ reader: inout KeyReader, _ column: KeyColumn<Value>) -> Bool {
    let start = reader.offset
    guard let value = column.value(&reader) else { return false }
    if table.meet(Array(reader.bytes[start..<reader.offset])) { values.append(value) }
    return true
  }

  // MARK: Whole groups

  /// The size below which groups are counted key by key.
  private static var smallGroup: Int { 32 }
  /// The number of groups after which their size is estimated.
  private static var sampleCount: Int { 64 }

  /// Counts the keys of whole groups without reading each key.
  ///
  /// Returns false if a key can't be read. If another save happens meanwhile, counts each key
  /// instead.
  private mutating func countGroups(
    _ walk: AggregateWalk, _ column: KeyColumn<Value>
  ) throws -> Bool {
    guard let part = walk.part else { return false }
    let shared = walk.query.entry.shared
    let (commitCount, start) = (shared.commitCount, self)
    var (groupCount, keyCount) = (0, 0)
    for (number, range) in part.ranges.enumerated() {
      var rest = range
      while !rest.isEmpty {
        if groupCount >= Self.sampleCount, keyCount < groupCount * Self.smallGroup {
          return try addEachKey(
            walk, in: [rest] + part.ranges[(number + 1)...], column, nil)
        }
        guard let group = try nextGroup(walk, rest, column) else { return false }
        guard let end = group.end else { break }
        let count = try walk.query.store.backend.keyCount(
          in: part.index.table, KeyRange(from: rest.from, to: end))
        table.addToLast(count: count)
        (groupCount, keyCount) = (groupCount + 1, keyCount + count)
        rest.from = end
      }
    }
    if commitCount == shared.commitCount { return true }
    self = start
    return try addEachKey(walk, column, nil)
  }

  /// Selects the group of the first key in a range, and returns the end of the group in the range.
  ///
  /// Returns nil if the key can't be read, and a nil end if the range has no key.
  private mutating func nextGroup(
    _ walk: AggregateWalk, _ range: KeyRange, _ column: KeyColumn<Value>
  ) throws -> (end: [UInt8]?, Void)? {
    var isReadable = true
    var prefix: [UInt8]?
    try walk.forEachKey(in: [range]) { reader in
      isReadable = column.find(&reader) && meetGroup(&reader, column)
      prefix = Array(reader.bytes[..<reader.offset])
      return .pause
    }
    guard isReadable else { return nil }
    guard let prefix else { return (nil, ()) }
    let end = KeyRange.end(ofPrefix: prefix)
    guard let end, let to = range.to, to.lexicographicallyPrecedes(end) else { return (end, ()) }
    return (to, ())
  }
}
