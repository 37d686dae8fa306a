import StoreEngine

/// How a query is going to be answered: what ``Store/explain(_:where:sortedBy:limit:offset:)``
/// gives.
public struct QueryPlan: Sendable, CustomStringConvertible {
  /// The indexes that are used, by their names; none where all objects of the class are read.
  public let indexes: [String]
  /// The number of keys or records that are looked at, at the most.
  public let touchedCount: Int
  /// Whether the objects come out in the order that was asked for, and need not be sorted.
  public let isOrderedByIndex: Bool
  /// Whether the indexes tell all that is asked, so that a count reads no record.
  public let isAnsweredByIndex: Bool
  /// Whether the objects are those to which all of several indexes lead; otherwise any of them.
  public let isIntersection: Bool
  /// The predicate as it was understood.
  public let condition: String
  /// The indexes, by their names, that may help and are not there yet: the query makes them first.
  public let indexesToBuild: [String]

  /// The plan in a line.
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
