/// How a query is going to be answered: what ``Store/explain(_:where:sortedBy:limit:offset:)`` gives.
public struct QueryPlan: Sendable, CustomStringConvertible {
  /// The indexes that are used, by their names; none where all objects of the class are read.
  public let indexes: [String]
  /// The number of keys or records that are looked at, at the most.
  public let touchedCount: Int
  /// Whether the objects come out in the order that was asked for, and need not be sorted.
  public let isOrderedByIndex: Bool
  /// Whether the indexes tell all that is asked, so that a count reads no record.
  public let isAnsweredByIndex: Bool
  /// The predicate as it was understood.
  public let condition: String

  /// The plan in a line.
  public var description: String {
    let way =
      indexes.isEmpty
      ? "read all objects" : "by \(indexes.map { "\"\($0)\"" }.joined(separator: " and "))"
    let rest = isAnsweredByIndex || condition.isEmpty ? "" : ", ask each object"
    return
      "\(way), \(touchedCount) at most\(rest)\(isOrderedByIndex ? ", in order" : ""): \(condition)"
  }
}

/// Where the rows of a query come from.
enum QueryAccess {
  /// All objects are read.
  case scan
  case index(IndexRanges)
  /// Rows that are in one of several.
  case union([IndexRanges])
}

/// Parts of an index.
struct IndexRanges {
  let index: RegisteredIndex
  /// In ascending order, and apart from each other.
  var ranges: [KeyRange]
  /// The number of keys in them.
  let count: Int
  /// The properties of which they say what is asked.
  let properties: [AnyKeyPath]
  /// How many properties have one value only.
  let fixedCount: Int
}

/// Chooses the way to answer a query.
struct QueryPlanner {
  let store: Store
  let entry: RegisteredClass
  let condition: Condition?
  /// The properties by which it is to be sorted, and the direction of all; nil when they have several.
  let order: (properties: [AnyKeyPath], isDescending: Bool)?
  /// How many objects are wanted, those included that are passed over.
  let limit: Int?
  /// Whether only the number of objects is asked for.
  let isCounting: Bool

  /// A way, and what it takes.
  struct Choice {
    var access: QueryAccess = .scan
    var touchedCount: Int
    var isOrdered = false
    var isReversed = false
    var isCovered = false
    var cost: Int
  }

  /// A record that is looked up takes so many times the time of one in a scan.
  private static let lookUpCost = 3
  /// What it takes to begin a scan.
  private static let scanCost = 16

  func choose() throws -> Choice {
    let count = max(0, try store.backend.recordCount(in: entry.table) - 1)
    var best = Choice(touchedCount: count, isCovered: condition == nil, cost: count + Self.scanCost)
    if order != nil { best.cost += count }
    let usable = try usableIndexes()
    for index in usable {
      for choice in try choices(index) where choice.cost < best.cost { best = choice }
    }
    if let union = try union(usable), union.cost < best.cost { best = union }
    return best
  }

  /// Indexes that may help, and that are there or can be made.
  private func usableIndexes() throws -> [RegisteredIndex] {
    try entry.indexes.filter { index in
      guard let first = index.declaration.properties.first, !index.declaration.isMultiple else {
        return false
      }
      let isAsked = condition?.values(of: first) != nil
      guard isAsked || order?.properties.first == first else { return false }
      return try store.prepare(index, of: entry)
    }
  }

  private func choices(_ index: RegisteredIndex) throws -> [Choice] {
    guard let part = try ranges(index, condition) else { return [] }
    var choice = Choice(
      access: .index(part), touchedCount: part.count,
      isCovered: condition?.isTold(by: part.properties) ?? true, cost: 0)
    if let order, isOrdered(part, order.properties) {
      (choice.isOrdered, choice.isReversed) = (true, order.isDescending)
      if choice.isCovered, let limit { choice.touchedCount = min(part.count, limit) }
    }
    // A page for each end of a range tells how many keys are between.
    if isCounting, choice.isCovered { choice.touchedCount = 2 * part.ranges.count }
    choice.cost = choice.touchedCount * Self.lookUpCost
    if order != nil, !choice.isOrdered { choice.cost += part.count }
    return [choice]
  }

  private func isOrdered(_ part: IndexRanges, _ properties: [AnyKeyPath]) -> Bool {
    // Objects that are the same otherwise come in the order of their rows only behind the last property.
    !properties.isEmpty
      && (part.index.declaration.properties.dropFirst(part.fixedCount).elementsEqual(properties)
        || part.index.declaration.properties.elementsEqual(properties))
  }

  /// The parts of an index that a condition leaves.
  private func ranges(_ index: RegisteredIndex, _ condition: Condition?) throws -> IndexRanges? {
    var prefixes: [[UInt8]] = [[RegisteredIndex.mark]]
    var ranges: [KeyRange]?
    var properties: [AnyKeyPath] = []
    var fixedCount = 0
    for property in index.declaration.properties {
      guard let values = condition?.values(of: property) else { break }
      properties.append(property)
      if let points = values.points, points.count * prefixes.count <= 1000 {
        if points.count == 1, prefixes.count == 1 { fixedCount += 1 }
        prefixes = prefixes.flatMap { prefix in points.map { prefix + $0 } }
        continue
      }
      ranges = prefixes.flatMap { values.prefixed($0) }
      break
    }
    let all = KeyRanges(ranges ?? prefixes.map { .prefix($0) }).ranges
    let count = try all.reduce(0) { $0 + (try store.backend.keyCount(in: index.table, $1)) }
    return IndexRanges(
      index: index, ranges: all, count: count, properties: properties, fixedCount: fixedCount)
  }

  /// For alternatives that ask for different properties: each by the best index it has.
  private func union(_ usable: [RegisteredIndex]) throws -> Choice? {
    guard case .any = condition, let parts = condition?.alternatives else { return nil }
    var ways: [IndexRanges] = []
    for part in parts {
      let best = try entry.indexes.filter { index in
        guard let first = index.declaration.properties.first, !index.declaration.isMultiple else {
          return false
        }
        return try part.values(of: first) != nil && store.prepare(index, of: entry)
      }.compactMap { try ranges($0, part) }.min { $0.count < $1.count }
      guard let best else { return nil }
      ways.append(best)
    }
    let count = ways.reduce(0) { $0 + $1.count }
    return Choice(
      access: .union(ways), touchedCount: count,
      cost: count * (Self.lookUpCost + (order == nil ? 0 : 1)))
  }
}

extension Condition {
  /// The alternatives of a condition, those of its alternatives included.
  var alternatives: [Condition] {
    guard case .any(let parts) = self else { return [self] }
    return parts.flatMap(\.alternatives)
  }
}
