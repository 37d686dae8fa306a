import Files

/// An entry of a store's history: the changes of one commit, with the state before and after it.
///
/// See ``StoreBackend/beginHistory()`` for what a history contains.
public struct HistoryEntry: Sendable {
  /// The commit.
  public let commit: Commit
  /// The rows that the commit has changed, by class.
  public package(set) var tables: [TableChanges] = []
  /// The named buffers that the commit has set or removed.
  ///
  /// Internal buffers of the store are included, such as the layouts of a class.
  public package(set) var buffers: [BufferChange] = []
  /// The ordered tables that the commit has changed: indexes, and the items of key-value stores.
  public package(set) var orderedTables: [OrderedTableChanges] = []

  /// Creates an entry.
  package init(
    commit: Commit, tables: [TableChanges] = [], buffers: [BufferChange] = [],
    orderedTables: [OrderedTableChanges] = []
  ) {
    (self.commit, self.tables, self.buffers) = (commit, tables, buffers)
    self.orderedTables = orderedTables
  }

  /// The changes of the records of one class.
  public struct TableChanges: Sendable {
    /// The stored name of the class.
    public let name: String
    /// The changes, at most one for each row.
    ///
    /// The metadata row, row 1, is included if it has changed. It contains the last row ID.
    public package(set) var records: [RecordChange] = []

    /// Creates the changes of one class.
    package init(name: String, records: [RecordChange] = []) {
      (self.name, self.records) = (name, records)
    }

    /// The changes of objects: all except that of the metadata row.
    public var objects: some Collection<RecordChange> {
      records.lazy.filter { $0.rowID > ClassMetadata.rowID }
    }

    /// Whether only the last row ID has changed.
    fileprivate var hasOnlyLastRowID: Bool {
      records.allSatisfy { record in
        guard record.rowID == ClassMetadata.rowID, let before = record.before,
          let after = record.after
        else { return false }
        return ClassMetadata.differOnlyInLastRowID(before, after)
      }
    }
  }

  /// The change of one record.
  public struct RecordChange: Sendable, Equatable {
    /// The row of the record.
    public let rowID: UInt32
    /// The record before the commit; nil if the commit has inserted it.
    public let before: [UInt8]?
    /// The record after the commit; nil if the commit has deleted it.
    public let after: [UInt8]?

    /// Creates the change of a record.
    public init(rowID: UInt32, before: [UInt8]?, after: [UInt8]?) {
      (self.rowID, self.before, self.after) = (rowID, before, after)
    }
  }

  /// The change of one named buffer.
  public struct BufferChange: Sendable, Equatable {
    /// The name of the buffer.
    public let name: String
    /// The buffer before the commit; nil if it did not exist.
    public let before: [UInt8]?
    /// The buffer after the commit; nil if the commit has removed it.
    public let after: [UInt8]?

    /// Creates the change of a named buffer.
    public init(name: String, before: [UInt8]?, after: [UInt8]?) {
      (self.name, self.before, self.after) = (name, before, after)
    }
  }

  /// The changes of one ordered table.
  public struct OrderedTableChanges: Sendable {
    /// The name and kind of the table.
    public let name: OrderedTableName
    /// Whether all keys of an index were removed before these changes.
    ///
    /// False for a table of any other kind: each of its keys that was removed is a change.
    public package(set) var isCleared = false
    /// The changes, at most one for each key.
    public package(set) var keys: [KeyChange] = []

    /// Creates the changes of one ordered table.
    package init(name: OrderedTableName, isCleared: Bool = false, keys: [KeyChange] = []) {
      (self.name, self.isCleared, self.keys) = (name, isCleared, keys)
    }
  }

  /// The change of one key of an ordered table.
  public struct KeyChange: Sendable, Equatable {
    /// The key.
    public let key: [UInt8]
    /// The value before the commit; nil if it did not exist, and for the keys of an index.
    public let before: [UInt8]?
    /// The value after the commit; nil if the commit has removed the key.
    public let after: [UInt8]?

    /// Creates the change of a key.
    public init(key: [UInt8], before: [UInt8]?, after: [UInt8]?) {
      (self.key, self.before, self.after) = (key, before, after)
    }
  }

  /// Whether the entry contains no changes but those of last row IDs.
  package var isEmpty: Bool {
    buffers.isEmpty && orderedTables.isEmpty && tables.allSatisfy(\.hasOnlyLastRowID)
  }

  /// Whether the entry contains no changes.
  var isWithoutChanges: Bool { tables.isEmpty && buffers.isEmpty && orderedTables.isEmpty }
}
