import Files

/// The number of rows in a table, and the state of some ordered tables, as of one commit.
///
/// Stores compare these numbers to find out whether the indexes of a class are complete.
public struct TableSummary: Equatable, Sendable {
  /// The state of an ordered table.
  public struct Ordered: Equatable, Sendable {
    /// The number of keys in the table.
    public var keyCount: Int
    /// The value of the key that was asked for; nil if the key doesn't exist.
    public var value: [UInt8]?

    /// Creates the state of a table.
    public init(keyCount: Int, value: [UInt8]?) { (self.keyCount, self.value) = (keyCount, value) }
  }

  /// The number of rows in the table, including row 1.
  public var recordCount: Int
  /// The ordered tables, in the order in which they were asked for.
  public var ordered: [Ordered]
  /// The keys in each range that was asked for, in ascending order.
  ///
  /// They may be those of later commits.
  public var keys: [[[UInt8]]]

  /// Creates a summary.
  public init(recordCount: Int, ordered: [Ordered], keys: [[[UInt8]]] = []) {
    (self.recordCount, self.ordered, self.keys) = (recordCount, ordered, keys)
  }
}

extension StoreBackend {
  /// Asks for each number, value and record by a call of its own.
  ///
  /// Complexity: as the calls that it makes: one for each table, row and range.
  ///
  /// - Throws: ``StoreError``, as the calls that it makes.
  public func summary(
    of table: TableID, _ ordered: [OrderedTableID], valuesOf key: [UInt8], copying rows: [UInt32],
    keysIn ranges: [(table: OrderedTableID, range: KeyRange)], to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary {
    var summary = TableSummary(recordCount: try recordCount(in: table), ordered: [])
    for table in ordered {
      let value = try withValue(of: key, in: table) { [UInt8](copying: $0) }
      summary.ordered.append(.init(keyCount: try keyCount(in: table, KeyRange()), value: value))
    }
    if !rows.isEmpty { try copyRecords(rows, of: table, to: &batch) }
    summary.keys = try ranges.map { (table, range) throws(StoreError) in
      try keys(of: table, range)
    }
    return summary
  }

  /// Returns the keys in a range, in ascending order.
  package func keys(
    of table: OrderedTableID, _ range: KeyRange
  ) throws(StoreError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    _ = try scanKeys(of: table, range, isReversed: false) { key, _ in
      keys.append([UInt8](copying: key))
      return .next
    }
    return keys
  }
}
