import Files

/// The state of an ordered table in its file and the log.
public struct OrderedTableState: Sendable, Hashable {
  /// The condition of a table, as far as it shows without reading the whole table.
  public enum Condition: String, Sendable, CaseIterable {
    /// No problem is known.
    case whole
    /// An index that is being built; the next program that needs it continues.
    case unfinished
    /// An index whose file is missing or damaged; it is rebuilt when it is next needed.
    case lost
    /// The footer or the upper levels of its file are damaged.
    case damaged
  }

  /// The name.
  public let name: OrderedTableName
  /// The number of its keys; nil if it is damaged.
  public let keyCount: Int?
  /// The size of its files; 0 if it has none.
  public let fileBytes: Int
  /// The condition of the table.
  public let condition: Condition
}

/// The progress of building an index, as stored in the index.
package enum IndexStamp {
  /// The key whose value describes the definition that an index was built from.
  package static let key: [UInt8] = [0]
  /// The prefix of that value while the index is being built.
  package static let unfinished = Array("unfinished ".utf8)
}

extension LoggedBackend {
  /// Returns the states of all ordered tables, including key-value tables and indexes, by name.
  ///
  /// Complexity: O(log n) for each table; it opens the files that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`; damage is reported as a condition.
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
      // A lost table has no keys until it is begun again.
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
      let fileName = try sealedName(name).fileName
      let segments = try files.directory.entries().filter {
        SegmentName.parse($0)?.table.utf8.elementsEqual(fileName.utf8) ?? false
      }
      var size = 0
      for name in [fileName] + segments {
        size += try sizeOfFile(at: files.directory.file(name))
      }
      return size
    }
  }
}
