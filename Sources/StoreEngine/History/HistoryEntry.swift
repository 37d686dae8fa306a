import Files

/// A line of a store's history: the changes of one commit, with the state before and after it.
///
/// See ``StoreBackend/beginHistory()`` for what a store remembers.
public struct HistoryEntry: Sendable {
  /// The commit.
  public let commit: Commit
  /// The rows that it has changed, class by class.
  public internal(set) var tables: [TableChanges] = []
  /// The named buffers that it has set or removed.
  public internal(set) var buffers: [BufferChange] = []

  /// The changes of the records of one class.
  public struct TableChanges: Sendable {
    /// The stored name of the class.
    public let name: String
    /// The changes, at most one for each row.
    public internal(set) var records: [RecordChange] = []
  }

  /// The change of one record.
  public struct RecordChange: Sendable, Equatable {
    /// The row of the record.
    public let rowID: UInt32
    /// The record before the commit; nil if the commit has inserted it.
    public let before: [UInt8]?
    /// The record after the commit; nil if the commit has deleted it.
    public let after: [UInt8]?

    /// Describes the change of a record.
    public init(rowID: UInt32, before: [UInt8]?, after: [UInt8]?) {
      (self.rowID, self.before, self.after) = (rowID, before, after)
    }
  }

  /// The change of one named buffer.
  public struct BufferChange: Sendable, Equatable {
    /// The name of the buffer.
    public let name: String
    /// The buffer before the commit; nil if there was none.
    public let before: [UInt8]?
    /// The buffer after the commit; nil if the commit has removed it.
    public let after: [UInt8]?

    /// Describes the change of a named buffer.
    public init(name: String, before: [UInt8]?, after: [UInt8]?) {
      (self.name, self.before, self.after) = (name, before, after)
    }
  }

  /// Whether nothing has changed that a history is about.
  var isEmpty: Bool { tables.isEmpty && buffers.isEmpty }
}
