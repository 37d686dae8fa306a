/// The rows and named buffers that commits have changed, in the state after the last of them.
public struct ChangeSummary: Sendable {
  /// The rows of one table, in ascending order.
  public struct Table: Sendable {
    /// The table.
    public let table: TableID
    /// The rows that were inserted or updated.
    public let written: [UInt32]
    /// The rows that were deleted.
    public let deleted: [UInt32]
  }

  /// The number of the last commit that is included.
  public let number: UInt64
  /// The tables in which rows have changed, each once.
  public let tables: [Table]
  /// The buffers that were set or removed, in no order.
  public let names: [String]

  package init(_ news: ForeignNews, upTo number: UInt64) {
    self.number = number
    tables = news.tables.map {
      Table(table: $0.table, written: $0.written.rows, deleted: $0.deleted.rows)
    }
    names = (news.names ?? []).map(\.text)
  }
}

extension RowSet {
  /// The rows in ascending order.
  fileprivate var rows: [UInt32] {
    var rows: [UInt32] = []
    forEach { rows.append($0) }
    return rows
  }
}
