/// The numbers that a backend gives to tables, in the order in which it hears of their names.
package struct TableNumbers: Sendable {
  /// The names of the tables, each at the index of its number.
  package private(set) var names: [String] = []
  /// The same for ordered tables.
  package private(set) var orderedNames: [OrderedTableName] = []
  private var tables: [String: TableID] = [:]
  private var orderedTables: [OrderedTableName: OrderedTableID] = [:]

  /// No tables.
  package init() {}

  /// The number of a table, new or known.
  package mutating func table(named name: String) -> TableID {
    if let known = tables[name] { return known }
    let table = TableID(index: names.count)
    names.append(name)
    tables[name] = table
    return table
  }

  /// The number of an ordered table, new or known.
  package mutating func orderedTable(_ name: OrderedTableName) -> OrderedTableID {
    if let known = orderedTables[name] { return known }
    let table = OrderedTableID(index: orderedNames.count)
    orderedNames.append(name)
    orderedTables[name] = table
    return table
  }
}
