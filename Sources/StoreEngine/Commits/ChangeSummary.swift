/// Which rows and named buffers commits have changed, as the last of them has left them.
public struct ChangeSummary: Sendable {
  /// The rows of one table, in ascending order.
  public struct Table: Sendable {
    /// The table.
    public let table: TableID
    /// The rows that are new or rewritten.
    public let written: [UInt32]
    /// The rows that are gone.
    public let deleted: [UInt32]
  }

  /// The number of the last commit that is taken into account.
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
