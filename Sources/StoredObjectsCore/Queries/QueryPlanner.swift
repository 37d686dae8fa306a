import StoreEngine

/// Chooses the way to answer a query.
struct QueryPlanner {
  let store: Store
  let entry: RegisteredClass
  let condition: Condition?
  /// The properties by which it is to be sorted, and the direction of all; nil when they have
  /// several.
  let order: (properties: [AnyKeyPath], isDescending: Bool)?
  /// How many objects are wanted, those included that are passed over.
  let limit: Int?
  /// How many of these need not be read where an index gives the order.
  var unreadCount = 0
  /// Whether only the number of objects is asked for.
  let isCounting: Bool
  /// Whether the plan is only shown, so that nothing may be written for it.
  let isExplained: Bool

  /// A way, and what it takes.
  struct Choice {
    var access: QueryAccess = .scan
    var touchedCount: Int
    var isOrdered = false
    var isReversed = false
    var isCovered = false
    var cost: Int
    /// The indexes that may help and have to be made first, by their names.
    var missing: [String] = []
    /// The number of records of the class, where all of them may be read.
    var recordCount = 0
  }

  /// What a record of a scan takes; one that is looked up; a key of an index; one that is sorted.
  private static let (recordCost, lookUpCost, keyCost, sortCost) = (10, 30, 2, 10)
  /// What it takes to begin a scan.
  private static let scanCost = 160

  /// So many look-ups take half the time of reading all of so many records.
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
    let parts = try usableIndexes {
      condition?.values(of: $0) != nil || order?.properties.first == $0
    }.map { try ranges($0, condition) }
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

  /// Indexes that may help by their first property, and that are there or can be made.
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

  /// For what is asked of the elements of lists: the part of an index for each.
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

  /// The indexes that the query would make.
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
    // A page for each end of a range tells how many keys are between.
    if isCounting, choice.isCovered { choice.touchedCount = 2 * part.ranges.count }
    let unread = choice.isOrdered && choice.isCovered ? min(unreadCount, choice.touchedCount) : 0
    choice.cost = (choice.touchedCount - unread) * Self.lookUpCost + unread * Self.keyCost
    if order != nil, !choice.isOrdered { choice.cost += part.count * Self.sortCost }
    return choice
  }

  private func isOrdered(_ part: IndexRanges, _ properties: [AnyKeyPath]) -> Bool {
    // Objects that are the same otherwise come in the order of their rows only behind the last
    // property.
    !properties.isEmpty
      && (part.index.declaration.properties.dropFirst(part.fixedCount).elementsEqual(properties)
        || part.index.declaration.properties.elementsEqual(properties))
  }

  /// The parts of an index that a condition leaves.
  func ranges(_ index: RegisteredIndex, _ condition: Condition?) throws -> IndexRanges {
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
    let count = try all.reduce(0) { $0 + (try store.backend.keyCount(in: index.table, $1)) }
    return IndexRanges(
      index: index, ranges: all, count: count, properties: properties, fixedCount: fixedCount,
      fixedPrefix: fixedPrefix)
  }

  /// For alternatives that ask for different properties: each by the best index it has.
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

  /// For conditions that hold together: the records that several indexes lead to, if these are so
  /// many fewer that reading more keys is worth it.
  private func intersection(_ parts: [IndexRanges], of recordCount: Int) -> Choice? {
    let parts = parts.filter { !$0.properties.isEmpty }.sorted { $0.count < $1.count }
    guard let first = parts.first, recordCount > 0 else { return nil }
    var (ways, keyCount, expected) = ([first], first.count, Double(first.count))
    var best: Choice?
    for part in parts.dropFirst() {
      let known = ways.flatMap(\.properties)
      // One that says nothing new would only seem to leave fewer.
      if part.properties.allSatisfy(known.contains) { continue }
      // As if the one condition had nothing to do with the other.
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
  /// Whether the condition says no more than what an element of a list is.
  fileprivate var isElement: Bool { if case .element = self { true } else { false } }

  /// Whether an index of a list may help.
  fileprivate func asksElements(of list: AnyKeyPath) -> Bool {
    switch self {
    case .element(let property, _): property == list
    case .all(let parts): parts.contains { $0.asksElements(of: list) }
    case .values, .any, .other: false
    }
  }

  /// The alternatives of a condition, those of its alternatives included.
  var alternatives: [Condition] {
    guard case .any(let parts) = self else { return [self] }
    return parts.flatMap(\.alternatives)
  }
}
