import Files
import Locks

/// A backend that keeps its records in memory, for tests and scratch work.
///
/// It behaves as one on disk does: saves take all or nothing, a disk is open once at a time, and
/// what was saved is there when the disk is opened again.
///
///     let disk = MemoryDisk()
///     let first = try MemoryBackend(disk: disk)
///     // save, close
///     let second = try MemoryBackend(disk: disk)
public final class MemoryBackend: StoreBackend {
  /// What the stores on this backend share.
  public let coordinator: StoreCoordinator
  /// "memory".
  public let location = "memory"
  /// Whether commits are refused.
  public let isReadOnly: Bool

  let disk: MemoryDisk
  /// The values outside of records, where they are another backend's; nil where the disk has them.
  let valuesInUse: ExternalValuesInUse?
  private let session: Locked<Session>

  struct Session {
    var numbers = TableNumbers()
    var isClosed = false
  }

  /// Opens a disk, or a new one.
  ///
  /// - Throws: ``StoreError`` with `inUse` when another backend has the disk open for writing.
  public init(disk: MemoryDisk = MemoryDisk(), isReadOnly: Bool = false) throws(StoreError) {
    // First: once all properties are set, a refusal would run `deinit`, and unlock another's disk.
    let last = try disk.open(isReadOnly: isReadOnly)
    (self.disk, session) = (disk, Locked(Session()))
    (self.isReadOnly, valuesInUse, coordinator) = (isReadOnly, nil, StoreCoordinator())
    coordinator.begin(after: last)
  }

  /// Opens a copy of another backend's disk, under the same numbers of tables.
  init(snapshotOf backend: MemoryBackend) throws(StoreError) {
    disk = backend.disk.copied()
    session = Locked(try backend.inSession { $0 })
    (isReadOnly, valuesInUse, coordinator) = (true, nil, StoreCoordinator())
    coordinator.begin(after: try disk.open(isReadOnly: true))
  }

  /// Opens a disk with a copy of another backend's data, as a snapshot of that.
  package init(
    snapshotOn disk: MemoryDisk, _ valuesInUse: ExternalValuesInUse?
  ) throws(StoreError) {
    let last = try disk.open(isReadOnly: true)
    (self.disk, session, isReadOnly) = (disk, Locked(Session()), true)
    self.valuesInUse = valuesInUse
    coordinator = StoreCoordinator(ofSnapshotAt: "memory", last, valuesInUse?.values)
  }

  deinit { closeOnce() }

  /// Lets another backend open the disk.
  ///
  /// Closing twice is harmless.
  public func close() { closeOnce() }

  private func closeOnce() {
    let wasOpen = session.withLock { session in
      defer { session.isClosed = true }
      return !session.isClosed
    }
    if wasOpen { disk.close(isReadOnly: isReadOnly) }
  }

  /// The number of a table, new or known.
  public func table(named name: String) throws(StoreError) -> TableID {
    guard !name.isEmpty else {
      throw StoreError(.invalidName, "A class needs a name.", at: .init(path: location))
    }
    return try inSession { $0.numbers.table(named: name) }
  }

  /// The names of the tables that have records.
  public func tableNames() throws(StoreError) -> [String] {
    try checkOpen()
    return disk.contents.withLock { $0.tables.filter { !$0.value.records.isEmpty }.map(\.key) }
  }

  /// The number of rows in a table.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try contents(of: table).records.count
  }

  /// Lends the record of a row.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let record = try contents(of: table).records[rowID] else { return nil }
    return try record.lend(body)
  }

  /// Lends the records of a table in the order of their rows.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    let contents = try contents(of: table)
    if let position, position.generation != contents.generation { return .disturbed }
    var index = Int(position?.location ?? 0)
    while index < contents.rows.count {
      let rowID = contents.rows[index]
      index += 1
      guard let record = contents.records[rowID] else { continue }
      let step = try record.lend { (record) throws(StoreError) in try body(rowID, record) }
      if step == .pause {
        return .paused(.init(location: UInt64(index), generation: contents.generation))
      }
    }
    return .finished
  }

  /// Lends the buffer of a name.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try checkOpen()
    guard let buffer = disk.contents.withLock({ $0.names[ExactName(name)] }) else { return nil }
    return try buffer.lend(body)
  }

  /// The names of all buffers.
  public func bufferNames() throws(StoreError) -> [String] {
    try checkOpen()
    return disk.contents.withLock { $0.names.keys.map(\.text) }
  }

  /// Writes a change set under one lock.
  @discardableResult
  public func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    let (names, ordered) = try inSession { ($0.numbers.names, $0.numbers.orderedNames) }
    guard !isReadOnly else {
      throw StoreError.readOnly(at: location)
    }
    try checkMayCommit(request)
    return try coordinator.perform(
      changes, request, at: location,
      names: ({ names[$0.index] }, { ordered[$0.index].fileName })
    ) { (commit) throws(StoreError) in
      guard let remembered = try remembering(changes, commit, request) else {
        return try disk.apply(changes, commit, tableNames: names, orderedNames: ordered)
      }
      let ordered = try inSession { $0.numbers.orderedNames }
      try disk.apply(remembered, commit, tableNames: names, orderedNames: ordered)
    }
  }

  /// Lets the numbers of commits go on after those of another store.
  public func continueNumbers(after last: Commit?) throws(StoreError) {
    try checkOpen()
    disk.contents.withLock { $0.lastCommit = last }
    coordinator.begin(after: last)
  }

  func checkOpen() throws(StoreError) { _ = try inSession(\.isClosed) }

  /// A snapshot of a table: nobody waits for whoever looks at it.
  private func contents(of table: TableID) throws(StoreError) -> MemoryTable {
    let name = try inSession { $0.numbers.names[table.index] }
    return disk.contents.withLock { $0.tables[name] ?? MemoryTable() }
  }

  func inSession<Value: Sendable>(
    _ body: (inout sending Session) throws(StoreError) -> sending Value
  ) throws(StoreError) -> Value {
    try session.withLock { (session) throws(StoreError) in
      guard !session.isClosed else {
        throw StoreError(.closed, "The backend has been closed.", at: .init(path: "memory"))
      }
      return try body(&session)
    }
  }
}
