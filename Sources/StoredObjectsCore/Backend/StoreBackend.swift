/// Where a store keeps its records: tables of rows, and named buffers.
///
/// A table holds the records of one class under row IDs (`UInt32`, from 1). A backend sees only
/// bytes: it knows neither classes nor what a record means. Several stores may share one backend, on
/// any threads, so that every call must be safe beside every other.
///
/// What a backend promises:
///
/// 1. ``commit(_:)`` takes a whole ``ChangeSet`` or nothing. A commit that throws has changed
///    nothing that a later call can see, and can be tried again.
/// 2. What a commit has returned from, every later call sees, on every thread.
/// 3. Look-ups and scans lend bytes: they are read where they are, valid only inside the closure.
///    The closure must not call the backend, and should be short: it may run under a lock.
/// 4. Bytes that make no sense end in a ``StoreError``, never in a trap or in made-up data.
/// 5. A closed backend throws ``StoreError/Code/closed`` from every call but ``close()``.
///
/// The conformance suite in `StoredObjectsTestSupport` tests all of this. <doc:WritingABackend>
/// shows how to write one.
public protocol StoreBackend: AnyObject, Sendable {
  /// What the stores on this backend share. Make one and keep it.
  var coordinator: StoreCoordinator { get }

  /// Where the records are, as a user would name it: a path, or "memory".
  var location: String { get }

  /// Whether ``commit(_:)`` is refused.
  var isReadOnly: Bool { get }

  /// The number of a table. The table need not exist yet: the first commit makes it.
  ///
  /// - Throws: ``StoreError`` with `invalidName`, when the backend can't hold a table of that name,
  ///   `inUse`, `damaged`, `ioError` or `closed`.
  func table(named name: String) throws -> TableID

  /// The names of the tables that have records, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func tableNames() throws -> [String]

  /// The number of rows in a table, row 1 included; 0 for a table that was never written.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func recordCount(in table: TableID) throws -> Int

  /// Lends the record of a row to a closure.
  ///
  /// - Returns: what the closure returns, or nil when there is no such row.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result?

  /// Lends the records of a table, row 1 included, each once, in whatever order suits the backend.
  ///
  /// A scan holds no lock and no memory between two calls, so that scans may nest, be abandoned, and
  /// have commits between them.
  ///
  /// - Parameters:
  ///   - table: The table to read.
  ///   - position: Where to go on; nil is the beginning.
  ///   - body: Gets each row ID and its record.
  /// - Returns: How the scan ended. With a position from before a commit that touched the table it
  ///   is ``ScanEnd/disturbed``, and the body has not been called.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws -> ScanStep
  ) throws -> ScanEnd

  /// Lends the buffer that is saved under a name.
  ///
  /// - Returns: what the closure returns, or nil when there is no such name.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result?

  /// The names of all saved buffers, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func bufferNames() throws -> [String]

  /// Looks at the files, before a check reads their records; by default only asks for the tables.
  ///
  /// A backend whose files can be so damaged that reading them is dangerous, or ends too early, says
  /// so here and leaves them out.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func inspect() throws -> StoreInspection

  /// Writes a change set: all of it, or nothing.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `rowExists` (an insert of a row that is there),
  ///   `invalidName` (a buffer's name), `full`, `ioError`, `damaged` or `closed`. Nothing has been
  ///   changed then. With `reopenNeeded` the disk has failed half-way, and what it holds is known
  ///   when the backend is opened again.
  func commit(_ changes: ChangeSet) throws

  /// Releases files and locks. Closing twice is harmless.
  ///
  /// - Throws: ``StoreError`` with `ioError`, when the last bytes could not be written.
  func close() throws
}
