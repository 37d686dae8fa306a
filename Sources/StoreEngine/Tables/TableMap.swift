/// A dictionary from tables to values.
///
/// Tables are numbered from 0 and are few, so an array replaces the dictionary: a save looks up
/// each of its tables several times.
struct TableMap<Value: Sendable>: Sendable {
  /// The values, indexed by table number.
  private var values: [Value?] = []

  /// The value of a table, or nil.
  ///
  /// Complexity: constant time, or linear in the number of tables when one gets its first value.
  subscript(table: TableID) -> Value? {
    get { table.index < values.count ? values[table.index] : nil }
    set {
      makeRoom(for: table)
      values[table.index] = newValue
    }
  }

  /// Changes the value of a table, or an initial value, in place.
  mutating func update(
    _ table: TableID, default first: @autoclosure () -> Value, _ change: (inout Value) -> Void
  ) {
    makeRoom(for: table)
    var value = values[table.index].take() ?? first()
    change(&value)
    values[table.index] = value
  }

  private mutating func makeRoom(for table: TableID) {
    while values.count <= table.index { values.append(nil) }
  }

  /// The tables that have a value, in ascending order.
  var keys: [TableID] { map(\.key) }
}

extension TableMap: Sequence {
  /// Visits the tables that have a value, in ascending order.
  func makeIterator() -> some IteratorProtocol<(key: TableID, value: Value)> {
    values.enumerated().lazy.compactMap { index, value in
      value.map { (key: TableID(index: index), value: $0) }
    }.makeIterator()
  }
}
