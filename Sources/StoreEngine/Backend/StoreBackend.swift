import Files
public import FoundationEssentials

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
/// 1. ``commit(_:_:)`` takes a whole ``ChangeSet`` or nothing. A commit that throws has changed
///    nothing that a later call can see, and can be tried again.
/// 2. What a commit has returned from, every later call sees, on every thread.
/// 3. Look-ups and scans lend bytes: they are read where they are, valid only inside the closure.
///    The closure must not call the backend, and should be short: it may run under a lock.
/// 4. Bytes that make no sense end in a ``StoreError``, never in a trap or in made-up data.
/// 5. A closed backend throws ``StoreError/Code/closed`` from every call that reads or writes.
///    What it knew of commits it still says.
/// 6. Commits have numbers without gaps, see ``Commit``, and a commit that rests on what others have
///    changed is refused, see ``CommitBasis``.
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
  func inspect() throws(StoreError) -> StoreInspection

  /// Why what was saved can't be brought from a log into files; nil where that goes well, or where
  /// there is no log, as by default.
  var foldFailure: FoldFailure? { get }

  /// Where values are kept that are too large for records; nil, as by default, where they stay in
  /// them.
  var externalStorage: (any ExternalStorage)? { get }

  /// Whether commits get an entry in the history, where the store keeps one; false by default.
  ///
  /// See ``beginHistory()``.
  var remembersCommits: Bool { get }

  /// The data as of the last commit, for as long as the result is held, whatever others commit.
  ///
  /// A snapshot is a backend of its own, for reading only. It has the numbers of the last commit and
  /// of the tables that the backend has, and it stays readable when the backend is closed.
  ///
  /// By default a copy in memory, whose cost is linear in the size of all records. The backends of
  /// this package copy nothing.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func snapshot() throws(StoreError) -> any StoreBackend

  /// Makes a backend that shows the data as of an earlier commit, and can only be read.
  ///
  /// Records, named buffers and the items of key-value stores are those of that commit, and so is the
  /// history. Indexes are empty; queries read all objects of a class. Classes are read by the layouts
  /// that they have now.
  ///
  /// Complexity: linear in the entries of the history behind the commit. Memory: what they have
  /// changed.
  ///
  /// - Parameter number: The last commit that counts.
  /// - Returns: The backend, which stays readable while others save.
  /// - Throws: ``StoreError`` with `historyExpired` when not all commits behind the number are
  ///   remembered, `invalidArgument` for one that is yet to come, and as ``snapshot()``.
  func snapshot(asOf number: UInt64) throws(StoreError) -> any StoreBackend

  // MARK: Ordered tables

  /// The number of an ordered table. The table need not exist yet: the first commit makes it.
  ///
  /// - Throws: ``StoreError`` with `invalidName` or `closed`.
  func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID

  /// The names of the ordered tables that have keys, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func orderedTableNames() throws(StoreError) -> [OrderedTableName]

  /// The number of keys in a range.
  ///
  /// Complexity: O(log n) for the backends of this package.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int

  /// Lends the value of a key to a closure.
  ///
  /// - Returns: what the closure returns, or nil when there is no such key.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the value of a key to bytes.
  ///
  /// By default through ``withValue(of:in:_:)``; a backend does it itself where that is faster.
  ///
  /// - Returns: whether there is such a key.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool

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
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool

  // MARK: Commits

  /// Writes a change set: all of it, or nothing.
  ///
  /// Commits may come from any number of threads at once. They become visible one after the other,
  /// each once it is as safe as the backend makes it, in the order of their numbers.
  ///
  /// - Returns: the commit; nil for an empty change set, which changes nothing.
  /// - Throws: ``StoreError`` with `readOnly`, `conflict` (others have changed what the commit rests
  ///   on; a ``CommitConflict`` names it), `rowExists` (an insert of a row that is there),
  ///   `invalidName` (a buffer's name), `invalidArgument`, `noSpace`, `ioError`, `damaged` or `closed`.
  ///   Nothing has been changed then. With `reopenNeeded` the disk has failed half-way, and what it
  ///   holds is known when the backend is opened again: ``commit(withToken:)`` tells.
  @discardableResult
  func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit?

  /// The number of the last commit that every call sees; 0 before the first.
  ///
  /// Quick enough to be asked before every read: what has been read is up to date for as long as it
  /// stays the same.
  var lastCommitNumber: UInt64 { get }

  /// The rows and buffers that commits have changed since a number, the caller's own among them.
  ///
  /// A backend remembers the last commits, those of a hundred small saves for example, and need not
  /// remember any from before it was opened.
  ///
  /// Complexity: linear in the number of changes.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` when nobody knows any more: read everything
  ///   again.
  func changes(since number: UInt64) throws(StoreError) -> ChangeSummary

  /// The commit that has a token, to find out what has become of one whose answer was lost.
  ///
  /// Among the last thousand and those that the opening has found in the log.
  ///
  /// - Returns: the commit; nil when there is none, which after a reopening is final.
  /// - Throws: ``StoreError``, where the backend has to ask a server.
  func commit(withToken token: UUID) throws(StoreError) -> Commit?

  /// Lets the numbers of commits go on after the last commit of another store, of which this one is
  /// a copy; nil for a store that has had none.
  ///
  /// ``BackendCopy`` calls it once, at the end. Nobody commits meanwhile, and nothing else is
  /// changed. By default it does nothing: the numbers are then those of the commits of the copying.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`.
  func continueNumbers(after last: Commit?) throws(StoreError)

  /// Takes row IDs that nobody else gets, one behind the other.
  ///
  /// They count as used once a save says so in the metadata row of the class.
  ///
  /// - Precondition: `count` is positive.
  /// - Throws: ``StoreError`` with `rowIDsExhausted` or `closed`.
  func reserveRows(_ count: Int, in table: TableID) throws(StoreError) -> ClosedRange<UInt32>
}

extension StoreBackend {
  /// Writes a change set over whatever others have committed.
  ///
  /// - Returns: the commit; nil for an empty change set.
  /// - Throws: as ``commit(_:_:)``.
  @discardableResult
  public func commit(_ changes: ChangeSet) throws(StoreError) -> Commit? {
    try commit(changes, CommitRequest())
  }

  /// False: the backend adds no entries.
  public var remembersCommits: Bool { false }

  /// The number of the last commit that the coordinator knows.
  public var lastCommitNumber: UInt64 { coordinator.journal.lastNumber }

  /// The changes, if the coordinator remembers them all.
  public func changes(since number: UInt64) throws(StoreError) -> ChangeSummary {
    try rememberedChanges(since: number)
  }

  /// Returns the changes that the coordinator remembers.
  package func rememberedChanges(since number: UInt64) throws(StoreError) -> ChangeSummary {
    if let summary = coordinator.journal.changes(since: number) { return summary }
    throw StoreError(
      .historyExpired,
      """
      The changes since commit \(number) are no longer known: read the data again, and continue \
      from commit \(lastCommitNumber).
      """,
      at: .init(path: location))
  }

  /// The commit, if the coordinator remembers it.
  public func commit(withToken token: UUID) throws(StoreError) -> Commit? {
    coordinator.journal.commit(withToken: token)
  }

  /// Does nothing.
  public func continueNumbers(after last: Commit?) throws(StoreError) {}

  /// Takes the next rows of those that the metadata row leaves.
  public func reserveRows(_ count: Int, in table: TableID) throws(StoreError) -> ClosedRange<UInt32>
  {
    precondition(count > 0, "so many rows can't be reserved")
    let shared = coordinator.table(table)
    if !shared.hasLearned { try shared.learn(from: self, table) }
    if let rows = shared.reserve(count) { return rows }
    if let failure = shared.rowFailure { throw failure }
    throw StoreError(
      .rowIDsExhausted, "The class has used all its row IDs.", at: .init(path: location))
  }

  /// Copies the value that ``withValue(of:in:_:)`` lends.
  public func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try withValue(of: key, in: table) { bytes.append(copying: $0) } != nil
  }
}
