/// Sets of rows in several tables.
///
/// It is no dictionary of sets: a process that opens a store and never meets another one would
/// spend a quarter of that time on their metadata.
@usableFromInline package struct ChangedRows: Sendable {
  @usableFromInline struct Table: Sendable {
    @usableFromInline let table: TableID
    @usableFromInline var rows: Set<UInt32>
  }

  @usableFromInline var tables: [Table] = []

  /// Creates an empty set.
  package init() {}

  /// Whether the set contains no rows.
  @inlinable package var isEmpty: Bool { tables.isEmpty }

  /// The rows of a table.
  package subscript(table: TableID) -> Set<UInt32> {
    get { tables.first { $0.table == table }?.rows ?? [] }
    set {
      tables.removeAll { $0.table == table }
      if !newValue.isEmpty { tables.append(Table(table: table, rows: newValue)) }
    }
  }

  /// Adds a row.
  package mutating func insert(_ rowID: UInt32, in table: TableID) {
    if let index = tables.firstIndex(where: { $0.table == table }) {
      tables[index].rows.insert(rowID)
    } else {
      tables.append(Table(table: table, rows: [rowID]))
    }
  }

  /// Removes a row if the set contains it.
  package mutating func remove(_ rowID: UInt32, in table: TableID) {
    guard let index = tables.firstIndex(where: { $0.table == table }) else { return }
    tables[index].rows.remove(rowID)
    if tables[index].rows.isEmpty { tables.remove(at: index) }
  }

  /// Whether the set contains a row.
  package func contains(_ rowID: UInt32, in table: TableID) -> Bool {
    tables.contains { $0.table == table && $0.rows.contains(rowID) }
  }

  /// Calls a closure with each table that has rows, and with its rows.
  func forEach(_ body: (TableID, Set<UInt32>) -> Void) {
    for table in tables { body(table.table, table.rows) }
  }
}
