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

  /// Creates a summary.
  public init(recordCount: Int, ordered: [Ordered]) {
    (self.recordCount, self.ordered) = (recordCount, ordered)
  }
}

extension StoreBackend {
  /// Asks for each number, value and record by a call of its own.
  ///
  /// - Throws: ``StoreError``, as the calls that it makes.
  public func summary(
    of table: TableID, _ ordered: [OrderedTableID], valuesOf key: [UInt8], copying rows: [UInt32],
    to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary {
    var summary = TableSummary(recordCount: try recordCount(in: table), ordered: [])
    for table in ordered {
      let value = try withValue(of: key, in: table) { [UInt8](copying: $0) }
      summary.ordered.append(.init(keyCount: try keyCount(in: table, KeyRange()), value: value))
    }
    if !rows.isEmpty { try copyRecords(rows, of: table, to: &batch) }
    return summary
  }
}
