/// The numbers that a backend assigns to tables, in the order in which their names first occur.
package struct TableNumbers: Sendable {
  /// The names of the tables, indexed by table number.
  package private(set) var names: [String] = []
  /// The names of the ordered tables, indexed by table number.
  package private(set) var orderedNames: [OrderedTableName] = []
  private var tables: [String: TableID] = [:]
  private var orderedTables: [OrderedTableName: OrderedTableID] = [:]

  /// Creates an empty set of numbers.
  package init() {}

  /// Returns the number of a table, which is assigned if the table is new.
  package mutating func table(named name: String) -> TableID {
    if let known = tables[name] { return known }
    let table = TableID(index: names.count)
    names.append(name)
    tables[name] = table
    return table
  }

  /// Returns the number of an ordered table, which is assigned if the table is new.
  package mutating func orderedTable(_ name: OrderedTableName) -> OrderedTableID {
    if let known = orderedTables[name] { return known }
    let table = OrderedTableID(index: orderedNames.count)
    orderedNames.append(name)
    orderedTables[name] = table
    return table
  }
}
