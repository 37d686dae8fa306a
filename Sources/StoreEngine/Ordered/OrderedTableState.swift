import Files

/// An ordered table as it is in its file and the log, for information.
public struct OrderedTableState: Sendable, Hashable {
  /// What can be told of a table without reading all of it.
  public enum Condition: String, Sendable, CaseIterable {
    /// Nothing is known to be wrong.
    case whole
    /// An index that is being made: the next program that needs it goes on with it.
    case unfinished
    /// An index whose file is gone or damaged: it is made anew when it is next needed.
    case lost
    /// Its end, or what leads to its keys, is damaged.
    case damaged
  }

  /// The name.
  public let name: OrderedTableName
  /// The number of its keys; nil when it is damaged.
  public let keyCount: Int?
  /// The size of its file; 0 when it has none.
  public let fileBytes: Int
  /// What can be told of it.
  public let condition: Condition
}

/// How the indexes of classes say how far they have come.
package enum IndexStamp {
  /// The key under which an index says what it was made by.
  package static let key: [UInt8] = [0]
  /// What stands before that while the index is being made.
  package static let unfinished = Array("unfinished ".utf8)
}

extension LoggedBackend where Files: DirectoryFiles {
  /// The ordered tables: key-value tables, indexes, and what else there is, in the order of their
  /// names.
  ///
  /// Complexity: O(log n) for each table.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`; what is damaged is a condition.
  public func orderedTableStates() throws(StoreError) -> [OrderedTableState] {
    try checkOpen()
    return try knownOrderedNames().map { (name) throws(StoreError) in try state(of: name) }
      .sorted { $0.name.fileName < $1.name.fileName }
  }

  private func state(of name: OrderedTableName) throws(StoreError) -> OrderedTableState {
    let size = try orderedFileSize(of: name)
    do {
      let table = try orderedTable(name)
      let isLost = try files.ordered.file(of: table).file.isLost
      let count = try keyCount(in: table, KeyRange())
      // What is lost has no keys until it is begun again.
      let condition = isLost && count == 0 ? .lost : try condition(of: table, name.kind)
      return OrderedTableState(
        name: name, keyCount: count, fileBytes: size, condition: condition)
    } catch  where error.code == .damaged || error.code == .notAuthentic {
      return OrderedTableState(name: name, keyCount: nil, fileBytes: size, condition: .damaged)
    }
  }

  private func condition(
    of table: OrderedTableID, _ kind: OrderedTableName.Kind
  ) throws(StoreError) -> OrderedTableState.Condition {
    guard kind == .index else { return .whole }
    let stamp = try withValue(of: IndexStamp.key, in: table) { [UInt8](copying: $0) }
    return (stamp ?? []).starts(with: IndexStamp.unfinished) ? .unfinished : .whole
  }

  private func orderedFileSize(of name: OrderedTableName) throws(StoreError) -> Int {
    try withFilesAtRest { (files) throws(StoreError) in
      try sizeOfFile(at: files.directory.file(sealedName(name).fileName))
    }
  }
}
