import StoreEngine

/// The plan of a query, as ``Store/explain(_:where:sortedBy:limit:offset:)`` returns it.
public struct QueryPlan: Sendable, CustomStringConvertible {
  /// The names of the indexes that the query uses; empty if it reads all objects of the class.
  public let indexes: [String]
  /// The maximum number of keys or records that the query examines.
  public let touchedCount: Int
  /// Whether an index provides the order, so that the objects need no sorting.
  public let isOrderedByIndex: Bool
  /// Whether the indexes decide the whole predicate, so that a count reads no record.
  public let isAnsweredByIndex: Bool
  /// Whether the objects must be in all of several indexes, as opposed to at least one of them.
  public let isIntersection: Bool
  /// A description of the predicate as the planner understood it.
  public let condition: String
  /// The names of missing indexes that may help, which the query builds first.
  public let indexesToBuild: [String]

  /// The plan as one line of text.
  public var description: String {
    let names = indexes.map { "\"\($0)\"" }.joined(separator: isIntersection ? " and " : " or ")
    let way = indexes.isEmpty ? "read all objects" : "by \(names)"
    let rest = isAnsweredByIndex || condition.isEmpty ? "" : ", ask each object"
    let order = isOrderedByIndex ? ", in order" : ""
    let missing = indexesToBuild.map { "\"\($0)\"" }.joined(separator: ", ")
    let building = missing.isEmpty ? "" : " (the query makes \(missing) first)"
    return "\(way), \(touchedCount) at most\(rest)\(order): \(condition)\(building)"
  }
}
