/// The data that a commit is based on and that others have changed since.
///
/// It is the `underlying` error of a ``StoreError`` with the code `conflict` that a backend throws.
public struct CommitConflict: Error, Sendable, Hashable {
  /// A row of a table.
  public struct Row: Sendable, Hashable {
    /// The name of the table, which is that of a class.
    public let table: String
    /// The row, from 1.
    public let rowID: UInt32

    /// Creates a reference to a row.
    public init(table: String, rowID: UInt32) { (self.table, self.rowID) = (table, rowID) }
  }

  /// The number that the commit was based on.
  public let basedOn: UInt64
  /// The number of the last commit.
  public let lastNumber: UInt64
  /// The rows that others have changed, at most the first few thousand.
  public let rows: [Row]
  /// The named buffers that others have changed.
  public let names: [String]
  /// The names of ordered tables in which others have changed keys that the commit changes or is
  /// based on.
  public let orderedTables: Set<String>
  /// Whether the number is so old that the changes since then are no longer known.
  public let isExpired: Bool
}

/// A conflict with tables identified by the backend's numbers.
package struct FoundConflict {
  let basedOn: UInt64
  let lastNumber: UInt64
  let isExpired: Bool
  private(set) var rows: [(table: TableID, rowID: UInt32)] = []
  package var names: [String] = []
  package var orderedTables: Set<OrderedTableID> = []

  package init(basedOn: UInt64 = 0, lastNumber: UInt64 = 0, isExpired: Bool = false) {
    (self.basedOn, self.lastNumber, self.isExpired) = (basedOn, lastNumber, isExpired)
  }

  var isEmpty: Bool { rows.isEmpty && names.isEmpty && orderedTables.isEmpty && !isExpired }

  /// The maximum number of rows that are listed.
  private static let maximumRowCount = 4096

  package mutating func add(_ rowID: UInt32, of table: TableID) {
    if rows.count < Self.maximumRowCount { rows.append((table, rowID)) }
  }

  /// Returns the conflict with the names that users know.
  package func named(
    table: (TableID) throws(StoreError) -> String,
    ordered: (OrderedTableID) throws(StoreError) -> String
  ) throws(StoreError) -> CommitConflict {
    CommitConflict(
      basedOn: basedOn, lastNumber: lastNumber,
      rows: try rows.map { (row) throws(StoreError) in
        CommitConflict.Row(table: try table(row.table), rowID: row.rowID)
      },
      names: names, orderedTables: Set(try orderedTables.map(ordered)), isExpired: isExpired)
  }
}

extension CommitConflict {
  /// Returns the error of the commit.
  package func error(path: String) -> StoreError {
    let what: String
    if let row = rows.first {
      what = "others have changed \(rows.count) rows, \(row.table) row \(row.rowID) among them,"
    } else if let name = names.first {
      what = "the buffer \"\(name)\" has been changed by others"
    } else if let table = orderedTables.first {
      what = "keys of \(table) have been changed by others"
    } else {
      what = "the changes of others are no longer known"
    }
    return StoreError(
      .conflict,
      """
      The commit is based on number \(basedOn), and \(what) up to number \(lastNumber). Read the \
      data again, and repeat the commit.
      """,
      at: .init(path: path, className: rows.first?.table, rowID: rows.first?.rowID),
      underlying: self)
  }
}
