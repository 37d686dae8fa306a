/// The changes that one save writes: records of any number of classes, named buffers, and keys of
/// ordered tables.
///
/// A change set is a plain value. All bytes of a save follow each other in ``bytes``, with each
/// object encoded once; the changes only refer to ranges. Backends read a change set and never
/// change it.
///
///     bytes:    | Song 2 | Song 3 | Song metadata | Playlist 2 | "Favorite" | ...
///     tables:   Song: insert 2, insert 3, update 1   Playlist: insert 2   ...
///
/// A backend writes all of it or nothing, see ``StoreBackend/commit(_:)``.
public struct ChangeSet: Sendable {
  /// The kinds of changes of a row.
  public enum Kind: UInt8, Sendable {
    /// The row is new. If it exists already, the commit is refused.
    case insert
    /// The row is written whether it exists or not.
    case update
    /// The row is removed. If it does not exist, that is no error.
    case delete
  }

  /// The change of one row; its bytes are `bytes[range]` of the change set.
  ///
  /// It takes 16 bytes, because a save may have millions.
  public struct RecordChange: Sendable {
    /// The row, from 1; row 1 contains the metadata of the class.
    public let rowID: UInt32
    @usableFromInline let count: UInt32
    /// The start of the record; the two highest bits encode the kind.
    @usableFromInline let startAndKind: UInt64

    /// Whether the row is new, rewritten or removed.
    @inlinable @inline(__always)
    public var kind: Kind { Kind(rawValue: UInt8(startAndKind >> 62)) ?? .delete }

    /// The range of the record in ``ChangeSet/bytes``; empty for a delete.
    @inlinable @inline(__always)
    public var range: Range<Int> {
      let start = Int(startAndKind & (1 << 62 - 1))
      return start..<start + Int(count)
    }

    /// Creates a change of one row.
    ///
    /// - Precondition: The record is smaller than 4 GiB.
    @inlinable public init(kind: Kind, rowID: UInt32, range: Range<Int>) {
      self.rowID = rowID
      count = UInt32(range.count)
      startAndKind = UInt64(range.lowerBound) | UInt64(kind.rawValue) << 62
    }

    /// Returns the same change for bytes that are appended to others.
    @inlinable package func moved(by count: Int) -> RecordChange {
      let range = range
      return RecordChange(
        kind: kind, rowID: rowID, range: range.lowerBound + count..<range.upperBound + count)
    }
  }

  /// The changes of one table, at most one for each row.
  public struct TableChanges: Sendable {
    /// The table, as returned by ``RecordSource/table(named:)``.
    public let table: TableID
    /// The changes in the order in which the objects were inserted, changed or deleted.
    public var records: [RecordChange]

    /// Creates the changes of one table.
    public init(table: TableID, records: [RecordChange]) {
      self.table = table
      self.records = records
    }
  }

  /// The change of one named buffer.
  public struct NameChange: Sendable {
    /// The name, not empty.
    public let name: String
    /// The range of the buffer in ``ChangeSet/bytes``; nil removes the name.
    public let range: Range<Int>?

    /// Creates the change of one named buffer.
    public init(name: String, range: Range<Int>?) {
      self.name = name
      self.range = range
    }
  }

  /// The records and buffers, one after another.
  public var bytes: [UInt8]
  /// The changes by table; no table occurs twice.
  public var tables: [TableChanges]
  /// The changes of named buffers; no name occurs twice.
  public var names: [NameChange]
  /// The changes of ordered tables; no table occurs twice.
  public var ordered: [OrderedTableChanges]

  /// Creates a change set from its parts.
  public init(
    bytes: [UInt8] = [], tables: [TableChanges] = [], names: [NameChange] = [],
    ordered: [OrderedTableChanges] = []
  ) {
    self.bytes = bytes
    self.tables = tables
    self.names = names
    self.ordered = ordered
  }

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    names.isEmpty && tables.allSatisfy { $0.records.isEmpty } && ordered.allSatisfy(\.isEmpty)
  }
}

extension ChangeSet {
  /// Appends bytes, and returns their range; nil for nil.
  package mutating func take(_ new: [UInt8]?) -> Range<Int>? {
    guard let new else { return nil }
    let start = bytes.count
    bytes += new
    return start..<bytes.count
  }

  /// Sets a named buffer that the change set does not set yet; nil removes it.
  package mutating func set(_ buffer: [UInt8]?, named name: String) {
    names.append(NameChange(name: name, range: take(buffer)))
  }
}
