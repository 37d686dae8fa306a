import Files
import Locks

extension MemoryBackend {
  /// The number of an ordered table, new or known.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    guard !name.name.isEmpty else {
      throw StoreError(.invalidName, "An ordered table needs a name.", at: .init(path: location))
    }
    return try inSession { $0.numbers.orderedTable(name) }
  }

  /// The names of the ordered tables that have keys.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    try checkOpen()
    return disk.contents.withLock { $0.ordered.filter { !$0.value.isEmpty }.map(\.key) }
  }

  /// The number of keys in a range.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try view(of: table).count(in: range)
  }

  /// Lends the value of a key.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let view = try view(of: table)
    return try key.lend { (key) throws(StoreError) in try view.withValue(key, body) }
  }

  /// Lends keys and values, as they were when the call began.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try view(of: table).scan(range, isReversed: isReversed, body)
  }

  /// The table as it is now.
  package func view(of table: OrderedTableID) throws(StoreError) -> OrderedView {
    let name = try inSession { $0.numbers.orderedNames[table.index] }
    return OrderedView(
      file: nil, runs: disk.contents.withLock { $0.ordered[name] ?? KeyRuns() })
  }
}

extension MemoryBackend: OrderedViewing {}
