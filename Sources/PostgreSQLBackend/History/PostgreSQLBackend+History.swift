import Files
import Locks
public import StoreEngine

// The server writes the entries of a history: see Schema+History.swift. All that reads a history
// reads the ordered table of its entries, as on every other backend.
extension PostgreSQLBackend {
  /// Whether commits get an entry in the history: true, also on machines that opened the store before
  /// the history began.
  public var remembersCommits: Bool { true }

  /// Returns the data as of an earlier commit, as a copy in memory.
  ///
  /// It is like ``snapshot()``, with the later commits undone.
  ///
  /// Complexity: linear in the size of all records and in the entries of the later commits, in time
  /// and memory.
  ///
  /// - Throws: `StoreError` with `historyExpired` if some commits after the number are not in the
  ///   history, with `invalidArgument` for a number that is still to come, or an error of
  ///   ``snapshot()``.
  public func snapshot(asOf number: UInt64) throws(StoreError) -> any StoreBackend {
    // Before anything is copied.
    try checkState(isKnownAt: number)
    return try copy(asOf: number)
  }

  /// Whether a table is that of the history.
  func isHistory(_ table: OrderedTableID) -> Bool { historyTable == table }

  /// Whether the server knows the order of the keys in a range: in an encrypted store only that of
  /// the entries of a history.
  func isOrderedByServer(_ table: OrderedTableID, _ range: KeyRange) -> Bool {
    sealing == nil || isHistory(table) && ServerHistory.hasOnlyEntries(range)
  }

  /// Whether a table is the one by which a store follows another, and is known to be empty.
  ///
  /// Stores ask before they build an index, and the answer costs no round trip. The server refuses
  /// commits to a follower in any case.
  func isKnownToFollowNone(_ table: OrderedTableID) -> (isKnown: Bool, number: Int) {
    let (isEmpty, number) = empty.withLock { ($0.tables.contains(table), $0.number) }
    return (isEmpty && followerTable == table, number)
  }

  /// Records that the table by which a store follows another has no key.
  func noteNoValue(_ table: OrderedTableID, asOf number: Int) {
    guard followerTable == table else { return }
    empty.withLock { $0.add(table, asOf: number) }
  }

  // MARK: Commits

  /// Whether a commit may be sent in one piece.
  func isUndividable(_ changes: ChangeSet) -> Bool {
    changes.bytes.count <= Self.maximumByteCount
  }

  /// The error of a commit whose entry would be too large.
  func tooLargeForHistory(_ changes: ChangeSet) -> StoreError {
    ChangeSet.tooLarge(
      "The save, in a store with a history,", changes.bytes.count, Self.maximumByteCount,
      "maximumByteCount", .init(path: location))
  }

  /// Forgets the keys of the list of external values, to which the server has added some.
  func forgetKeysOfValues() {
    sortedKeys.withLock { $0.forget(catalogue) }
  }
}

extension ChangeSet {
  /// Adds the keys by which the server keeps external values for the history.
  func adding(_ kept: [[UInt8]], to table: OrderedTableID) -> ChangeSet {
    if kept.isEmpty { return self }
    var changes = self
    for key in kept { changes.set(key, to: [], in: table) }
    return changes
  }
}
