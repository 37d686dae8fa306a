import Files

/// Where a store keeps its records: tables of rows, named buffers, and ordered tables.
///
/// A table holds the records of one class under row IDs (`UInt32`, from 1). A backend sees only
/// bytes: it knows neither classes nor what a record means. An ordered table holds keys (any bytes,
/// ordered as `memcmp` orders them) with a value each, which may be empty; see
/// ``OrderedTableName``. Several stores may share one backend, on any threads, so that every call
/// must be safe beside every other.
///
/// What a backend promises:
///
/// 1. ``commit(_:)`` takes a whole ``ChangeSet`` or nothing. A commit that throws has changed
///    nothing that a later call can see, and can be tried again.
/// 2. What a commit has returned from, every later call sees, on every thread.
/// 3. Look-ups and scans lend bytes: they are read where they are, valid only inside the closure.
///    The closure must not call the backend, and should be short: it may run under a lock.
/// 4. Bytes that make no sense end in a ``StoreError``, never in a trap or in made-up data.
/// 5. A closed backend throws ``StoreError/Code/closed`` from every call but `close()`.
///
/// The conformance suite in `StoredObjectsTestSupport` tests all of this. <doc:WritingABackend>
/// shows how to write one.
public protocol StoreBackend: RecordSource {
  /// What the stores on this backend share. Make one and keep it.
  var coordinator: StoreCoordinator { get }

  /// Looks at the files, before a check reads their records; by default only asks for the tables.
  ///
  /// A backend whose files can be so damaged that reading them is dangerous, or ends too early,
  /// says so here and leaves them out.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func inspect() throws -> StoreInspection

  /// Why what was saved can't be brought from a log into files; nil where that goes well, or where
  /// there is no log, as by default.
  var foldFailure: FoldFailure? { get }

  // MARK: Ordered tables

  /// The number of an ordered table. The table need not exist yet: the first commit makes it.
  ///
  /// - Throws: ``StoreError`` with `invalidName` or `closed`.
  func orderedTable(_ name: OrderedTableName) throws -> OrderedTableID

  /// The names of the ordered tables that have keys, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func orderedTableNames() throws -> [OrderedTableName]

  /// The number of keys in a range.
  ///
  /// Complexity: O(log n) for the backends of this package.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func keyCount(in table: OrderedTableID, _ range: KeyRange) throws -> Int

  /// Lends the value of a key to a closure.
  ///
  /// - Returns: what the closure returns, or nil when there is no such key.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result?

  /// Appends a copy of the value of a key to bytes.
  ///
  /// By default through ``withValue(of:in:_:)``; a backend does it itself where that is faster.
  ///
  /// - Returns: whether there is such a key.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws -> Bool

  /// Lends the keys of a range and their values in the order of the keys, or from the last to the
  /// first.
  ///
  /// One call sees the table as it was when the call began. A scan that has been paused is taken up
  /// again by another call, with a range that begins behind the last key
  /// (``KeyRange/init(after:to:)``) or, backwards, ends before it; so that nothing is held in
  /// between, and commits disturb nobody.
  ///
  /// Complexity: O(log n), and linear in what is lent. Memory: a page of the file.
  ///
  /// - Parameters:
  ///   - table: The table to read.
  ///   - range: Which keys.
  ///   - isReversed: Whether the last key comes first.
  ///   - body: Gets each key and its value, valid only inside; must not call the backend.
  /// - Returns: whether all keys have been lent; false when the closure has paused.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws -> ScanStep
  ) throws -> Bool

  /// Writes a change set: all of it, or nothing.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `rowExists` (an insert of a row that is there),
  ///   `invalidName` (a buffer's name), `full`, `ioError`, `damaged` or `closed`. Nothing has been
  ///   changed then. With `reopenNeeded` the disk has failed half-way, and what it holds is known
  ///   when the backend is opened again.
  func commit(_ changes: ChangeSet) throws
}

extension StoreBackend {
  /// Copies the value that ``withValue(of:in:_:)`` lends.
  public func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws -> Bool {
    try withValue(of: key, in: table) { bytes.append(copying: $0) } != nil
  }
}
