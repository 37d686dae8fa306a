import Files
import FoundationEssentials
import Locks
public import StoreEngine
import Synchronization

/// A store in a PostgreSQL database, which any number of backends on any machines may have open.
///
///     let backend = try PostgreSQLBackend("postgresql://jukebox@db/music", store: "Music")
///     let store = Store(backend: backend)
///
/// Safe on any thread. Each call waits for the server on the calling thread; a `write` of a
/// `StoreContainer` waits without one. See <doc:PostgreSQLBackend> for the costs of calls and for
/// what happens when something fails.
public final class PostgreSQLBackend: StoreBackend {
  /// The state that the stores on this backend share.
  public let coordinator: StoreCoordinator
  /// The address of the database and the name of the store, without the role and its password.
  public let location: String
  /// Whether commits are refused.
  public let isReadOnly: Bool
  /// The settings of the backend.
  public let configuration: PostgreSQLConfiguration

  let pool: ConnectionPool
  /// Seals the data for the server; nil for a store that is not encrypted.
  let sealing: ServerSealing?
  /// The order of keys, for an encrypted store, whose keys the server can't order.
  let sortedKeys: Locked<SortedKeys>
  /// The number of the store in the database.
  let storeID: Int32
  /// The numbers of tables in this process.
  let numbers: Locked<TableNumbers>
  /// Commits whose outcomes are not known.
  let underWay = Locked<[UUID: OutgoingCommit]>([:])
  /// The queue in which commits wait for each other.
  let queue = CommitQueue<OutgoingCommit>()
  /// A lock that is held while stores are notified of commits.
  let delivering = Locked(false)
  /// The thread that holds ``delivering``.
  let deliverer = Atomic<UInt>(0)
  /// Ordered tables that have no keys.
  let empty = Locked(EmptyTables())
  /// Whether the store kept a history at the last commit of this process, as far as it knows.
  let keepsHistory: Atomic<Bool>
  /// The tables that every commit is compared with.
  let (historyTable, followerTable, catalogue): (OrderedTableID, OrderedTableID, OrderedTableID)
  /// The numbers of tables in the server.
  let tableIDs = Locked(ServerTableIDs())
  /// Which commits are sent on the short way.
  let smallAttempts = Locked(SmallAttempts())
  /// The time of the last answer with the number of the last commit.
  let lastAnswer = Locked<ContinuousClock.Instant?>(nil)
  /// The calls that wait for the commits of others without a thread.
  let questions = Locked(WaitingQuestions())
  /// The data that a snapshot reads; nil for a backend that reads the last commit.
  let held: HeldSnapshot?
  /// Asks for commits of others while there are observers.
  private let poller = ObserverThread()

  /// Opens a store, or creates it and the schema if they don't exist.
  ///
  /// Complexity: some round trips, and one for each external value that is no longer needed and is
  /// removed. An encrypted store also takes the time of its key.
  ///
  /// - Parameters:
  ///   - connection: A connection string of libpq: a URL or settings.
  ///   - store: The name of the store: 1 to 1,000 bytes of UTF-8, without NUL.
  ///   - key: The key of an encrypted store. A store that is still empty is encrypted from then on.
  ///   - configuration: The settings of the backend.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` (the string or the name is not
  ///   valid), `encrypted` (pass the key), `notEncrypted`, `wrongKey`, `ioError` (no connection,
  ///   missing permissions, or no such store when opened for reading), `newerVersion`, `readOnly`
  ///   (a standby), `noSpace` or `damaged`.
  public init(
    _ connection: String, store: String, key: (any StoreKey)? = nil,
    configuration: PostgreSQLConfiguration = PostgreSQLConfiguration()
  ) throws(StoreError) {
    try Self.checkStoreName(store)
    let target = try ConnectionTarget(connection, store: store, configuration)
    pool = ConnectionPool(target, configuration)
    (location, self.configuration) = (target.location, configuration)
    isReadOnly = configuration.access == .readOnly
    let opened: StoreOpening
    do {
      opened = try StoreOpening(pool, store, key, at: target.location, isReadOnly: isReadOnly)
    } catch {
      pool.close()
      throw error
    }
    (storeID, sealing, held) = (opened.storeID, opened.sealing, nil)
    var numbers = TableNumbers()
    historyTable = numbers.orderedTable(ServerHistory.table)
    followerTable = numbers.orderedTable(ServerHistory.followerTable)
    catalogue = numbers.orderedTable(ExternalCatalogue.table)
    self.numbers = Locked(numbers)
    sortedKeys = Locked(SortedKeys(upTo: opened.last?.number ?? 0))
    keepsHistory = Atomic(opened.keepsHistory)
    coordinator = StoreCoordinator(ofFilesAt: target.location)
    coordinator.begin(after: opened.last)
    if !opened.follows {
      empty.withLock { $0.add(followerTable, asOf: 0) }
    }
    beginSharing()
    removeOldValues()
  }

  /// Creates a snapshot of a backend.
  init(snapshotOf backend: PostgreSQLBackend, _ held: HeldSnapshot) {
    (pool, location, configuration) = (backend.pool, backend.location, backend.configuration)
    (storeID, isReadOnly) = (backend.storeID, true)
    // Its cache is by table numbers, which may differ for tables that come later.
    sealing = backend.sealing.map { ServerSealing($0.sealing.seal, at: backend.location) }
    numbers = Locked(held.numbers)
    (historyTable, followerTable) = (backend.historyTable, backend.followerTable)
    catalogue = backend.catalogue
    sortedKeys = Locked(held.sortedKeys)
    keepsHistory = Atomic(false)
    self.held = held
    coordinator = StoreCoordinator(ofSnapshotAt: location, held.last, held.values?.values)
    coordinator.order(by: .ofSnapshot)
  }

  static func checkStoreName(_ name: String) throws(StoreError) {
    if isName(name) { return }
    throw StoreError(
      .invalidArgument, "The name of a store has 1 to \(maximumNameByteCount) bytes and no NUL.")
  }

  private static func isName(_ name: String) -> Bool {
    (1...maximumNameByteCount).contains(name.utf8.count) && !name.utf8.contains(0)
  }

  deinit { close() }

  /// Closes the connections.
  ///
  /// Closing twice is harmless.
  ///
  /// A snapshot ends its transaction, unless another snapshot shares it.
  ///
  /// Complexity: linear in the number of connections. It waits for a request of the thread that
  /// asks for commits of others.
  public func close() {
    if let held { return held.release() }
    poller.end()
    pool.close()
  }

  /// Throws if the backend is closed, or in a forked process.
  func checkOpen() throws(StoreError) {
    if let held { _ = try held.transaction(at: location) } else { try pool.check() }
  }

  private func beginSharing() {
    coordinator.order(
      by: ProcessOrder(
        ofServer: isReadOnly,
        lastNumber: { [weak self] () throws(StoreError) in
          guard let self else { throw StoreError(.closed, "The backend has been closed.") }
          return try poll()
        },
        takeRows: { [weak self] (table, count) throws(StoreError) in
          try self?.takeRows(count, of: table)
        },
        observe: { [weak self, poller, configuration] begins in
          // The end of a stream must not wait for the poller: it may be in the delivery of a commit
          // for which the poller waits.
          guard begins else { return poller.removeObserver(isWaiting: false) }
          poller.addObserver { [weak self] isWanted in
            while isWanted() {
              _ = try? self?.poll()
              var waiting = Backoff(configuration.pollInterval)
              while waiting.pause(), isWanted() {}
            }
          }
        }))
  }

  // MARK: Tables

  /// Returns the number of a table, new or known.
  ///
  /// Complexity: constant time on average; the server is not asked.
  ///
  /// - Throws: `StoreError` with `invalidName`, `closed` or `forked`.
  public func table(named name: String) throws(StoreError) -> TableID {
    try checkOpen()
    try check(name)
    return known(name)
  }

  /// Returns the number of an ordered table, new or known.
  ///
  /// Complexity: constant time on average; the server is not asked.
  ///
  /// - Throws: `StoreError` with `invalidName`, `closed` or `forked`.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try checkOpen()
    try check(name.name)
    return known(name)
  }

  func known(_ name: String) -> TableID {
    numbers.withLock { $0.table(named: name) }
  }

  func known(_ name: OrderedTableName) -> OrderedTableID {
    numbers.withLock { $0.orderedTable(name) }
  }

  func name(of table: TableID) -> String { numbers.withLock { $0.names[table.index] } }

  func name(of table: OrderedTableID) -> OrderedTableName {
    numbers.withLock { $0.orderedNames[table.index] }
  }

  private func check(_ name: String) throws(StoreError) {
    // Sealing has its own limits.
    _ = try sealing?.name(ofTable: name)
    if Self.isName(name) { return }
    throw StoreError(
      .invalidName, "The name of a table has 1 to \(maximumNameByteCount) bytes and no NUL.",
      at: .init(path: location))
  }

  /// Reserves row IDs that no other process gets; nil if there are too few.
  private func takeRows(_ count: Int, of table: TableID) throws(StoreError) -> ClosedRange<UInt32>?
  {
    let statement = Statement(
      "select stored_objects.reserve_rows($1, $2, $3)",
      [.int4(storeID), .text(try serverName(of: table)), .int(count)])
    let rows = try perform { (connection) throws(ServerFailure) -> ClosedRange<UInt32>? in
      let result = try connection.run([statement])[0]
      guard let last = result.int(0, 0) else { return nil }
      guard let end = UInt32(exactly: last), last > count else {
        throw ServerFailure.unexpectedAnswer
      }
      return end - UInt32(count) + 1...end
    }
    // The next metadata row has to include them.
    if let rows { coordinator.table(table).handOut(upTo: rows.upperBound) }
    return rows
  }
}

/// The maximum length of a name, because of the limit of an index.
private let maximumNameByteCount = 1000
