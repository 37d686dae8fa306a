import Files
import Locks

/// A backend that keeps its records in memory, for tests and temporary data.
///
/// It behaves like a backend on disk. A save is all or nothing, and only one backend at a time can
/// write to a disk. Saved data is there when the disk is opened again.
///
///     let disk = MemoryDisk()
///     let first = try MemoryBackend(disk: disk)
///     // save, close
///     let second = try MemoryBackend(disk: disk)
public final class MemoryBackend: StoreBackend {
  /// The coordinator that the stores on this backend share.
  public let coordinator: StoreCoordinator
  /// The location, "memory".
  public let location = "memory"
  /// Whether commits are refused.
  public let isReadOnly: Bool

  let disk: MemoryDisk
  /// The external values, if they belong to another backend; nil if the disk has them.
  let valuesInUse: ExternalValuesInUse?
  private let session: Locked<Session>

  struct Session {
    var numbers = TableNumbers()
    var isClosed = false
  }

  /// Opens a disk, by default a new one.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `inUse` if another backend has the disk open for writing, or if
  ///   it is open at all and this backend would write.
  public init(disk: MemoryDisk = MemoryDisk(), isReadOnly: Bool = false) throws(StoreError) {
    // Opens first: after all properties are set, an error would run `deinit`, which would unlock
    // the disk of another backend.
    let last = try disk.open(isReadOnly: isReadOnly)
    self.disk = disk
    session = Locked(Session())
    (self.isReadOnly, valuesInUse, coordinator) = (isReadOnly, nil, StoreCoordinator())
    coordinator.begin(after: last)
  }

  /// Opens a copy of another backend's disk, with the same table numbers.
  init(copyOf backend: MemoryBackend, isReadOnly: Bool) throws(StoreError) {
    disk = backend.disk.copied()
    session = Locked(try backend.inSession { $0 })
    (self.isReadOnly, valuesInUse, coordinator) = (isReadOnly, nil, StoreCoordinator())
    coordinator.begin(after: try disk.open(isReadOnly: isReadOnly))
  }

  /// Opens a disk that holds a copy of another backend's data, as a snapshot of that backend.
  package init(
    snapshotOn disk: MemoryDisk, _ valuesInUse: ExternalValuesInUse?
  ) throws(StoreError) {
    let last = try disk.open(isReadOnly: true)
    (self.disk, isReadOnly) = (disk, true)
    session = Locked(Session())
    self.valuesInUse = valuesInUse
    coordinator = StoreCoordinator(ofSnapshotAt: "memory", last, valuesInUse?.values)
  }

  deinit { closeOnce() }

  /// Closes the backend, so that another one can open the disk.
  ///
  /// Closing it twice has no effect.
  public func close() { closeOnce() }

  private func closeOnce() {
    let wasOpen = session.withLock { session in
      defer { session.isClosed = true }
      return !session.isClosed
    }
    if wasOpen { disk.close(isReadOnly: isReadOnly) }
  }

  /// Returns the number of a table, which is assigned if the table is new.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `invalidName` or `closed`.
  public func table(named name: String) throws(StoreError) -> TableID {
    guard !name.isEmpty else {
      throw StoreError(.invalidName, "A class needs a name.", at: .init(path: location))
    }
    return try inSession { $0.numbers.table(named: name) }
  }

  /// Returns the names of the tables that have records.
  ///
  /// Complexity: linear in the number of tables.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func tableNames() throws(StoreError) -> [String] {
    try checkOpen()
    return disk.contents.withLock { $0.tables.filter { !$0.value.records.isEmpty }.map(\.key) }
  }

  /// Returns the number of rows in a table.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try read(table) { $0?.records.count ?? 0 }
  }

  /// Calls a closure with the record of a row.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `closed`, or an error of the closure.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let record = try read(table, { $0?.records[rowID] }) else { return nil }
    return try record.lend(body)
  }

  /// Calls a closure with the records of a table, in the order of their rows.
  ///
  /// Complexity: linear in the number of rows that are visited.
  ///
  /// - Throws: ``StoreError`` with `closed`, or an error of the closure.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    let contents = try read(table) { $0 ?? MemoryTable() }
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

  /// Calls a closure with the bytes of a named buffer.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `closed`, or an error of the closure.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try checkOpen()
    guard let buffer = disk.contents.withLock({ $0.names[ExactName(name)] }) else { return nil }
    return try buffer.lend(body)
  }

  /// Returns the names of all buffers.
  ///
  /// Complexity: linear in the number of buffers.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func bufferNames() throws(StoreError) -> [String] {
    try checkOpen()
    return disk.contents.withLock { $0.names.keys.map(\.text) }
  }

  /// Applies a change set under one lock.
  ///
  /// Complexity: linear in the change set, and amortized O(log n) for each key. A table that a
  /// snapshot shares is copied first. An insert of a row below the last one is linear in the number
  /// of rows.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `conflict`, `rowExists`, `invalidArgument`,
  ///   `damaged` (the history, or the position in a followed history) or `closed`.
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

  /// Continues the commit numbers of another store.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func continueNumbers(after last: Commit?) throws(StoreError) {
    try checkOpen()
    disk.contents.withLock { $0.lastCommit = last }
    coordinator.begin(after: last)
  }

  func checkOpen() throws(StoreError) { _ = try inSession(\.isClosed) }

  /// Calls a closure with a table, or nil for one that was never saved, under the lock of the disk.
  ///
  /// Returning the whole table makes a snapshot of it, which the next save copies.
  private func read<Value>(
    _ table: TableID, _ body: (MemoryTable?) -> Value
  ) throws(StoreError) -> Value {
    let name = try inSession { $0.numbers.names[table.index] }
    return disk.contents.withLock { body($0.tables[name]) }
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
