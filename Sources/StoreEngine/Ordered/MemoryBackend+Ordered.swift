import Files
import Locks

extension MemoryBackend {
  /// Returns the number of an ordered table, which is assigned if the table is new.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `invalidName` or `closed`.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    guard !name.name.isEmpty else {
      throw StoreError(.invalidName, "An ordered table needs a name.", at: .init(path: location))
    }
    return try inSession { $0.numbers.orderedTable(name) }
  }

  /// Returns the names of the ordered tables that have keys.
  ///
  /// Complexity: linear in the number of ordered tables.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    try checkOpen()
    return disk.contents.withLock { $0.ordered.filter { !$0.value.isEmpty }.map(\.key) }
  }

  /// Returns the number of keys in a range.
  ///
  /// Complexity: O(log² n).
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try view(of: table).count(in: range)
  }

  /// Calls a closure with the value of a key.
  ///
  /// Complexity: O(log² n).
  ///
  /// - Throws: ``StoreError`` with `closed`, or an error of the closure.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let view = try view(of: table)
    return try key.lend { (key) throws(StoreError) in try view.withValue(key, body) }
  }

  /// Calls a closure with keys and values, as they were at the beginning of the call.
  ///
  /// Complexity: O(log² n), and linear in the keys that are visited.
  ///
  /// - Throws: ``StoreError`` with `closed`, or an error of the closure.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try view(of: table).scan(range, isReversed: isReversed, body)
  }

  /// Returns the table in its present state.
  package func view(of table: OrderedTableID) throws(StoreError) -> OrderedView {
    let name = try inSession { $0.numbers.orderedNames[table.index] }
    return OrderedView(
      base: nil, runs: disk.contents.withLock { $0.ordered[name] ?? KeyRuns() })
  }
}

extension MemoryBackend: OrderedViewing {}
