import Locks
public import StoredObjectsCore

/// A backend that fails on demand, and otherwise forwards to another one.
///
///     let backend = FailingBackend(try MemoryBackend())
///     backend.failCommits(after: 1)  // one more goes through, the next one throws
///     #expect(throws: StoreError.self) { try store.saveChanges() }
///
/// A failure applies to one call, unless `times` is higher: the next call works again. Stores on a
/// failing backend share the coordinator of the wrapped backend.
public final class FailingBackend: StoreBackend {
  /// The wrapped backend.
  public let base: any StoreBackend

  private struct Plan {
    var error = FailingBackend.defaultError
    /// The number of calls before the failure; nil if none is to fail.
    var callsBeforeFailure: Int?
    var failuresLeft = 0
    var calls = 0

    mutating func call() throws(StoreError) {
      calls += 1
      guard let callsLeft = callsBeforeFailure else { return }
      guard callsLeft == 0 else { return callsBeforeFailure = callsLeft - 1 }
      failuresLeft -= 1
      if failuresLeft <= 0 { callsBeforeFailure = nil }
      throw error
    }
  }

  private let commits = Locked(Plan())
  private let reads = Locked(Plan())

  /// The default error of a failure.
  public static let defaultError = StoreError(.ioError, "This failure was asked for.")

  /// Wraps a backend.
  ///
  /// No call fails until you request it.
  public init(_ base: any StoreBackend) { self.base = base }

  /// Makes commits fail before they reach the wrapped backend, after some have succeeded.
  public func failCommits(
    after count: Int = 0, times: Int = 1, with error: StoreError = FailingBackend.defaultError
  ) {
    commits.withLock {
      ($0.callsBeforeFailure, $0.failuresLeft, $0.error) = (count, times, error)
    }
  }

  /// Makes look-ups, scans and counts fail, after some have succeeded.
  public func failReads(
    after count: Int = 0, times: Int = 1, with error: StoreError = FailingBackend.defaultError
  ) {
    reads.withLock {
      ($0.callsBeforeFailure, $0.failuresLeft, $0.error) = (count, times, error)
    }
  }

  /// Makes all calls succeed again.
  public func stopFailing() {
    commits.withLock { $0.callsBeforeFailure = nil }
    reads.withLock { $0.callsBeforeFailure = nil }
  }

  /// The number of commits so far, including failed ones.
  public var commitCount: Int { commits.withLock(\.calls) }

  /// The number of look-ups, scans and counts so far, including failed ones.
  public var readCount: Int { reads.withLock(\.calls) }

  private func read() throws(StoreError) {
    try reads.withLock { (plan) throws(StoreError) in try plan.call() }
  }
}

extension FailingBackend {
  /// The external storage of the wrapped backend.
  public var externalStorage: (any ExternalStorage)? { base.externalStorage }
  /// The coordinator of the wrapped backend.
  public var coordinator: StoreCoordinator { base.coordinator }
  /// The fold failure of the wrapped backend.
  public var foldFailure: FoldFailure? { base.foldFailure }
  /// The location of the wrapped backend.
  public var location: String { base.location }
  /// Whether the wrapped backend is read-only.
  public var isReadOnly: Bool { base.isReadOnly }

  /// Returns the number of a table.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func table(named name: String) throws(StoreError) -> TableID {
    try base.table(named: name)
  }

  /// Returns the names of the tables that have records.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func tableNames() throws(StoreError) -> [String] { try base.tableNames() }

  /// Returns the number of rows in a table, unless the call is to fail.
  ///
  /// Complexity: that of the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try read()
    return try base.recordCount(in: table)
  }

  /// Calls a closure with a record, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try read()
    return try base.withRecord(rowID, in: table, body)
  }

  /// Calls a closure with the records of a table, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    try read()
    return try base.scan(table, from: position, body)
  }

  /// Calls a closure with a named buffer, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try read()
    return try base.withNamedBuffer(name, body)
  }

  /// Returns the names of all buffers, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func bufferNames() throws(StoreError) -> [String] {
    try read()
    return try base.bufferNames()
  }

  /// Returns the number of an ordered table.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try base.orderedTable(name)
  }

  /// Returns the names of the ordered tables that have keys.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    try base.orderedTableNames()
  }

  /// Returns the number of keys in a range, unless the call is to fail.
  ///
  /// Complexity: that of the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try read()
    return try base.keyCount(in: table, range)
  }

  /// Returns counts and values and copies records, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func summary(
    of table: TableID, _ ordered: [OrderedTableID], valuesOf key: [UInt8], copying rows: [UInt32],
    keysIn ranges: [(table: OrderedTableID, range: KeyRange)], to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary {
    try read()
    return try base.summary(
      of: table, ordered, valuesOf: key, copying: rows, keysIn: ranges, to: &batch)
  }

  /// Calls a closure with the value of a key, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try read()
    return try base.withValue(of: key, in: table, body)
  }

  /// Calls a closure with keys and values, unless the call is to fail.
  ///
  /// Complexity: that of the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try read()
    return try base.scanKeys(of: table, range, isReversed: isReversed, body)
  }

  /// Commits a change set, unless the call is to fail.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The requested error, and the errors of the wrapped backend.
  @discardableResult
  public func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    try commits.withLock { (plan) throws(StoreError) in try plan.call() }
    return try base.commit(changes, request)
  }

  /// Continues the commit numbers of the wrapped backend.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func continueNumbers(after last: Commit?) throws(StoreError) {
    try base.continueNumbers(after: last)
  }

  /// Whether snapshots of the wrapped backend hold connections.
  public var snapshotsHoldConnections: Bool { base.snapshotsHoldConnections }

  /// Returns a snapshot of the wrapped backend.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func snapshot() throws(StoreError) -> any StoreBackend { try base.snapshot() }

  /// Closes the wrapped backend.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: The errors of the wrapped backend.
  public func close() throws(StoreError) { try base.close() }
}
