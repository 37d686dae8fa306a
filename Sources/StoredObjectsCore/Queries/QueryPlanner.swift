import StoreEngine

/// A planner that chooses the cheapest way to answer a query.
struct QueryPlanner {
  let store: Store
  let entry: RegisteredClass
  let condition: Condition?
  /// The properties to sort by and their common direction; no properties if it differs.
  let order: (properties: [AnyKeyPath], isDescending: Bool)?
  /// The number of objects that are wanted, skipped ones included.
  let limit: Int?
  /// The number of these that need no reading if an index provides the order.
  var unreadCount = 0
  /// Whether the query asks for the number of objects only.
  let isCounting: Bool
  /// Whether the plan is only shown, so that nothing may be written for it.
  let isExplained: Bool

  /// A way to answer the query, and its cost.
  struct Choice {
    var access: QueryAccess = .scan
    var touchedCount: Int
    var isOrdered = false
    var isReversed = false
    var isCovered = false
    var cost: Int
    /// The names of the indexes that may help and have to be built first.
    var missing: [String] = []
    /// The number of records in the class, if the query may read all of them.
    var recordCount = 0
  }

  /// The relative costs of: a scanned record, a looked-up record, a key, a sorted record.
  private static let (recordCost, lookUpCost, keyCost, sortCost) = (10, 30, 2, 10)
  /// The cost of starting a scan.
  private static let scanCost = 160

  /// Returns the number of look-ups that take half the time of a scan of the class.
  static func lookUpBudget(for recordCount: Int) -> Int {
    (recordCount * recordCost + scanCost) / (2 * lookUpCost) + 1
  }

  func choose() throws -> Choice {
    let count = max(0, try store.backend.recordCount(in: entry.table) - 1)
    var best = Choice(
      touchedCount: count, isCovered: condition == nil,
      cost: count * (Self.recordCost + (order == nil ? 0 : Self.sortCost)) + Self.scanCost)
    best.recordCount = count
    if order == nil, condition == nil, !isCounting, let limit,
      limit <= Self.lookUpBudget(for: count)
    {
      best.touchedCount = min(count, limit)
      best.cost = min(best.cost, limit * Self.lookUpCost)
    }
    let indexes = try usableIndexes {
      condition?.values(of: $0) != nil || order?.properties.first == $0
    }
    if let choice = choiceByOrder(indexes, cheaperThan: best.cost) { return choice }
    let parts = try indexes.map { try ranges($0, condition) }
    for part in parts {
      let choice = choice(part)
      if choice.cost < best.cost { best = choice }
    }
    for part in try elements(condition) {
      let choice = several(
        .union([part]), keyCount: part.count, recordCount: part.count, part.count,
        isCovered: condition?.isElement ?? false)
      if choice.cost < best.cost { best = choice }
    }
    if let union = try union(), union.cost < best.cost { best = union }
    if let both = intersection(parts, of: count), both.cost < best.cost { best = both }
    if isExplained { best.missing = try missingIndexes() }
    return best
  }

  /// Returns a plan that reads only the wanted objects in their order; nil if no index has them so.
  ///
  /// No other plan reads fewer records, so the keys in its ranges need not be counted.
  private func choiceByOrder(_ indexes: [RegisteredIndex], cheaperThan cost: Int) -> Choice? {
    guard let limit, order != nil, !isCounting, !isExplained, limit < cost / Self.lookUpCost else {
      return nil
    }
    for index in indexes {
      let choice = choice(ranges(index, condition, count: limit))
      if choice.isOrdered, choice.isCovered { return choice }
    }
    return nil
  }

  /// Returns the indexes that may help by their first property and exist or can be built.
  func usableIndexes(
    where mayHelp: (AnyKeyPath) -> Bool
  ) throws -> [RegisteredIndex] {
    try entry.indexes.filter { index in
      guard let first = index.declaration.properties.first, !index.declaration.isMultiple,
        mayHelp(first)
      else { return false }
      return try isUsable(index)
    }
  }

  private func isUsable(_ index: RegisteredIndex) throws -> Bool {
    try isExplained ? store.isReadable(index, of: entry) : store.prepare(index, of: entry)
  }

  /// Returns the part of an index for each condition about elements of a list.
  private func elements(_ condition: Condition?) throws -> [IndexRanges] {
    switch condition {
    case .element(let list, let values):
      let index = entry.indexes.first {
        $0.declaration.isMultiple && $0.declaration.properties.first == list
      }
      guard let index, try isUsable(index) else { return [] }
      let ranges = values.prefixed([RegisteredIndex.mark])
      let count = try ranges.reduce(0) { $0 + (try store.backend.keyCount(in: index.table, $1)) }
      return [
        IndexRanges(index: index, ranges: ranges, count: count, properties: [], fixedCount: 0)
      ]
    case .all(let parts): return try parts.flatMap { try elements($0) }
    case .values, .any, .other, nil: return []
    }
  }

  /// Returns the names of the indexes that the query would build.
  private func missingIndexes() throws -> [String] {
    guard try store.backend.canCommit() else { return [] }
    let conditions = [condition].compactMap(\.self) + (condition?.alternatives ?? [])
    return try entry.indexes.filter { index in
      guard let first = index.declaration.properties.first else { return false }
      let isAsked =
        index.declaration.isMultiple
        ? conditions.contains { $0.asksElements(of: first) }
        : order?.properties.first == first || conditions.contains { $0.values(of: first) != nil }
      guard isAsked else { return false }
      return try !store.isReadable(index, of: entry)
    }.map(\.declaration.name)
  }

  private func choice(_ part: IndexRanges) -> Choice {
    var choice = Choice(
      access: .index(part), touchedCount: part.count,
      isCovered: condition?.isTold(by: part.properties) ?? true, cost: 0)
    if let order, isOrdered(part, order.properties) {
      (choice.isOrdered, choice.isReversed) = (true, order.isDescending)
      if choice.isCovered, let limit { choice.touchedCount = min(part.count, limit) }
    }
    // A count reads one page at each end of a range.
    if isCounting, choice.isCovered { choice.touchedCount = 2 * part.ranges.count }
    let unread = choice.isOrdered && choice.isCovered ? min(unreadCount, choice.touchedCount) : 0
    choice.cost = (choice.touchedCount - unread) * Self.lookUpCost + unread * Self.keyCost
    if order != nil, !choice.isOrdered { choice.cost += part.count * Self.sortCost }
    return choice
  }

  private func isOrdered(_ part: IndexRanges, _ properties: [AnyKeyPath]) -> Bool {
    // Ties are in row order only after the last property of an index.
    !properties.isEmpty
      && (part.index.declaration.properties.dropFirst(part.fixedCount).elementsEqual(properties)
        || part.index.declaration.properties.elementsEqual(properties))
  }

  /// Returns the parts of an index that a condition allows.
  func ranges(_ index: RegisteredIndex, _ condition: Condition?) throws -> IndexRanges {
    var part = ranges(index, condition, count: 0)
    part.count = try part.ranges.reduce(0) {
      $0 + (try store.backend.keyCount(in: index.table, $1))
    }
    return part
  }

  /// Returns the parts of an index that a condition allows, with an estimate of the number of keys.
  private func ranges(
    _ index: RegisteredIndex, _ condition: Condition?, count: Int
  ) -> IndexRanges {
    var prefixes: [[UInt8]] = [[RegisteredIndex.mark]]
    var ranges: [KeyRange]?
    var properties: [AnyKeyPath] = []
    var fixedCount = 0
    var fixedPrefix = prefixes[0]
    for property in index.declaration.properties {
      guard let values = condition?.values(of: property) else { break }
      properties.append(property)
      if let points = values.points, points.count * prefixes.count <= 1000 {
        let isFixed = points.count == 1 && prefixes.count == 1
        prefixes = prefixes.flatMap { prefix in points.map { prefix + $0 } }
        if isFixed { (fixedCount, fixedPrefix) = (fixedCount + 1, prefixes[0]) }
        continue
      }
      ranges = prefixes.flatMap { values.prefixed($0) }
      break
    }
    let all = KeyRanges(ranges ?? prefixes.map { .prefix($0) }).ranges
    return IndexRanges(
      index: index, ranges: all, count: count, properties: properties, fixedCount: fixedCount,
      fixedPrefix: fixedPrefix)
  }

  /// Returns a plan that reads the best index of each alternative; nil if one has no index.
  private func union() throws -> Choice? {
    guard case .any = condition, let parts = condition?.alternatives else { return nil }
    var ways: [IndexRanges] = []
    var isCovered = true
    for part in parts {
      let known = try usableIndexes { part.values(of: $0) != nil }.map { try ranges($0, part) }
      let all = try known + elements(part)
      guard let best = all.min(by: { $0.count < $1.count }) else { return nil }
      isCovered = isCovered && (part.isTold(by: best.properties) || part.isElement)
      ways.append(best)
    }
    let count = ways.reduce(0) { $0 + $1.count }
    return several(.union(ways), keyCount: count, recordCount: count, count, isCovered: isCovered)
  }

  /// Returns the cheapest plan that intersects the rows of several indexes.
  ///
  /// It pays off if it leaves so many fewer records that reading more keys is worth it.
  private func intersection(_ parts: [IndexRanges], of recordCount: Int) -> Choice? {
    let parts = parts.filter { !$0.properties.isEmpty }.sorted { $0.count < $1.count }
    guard let first = parts.first, recordCount > 0 else { return nil }
    var (ways, keyCount, expected) = ([first], first.count, Double(first.count))
    var best: Choice?
    for part in parts.dropFirst() {
      let known = ways.flatMap(\.properties)
      // An index without a new property excludes nothing more, but would lower the estimate.
      if part.properties.allSatisfy(known.contains) { continue }
      // The estimate assumes that the conditions are independent.
      expected *= min(1, Double(part.count) / Double(recordCount))
      keyCount += part.count
      ways.append(part)
      let choice = several(
        .intersection(ways), keyCount: keyCount, recordCount: Int(expected), first.count,
        isCovered: condition?.isTold(by: known + part.properties) ?? false)
      if best.map({ choice.cost < $0.cost }) ?? true { best = choice }
    }
    return best
  }

  private func several(
    _ access: QueryAccess, keyCount: Int, recordCount: Int, _ touchedCount: Int, isCovered: Bool
  ) -> Choice {
    let recordCost =
      (isCounting && isCovered ? 0 : Self.lookUpCost) + (order == nil ? 0 : Self.sortCost)
    return Choice(
      access: access, touchedCount: touchedCount, isCovered: isCovered,
      cost: keyCount * Self.keyCost + recordCount * recordCost + Self.scanCost)
  }
}

extension Condition {
  /// Whether the condition is about the elements of a list only.
  fileprivate var isElement: Bool { if case .element = self { true } else { false } }

  /// Returns whether an index of a list may help.
  fileprivate func asksElements(of list: AnyKeyPath) -> Bool {
    switch self {
    case .element(let property, _): property == list
    case .all(let parts): parts.contains { $0.asksElements(of: list) }
    case .values, .any, .other: false
    }
  }

  /// The alternatives of a condition, with nested ones flattened.
  var alternatives: [Condition] {
    guard case .any(let parts) = self else { return [self] }
    return parts.flatMap(\.alternatives)
  }
}
