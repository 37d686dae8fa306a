import Files
public import FoundationEssentials

/// The storage of a store: tables of rows, named buffers, and ordered tables.
///
/// A table holds the records of one class under row IDs (`UInt32`, from 1). A backend sees only
/// bytes: it knows neither classes nor the meaning of a record. An ordered table holds keys (any
/// bytes, in the order of `memcmp`) with a value each, which may be empty; see
/// ``OrderedTableName``. Several stores may share one backend on any threads, so every call must be
/// safe at the same time as any other.
///
/// A backend guarantees:
///
/// 1. ``commit(_:_:)`` writes a whole ``ChangeSet`` or nothing. A commit that throws has changed
///    nothing that a later call can see, and can be retried.
/// 2. Once a commit has returned, every later call sees it, on every thread.
/// 3. Look-ups and scans pass bytes to closures in place, without a copy. The bytes are valid only
///    inside the closure. The closure must not call the backend, and should be short: it may run
///    under a lock.
/// 4. Bytes that make no sense lead to a ``StoreError``, never to a trap or to invented data.
/// 5. A closed backend throws ``StoreError/Code/closed`` from every call that reads or writes.
///    Its knowledge of commits stays available.
/// 6. Commits have numbers without gaps, see ``Commit``. A commit that is based on data that others
///    have changed is refused, see ``CommitBasis``.
///
/// The conformance suite in `StoredObjectsTestSupport` tests all of this. <doc:WritingABackend>
/// shows how to write a backend.
public protocol StoreBackend: RecordSource {
  /// The state that the stores on this backend share. Create one coordinator and keep it.
  var coordinator: StoreCoordinator { get }

  /// Inspects the files before a check reads their records; by default it only asks for the tables.
  ///
  /// If files are so damaged that reading them is dangerous, or ends too early, the backend reports
  /// them here and leaves them out.
  ///
  /// Complexity: at most linear in the size of the files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func inspect() throws(StoreError) -> StoreInspection

  /// The failure to fold the log into files; nil if there is none. By default nil, for a backend
  /// without a log.
  var foldFailure: FoldFailure? { get }

  /// The storage of values that are too large for records; nil, the default, if they stay in the
  /// records.
  var externalStorage: (any ExternalStorage)? { get }

  /// Whether commits get an entry in the history, if the store keeps one; false by default.
  ///
  /// See ``beginHistory()``.
  var remembersCommits: Bool { get }

  /// Whether each snapshot keeps a connection to a server until it is released; false by default.
  ///
  /// A container then releases the snapshot of each read at its end.
  var snapshotsHoldConnections: Bool { get }

  /// Returns the data as of the last commit, for as long as the result is held, whatever others
  /// commit.
  ///
  /// A snapshot is a separate backend, for reading only. It has the last commit number and the
  /// table numbers of this backend, and it stays readable when this backend is closed.
  ///
  /// The default implementation makes a copy in memory. The backends of this package copy nothing:
  /// a snapshot of files keeps those that are replaced, and a snapshot on a server is a transaction.
  ///
  /// Complexity: linear in the size of all records if they are copied, otherwise at most linear in
  /// the number of tables.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func snapshot() throws(StoreError) -> any StoreBackend

  /// Returns a read-only backend with the data as of an earlier commit.
  ///
  /// Records, named buffers, the items of key-value stores and the history are those of that
  /// commit. Indexes are empty; queries read all objects of a class. Classes are read by the
  /// layouts that they have now.
  ///
  /// Complexity: linear in the entries of the history after the commit. Memory: the size of their
  /// changes.
  ///
  /// - Parameter number: The last commit to include.
  /// - Returns: The backend, which stays readable while others save.
  /// - Throws: ``StoreError`` with `historyExpired` if some commits after the number are not in the
  ///   history, with `invalidArgument` for a number that is still to come, or an error of
  ///   ``snapshot()``.
  func snapshot(asOf number: UInt64) throws(StoreError) -> any StoreBackend

  // MARK: Ordered tables

  /// Returns the number of an ordered table, which need not exist: the first commit creates it.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `invalidName` or `closed`.
  func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID

  /// Returns the names of the ordered tables that have keys, in no order.
  ///
  /// Complexity: linear in the number of ordered tables. A backend on files also reads the names in
  /// the directory, and opens files that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func orderedTableNames() throws(StoreError) -> [OrderedTableName]

  /// Returns the number of keys in a range.
  ///
  /// Complexity: O(log n) in the files of this package's backends, and O(log² m) for m changes that
  /// are not in a file yet. A server counts the keys of a range.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int

  /// Calls a closure with the value of a key.
  ///
  /// Complexity: O(log n); one round trip to a server.
  ///
  /// - Returns: The result of the closure, or nil if the key does not exist.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the value of a key to bytes.
  ///
  /// The default implementation calls ``withValue(of:in:_:)``; a backend implements it where that
  /// is faster.
  ///
  /// Complexity: O(log n), and linear in the size of the value; one round trip to a server.
  ///
  /// - Returns: Whether the key exists.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool

  /// Calls a closure with the keys of a range and their values, in ascending or descending order.
  ///
  /// One call sees the table as it was when the call began. To continue a paused scan, make another
  /// call with a range that begins after the last key (``KeyRange/init(after:to:)``) or, in
  /// descending order, ends before it. Nothing is held in between, and commits disturb no scan.
  ///
  /// Complexity: O(log n), and linear in the size of the keys and values that are visited. Memory:
  /// a page of the file.
  ///
  /// - Parameters:
  ///   - table: The table to read.
  ///   - range: The range of the keys.
  ///   - isReversed: Whether the last key comes first.
  ///   - body: Called with each key and its value, which are valid only inside; must not call the
  ///     backend.
  /// - Returns: Whether all keys have been visited; false if the closure has paused.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool

  /// Returns the number of rows in a table, and the state of some ordered tables.
  ///
  /// It also adds copies of some records to a batch, and returns the keys in some ranges. A store
  /// calls it before it saves objects of a class with indexes. It gets the earlier records of the
  /// objects, and the keys that their unique values could clash with.
  ///
  /// The default implementation makes several calls. A backend on a server answers in one round
  /// trip, with numbers and values as of one commit. The records and the keys in ranges may be of
  /// later commits.
  ///
  /// Complexity: as ``RecordSource/recordCount(in:)``, ``keyCount(in:_:)`` and
  /// ``withValue(of:in:_:)`` for each table, ``RecordSource/copyRecords(_:of:to:)``, and
  /// ``scanKeys(of:_:isReversed:_:)`` for each range.
  ///
  /// - Parameters:
  ///   - table: The table of records.
  ///   - ordered: The ordered tables.
  ///   - key: The key whose value is returned from each ordered table.
  ///   - rows: The rows of the records; rows that don't exist are skipped.
  ///   - ranges: The ranges of keys, each of which should have few keys.
  ///   - batch: The batch to which the records are added.
  /// - Returns: The counts, values and keys.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func summary(
    of table: TableID, _ ordered: [OrderedTableID], valuesOf key: [UInt8], copying rows: [UInt32],
    keysIn ranges: [(table: OrderedTableID, range: KeyRange)], to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary

  // MARK: Commits

  /// Writes a change set: all of it, or nothing.
  ///
  /// Any number of threads may commit at the same time. Commits become visible one after another,
  /// in the order of their numbers, each once it is as durable as the backend makes it.
  ///
  /// Complexity: linear in the change set, and one wait for the disk or one round trip to a server,
  /// as the durability requires.
  ///
  /// - Returns: The commit; nil for an empty change set, which changes nothing.
  /// - Throws: ``StoreError`` with `readOnly`, `conflict` (others have changed data that the commit
  ///   is based on; a ``CommitConflict`` names it), `rowExists` (an insert of a row that exists),
  ///   `invalidName` (a buffer's name), `invalidArgument`, `tooLarge`, `noSpace`, `ioError`,
  ///   `damaged` or `closed`. In these cases nothing has changed. With `reopenNeeded` the disk has
  ///   failed in the middle of the write, and its state is known only when the backend is opened
  ///   again. Then ``commit(withToken:)`` reports whether the commit was made.
  @discardableResult
  func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit?

  /// The number of the last commit that every call sees; 0 before the first.
  ///
  /// It is fast enough to be read before every other read. As long as it doesn't change, earlier
  /// results are up to date.
  var lastCommitNumber: UInt64 { get }

  /// Returns the rows and buffers that commits have changed since a number, including those of the
  /// caller.
  ///
  /// A backend remembers the last commits, for example those of a hundred small saves. It need not
  /// remember any from before it was opened.
  ///
  /// Complexity: linear in the number of changes.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if the changes are no longer known: read
  ///   everything again.
  func changes(since number: UInt64) throws(StoreError) -> ChangeSummary

  /// Returns the commit that has a token, to find out the result of a commit whose answer was lost.
  ///
  /// The backend searches the last thousand commits, and those that it found in the log when it was
  /// opened.
  ///
  /// Complexity: linear in the number of commits that are remembered; one round trip to a server.
  ///
  /// - Returns: The commit; nil if there is none, which is final after the backend was opened
  ///   again.
  /// - Throws: ``StoreError`` if the backend has to ask a server.
  func commit(withToken token: UUID) throws(StoreError) -> Commit?

  /// Continues the numbers of commits after the last commit of another store, of which this one is
  /// a copy; nil for a store without commits.
  ///
  /// ``BackendCopy`` calls it once, at the end. Nobody commits meanwhile, and nothing else changes.
  /// By default it does nothing: the numbers are then those of the commits of the copying.
  ///
  /// Complexity: a backend on files folds its log. On a server, one round trip, and linear in the
  /// number of commits that are remembered.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`, or with `inUse` if other
  ///   processes share the store.
  func continueNumbers(after last: Commit?) throws(StoreError)

  /// Reserves consecutive row IDs that nobody else gets.
  ///
  /// They count as used once a save records them in the metadata row of the class.
  ///
  /// Complexity: constant time. The first call reads the metadata row. If other processes reserve
  /// rows, too, some calls wait for a new block of rows.
  ///
  /// - Precondition: `count` is positive.
  /// - Throws: ``StoreError`` with `rowIDsExhausted`, with `damaged` or `ioError` if the metadata row
  ///   can't be read, or with `closed`.
  func reserveRows(_ count: Int, in table: TableID) throws(StoreError) -> ClosedRange<UInt32>
}

extension StoreBackend {
  /// Writes a change set and overwrites changes of others.
  ///
  /// Complexity: as ``commit(_:_:)``.
  ///
  /// - Returns: The commit; nil for an empty change set.
  /// - Throws: An error of ``commit(_:_:)``.
  @discardableResult
  public func commit(_ changes: ChangeSet) throws(StoreError) -> Commit? {
    try commit(changes, CommitRequest())
  }

  /// Whether the backend adds an entry to the history for each commit: false.
  public var remembersCommits: Bool { false }

  /// The number of the last commit that the coordinator knows.
  public var lastCommitNumber: UInt64 { coordinator.journal.lastNumber }

  /// Returns the changes if the coordinator remembers all of them.
  ///
  /// Complexity: linear in the changes of the commits after the number.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if the coordinator no longer remembers all
  ///   changes.
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

  /// Returns the commit if the coordinator remembers it.
  ///
  /// Complexity: linear in the number of commits that are remembered.
  ///
  /// - Throws: Nothing; a backend that looks elsewhere can throw ``StoreError``.
  public func commit(withToken token: UUID) throws(StoreError) -> Commit? {
    coordinator.journal.commit(withToken: token)
  }

  /// Does nothing.
  public func continueNumbers(after last: Commit?) throws(StoreError) {}

  /// Reserves the next row IDs after those in the metadata row.
  ///
  /// Complexity: constant time; the first call for a table reads its metadata row. If rows come in
  /// blocks, some calls wait for a new block.
  ///
  /// - Throws: ``StoreError`` with `rowIDsExhausted`, with `damaged` for an invalid metadata row,
  ///   or an error of ``RecordSource/withRecord(_:in:_:)``. If rows come in blocks, also the error
  ///   of reserving a block.
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

  /// Copies the value that ``withValue(of:in:_:)`` passes to a closure.
  ///
  /// Complexity: as ``withValue(of:in:_:)``, and linear in the size of the value.
  ///
  /// - Throws: ``StoreError``, as ``withValue(of:in:_:)``.
  public func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try withValue(of: key, in: table) { bytes.append(copying: $0) } != nil
  }
}
