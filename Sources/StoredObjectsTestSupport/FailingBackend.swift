import Locks
public import StoredObjectsCore

/// A backend that fails when it is told to, and otherwise does what another one does.
///
///     let backend = FailingBackend(try MemoryBackend())
///     backend.failCommits(after: 1)          // one more goes through, the next one throws
///     #expect(throws: StoreError.self) { try store.saveChanges() }
///
/// A failure stands for one call: the one after it goes through again, unless `times` says more.
/// The stores on a failing backend share the coordinator of the backend behind it.
public final class FailingBackend: StoreBackend {
  /// The backend that does the work.
  public let base: any StoreBackend

  private struct Plan {
    var error = FailingBackend.defaultError
    /// How many calls still go through; nil when none is to fail.
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

  /// What is thrown, unless something else is asked for.
  public static let defaultError = StoreError(.ioError, "This failure was asked for.")

  /// Wraps a backend.
  ///
  /// Nothing fails until it is told to.
  public init(_ base: any StoreBackend) { self.base = base }

  /// Makes commits fail, before they reach the backend, once some have gone through.
  public func failCommits(
    after count: Int = 0, times: Int = 1, with error: StoreError = FailingBackend.defaultError
  ) {
    commits.withLock {
      ($0.callsBeforeFailure, $0.failuresLeft, $0.error) = (count, times, error)
    }
  }

  /// Makes look-ups, scans and counts fail once some have gone through.
  public func failReads(
    after count: Int = 0, times: Int = 1, with error: StoreError = FailingBackend.defaultError
  ) {
    reads.withLock {
      ($0.callsBeforeFailure, $0.failuresLeft, $0.error) = (count, times, error)
    }
  }

  /// Lets everything go through again.
  public func stopFailing() {
    commits.withLock { $0.callsBeforeFailure = nil }
    reads.withLock { $0.callsBeforeFailure = nil }
  }

  /// The number of commits so far, failed ones included.
  public var commitCount: Int { commits.withLock(\.calls) }

  /// The number of look-ups, scans and counts so far, failed ones included.
  public var readCount: Int { reads.withLock(\.calls) }

  private func read() throws(StoreError) {
    try reads.withLock { (plan) throws(StoreError) in try plan.call() }
  }
}

extension FailingBackend {
  /// That of the backend behind.
  public var externalStorage: (any ExternalStorage)? { base.externalStorage }
  /// That of the backend behind.
  public var coordinator: StoreCoordinator { base.coordinator }
  /// Of the backend behind it.
  public var foldFailure: FoldFailure? { base.foldFailure }
  /// That of the backend behind.
  public var location: String { base.location }
  /// Whether the backend behind refuses commits.
  public var isReadOnly: Bool { base.isReadOnly }

  /// The number of a table.
  ///
  /// - Throws: what the backend behind throws.
  public func table(named name: String) throws(StoreError) -> TableID {
    try base.table(named: name)
  }

  /// The names of the tables that have records.
  ///
  /// - Throws: what the backend behind throws.
  public func tableNames() throws(StoreError) -> [String] { try base.tableNames() }

  /// The number of rows in a table, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try read()
    return try base.recordCount(in: table)
  }

  /// Lends a record, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try read()
    return try base.withRecord(rowID, in: table, body)
  }

  /// Lends the records of a table, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    try read()
    return try base.scan(table, from: position, body)
  }

  /// Lends a named buffer, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try read()
    return try base.withNamedBuffer(name, body)
  }

  /// The names of all buffers, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func bufferNames() throws(StoreError) -> [String] {
    try read()
    return try base.bufferNames()
  }

  /// The number of an ordered table.
  ///
  /// - Throws: what the backend behind throws.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try base.orderedTable(name)
  }

  /// The names of the ordered tables that have keys.
  ///
  /// - Throws: what the backend behind throws.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    try base.orderedTableNames()
  }

  /// The number of keys in a range, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try read()
    return try base.keyCount(in: table, range)
  }

  /// Lends the value of a key, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try read()
    return try base.withValue(of: key, in: table, body)
  }

  /// Lends keys and values, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try read()
    return try base.scanKeys(of: table, range, isReversed: isReversed, body)
  }

  /// Commits a change set, unless it fails.
  ///
  /// - Throws: the failure that was asked for, or what the backend behind throws.
  @discardableResult
  public func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    try commits.withLock { (plan) throws(StoreError) in try plan.call() }
    return try base.commit(changes, request)
  }

  /// Lets the numbers of the backend behind go on.
  ///
  /// - Throws: what the backend behind throws.
  public func continueNumbers(after last: Commit?) throws(StoreError) {
    try base.continueNumbers(after: last)
  }

  /// A snapshot of the backend behind.
  ///
  /// - Throws: what the backend behind throws.
  public func snapshot() throws(StoreError) -> any StoreBackend { try base.snapshot() }

  /// Closes the backend behind.
  ///
  /// - Throws: what the backend behind throws.
  public func close() throws(StoreError) { try base.close() }
}
