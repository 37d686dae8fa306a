import KeyValueStoreCore
public import StoreEngine
public import StoredObjectsCore

/// A client that keeps the store of a device and the store of a server the same.
///
///     let client = try SyncClient(
///       backend: backend, classes: [Song.self, Playlist.self],
///       transport: HTTPSyncTransport(url, token: token))
///     try await client.sync()
///
///     let store = try client.makeStore()
///     // …
///     try await client.sync()
///
/// The store of a device is an ordinary one: you read and save without a network, with any number
/// of stores of this process. The first ``sync()`` makes it a copy of the server's store. Later ones
/// bring the commits of others, put the device's own commits after them, and send these.
///
/// The server orders all commits. An object that two devices have changed is merged property by
/// property, and its lists and sets element by element, as by `ConflictPolicy.merge`. Other conflicts
/// are a ``SyncConflict``, which ``SyncConfiguration/decide`` resolves.
///
/// Objects and named buffers are synchronized, with all values outside of records. So are the items
/// of a `KeyValueStore` on the same backend.
public actor SyncClient {
  /// The backend of the device's store.
  public nonisolated var backend: any StoreBackend { source }
  /// The same, which can be copied for a try.
  let source: any ScratchBackend
  let classes: [StoredObject.Type]
  let configuration: SyncConfiguration
  let leases = LeasedRows()
  private let transport: any SyncTransport
  private let executor = ThreadExecutor()
  /// The layouts of each class that the server has heard of.
  private var joined: [String: [UInt8]] = [:]
  /// The classes of the program; nil until they are needed, and when layouts have come.
  var declared: [ClassDeclaration]?
  /// Row IDs from the server that are not given out yet.
  private var granted: [RowLease] = []
  var reception = Reception()
  /// Values from the server that no commit of the store refers to yet.
  let incoming: IncomingValues
  private var current: Task<SyncReport, any Error>?

  /// The executor of the client's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Opens the store of a device.
  ///
  /// Open the client before any store on the backend inserts objects, and keep it: row IDs come from
  /// the server.
  ///
  /// Complexity: linear in the number of classes, and in the commits that the server does not have
  /// yet.
  ///
  /// - Parameters:
  ///   - backend: A backend on a directory or in memory that no other process shares; empty before
  ///     the first sync.
  ///   - classes: All classes of the program.
  ///   - transport: The connection to the server.
  ///   - configuration: How the device synchronizes.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` for another backend, for one with
  ///   objects that belongs to no device; `damaged`, `ioError` or `closed`.
  public init(
    backend: any StoreBackend, classes: [StoredObject.Type], transport: any SyncTransport,
    configuration: SyncConfiguration = SyncConfiguration()
  ) throws(StoreError) {
    source = try Self.checked(backend)
    incoming = IncomingValues(backend)
    (self.classes, self.transport, self.configuration) = (classes, transport, configuration)
    for type in classes { try leases.attach(to: backend, type.storedName) }
    try Self.restore(leases, of: backend)
  }

  private static func checked(
    _ backend: any StoreBackend
  ) throws(StoreError) -> any ScratchBackend {
    guard let source = backend as? any ScratchBackend, backend.remembersCommits,
      !backend.isReadOnly,
      !backend.coordinator.isShared
    else {
      throw StoreError(
        .invalidArgument,
        "A device needs a backend on a directory that no other process shares, opened for writing.",
        at: .init(path: backend.location))
    }
    if try backend.syncState() != nil { return source }
    if try backend.isFollower() { return source }
    guard try backend.tableNames().isEmpty, try backend.bufferNames().isEmpty,
      try !ItemTables.hasTables(backend)
    else {
      throw StoreError(
        .invalidArgument,
        "A device begins with an empty store. Export its content, and import it after a sync.",
        at: .init(path: backend.location))
    }
    return source
  }

  /// Restores the row IDs that are left, without those of commits since they were saved.
  private static func restore(
    _ leases: LeasedRows, of backend: any StoreBackend
  ) throws(StoreError) {
    var stored = try backend.storedLeases()
    guard let state = try backend.syncState() else { return }
    let pending = try backend.ownCommits(
      after: state.localNumber, upTo: backend.lastCommitNumber, tables: nil)
    for table in pending.lazy.flatMap(\.entry.tables) {
      for record in table.records where record.before == nil {
        stored[table.name] = stored[table.name]?.after(record.rowID)
      }
    }
    for (name, rows) in stored { leases.set(rows, of: name) }
  }

  /// Creates a store with all classes, for the isolation domain of the caller.
  ///
  /// Complexity: linear in the number of classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` before the first sync, and as
  ///   `Store.register`.
  public nonisolated func makeStore(
    configuration: StoreConfiguration = .init()
  ) throws(StoreError) -> sending Store {
    guard try backend.syncState() != nil else {
      throw StoreError(
        .invalidArgument, "The device has never synchronized: call sync() first.",
        at: .init(path: backend.location))
    }
    return try StoreRecipe(classes: classes, configuration: configuration).makeStore(on: backend)
  }

  /// The number of the last commit of the server that the store contains; nil before the first sync.
  public var serverCommitNumber: UInt64? {
    get throws { try backend.syncState()?.position.number }
  }

  /// The number of commits of the device that the server does not have yet.
  public var pendingCount: Int {
    get throws { try pendingCommits().commits.count }
  }

  /// Brings the commits of others, and sends those of the device.
  ///
  /// Calls that come during a sync wait for it, and then run. A sync that fails at any point has
  /// lost nothing: the next one continues.
  ///
  /// Complexity: linear in the commits of both sides. Values outside of records are sent in parts,
  /// so a value of any size needs the memory of one request.
  ///
  /// - Returns: The numbers of commits and conflicts.
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` if ``SyncConfiguration/decide`` does not
  ///   decide, or if others were first too many times; `notUnique`; `changedLayout`; `historyExpired`
  ///   or `otherHistory` if the server's history no longer continues the device's; `newerVersion`;
  ///   `recordMissing` if the server has lost a value outside of records; `tooLarge`, `damaged`,
  ///   `noSpace` or `ioError`. Also any error of the transport.
  @discardableResult
  public func sync() async throws -> SyncReport {
    while let current { _ = try? await current.value }
    let task = Task { try await run() }
    current = task
    defer { current = nil }
    return try await task.value
  }
}

// MARK: - Steps of a sync

extension SyncClient {
  private func run() async throws -> SyncReport {
    var report = SyncReport()
    if try backend.syncState() == nil { try await copyServer() }
    try await join()
    try backend.noteDevice()
    var (attemptsLeft, incomplete) = (configuration.attempts, HistoryPosition?.none)
    while attemptsLeft > 0 {
      let changes = try await pull()
      do {
        try await integrate(changes, &report)
      } catch let error as StoreError where error.underlying is MissingValues {
        // The server has removed a value meanwhile: a later commit says so.
        if changes.position == incomplete { throw error }
        incomplete = changes.position
        continue
      }
      if changes.position.number < changes.lastNumber { continue }
      try keepLeases()
      if try await join() { continue }
      let pending = try pendingCommits()
      if pending.commits.isEmpty {
        try forgetHistory()
        return report
      }
      report.sent += try await push(pending)
      attemptsLeft -= 1
    }
    throw StoreError(
      .conflict,
      "Others were first \(configuration.attempts) times. Nothing is lost: call sync() again.",
      at: .init(path: backend.location))
  }

  /// Makes the empty store a copy of the server's.
  private func copyServer() async throws {
    try backend.removeUnfinishedCopy()
    if try !backend.isFollower() { try await follow(after: nil) }
    try await completeCopy()
    guard let position = try backend.followedPosition() else { throw refused(nil) }
    let (backend, number) = (backend, backend.lastCommitNumber + 1)
    let tables = try ItemTables(backend)
    try backend.coordinator.whileItemsRest { (news) throws(StoreError) in
      // A key-value store that is open reads the tables of the copy.
      news = ChangeSet()
      try backend.promote(author: "sync") { (changes) throws(StoreError) in
        let table = try backend.orderedTable(SyncTable.name)
        changes.set(SyncState(position: position, localNumber: number), in: table)
        changes.set(tables, from: ItemTables([:]), in: table)
      }
    }
  }

  /// Copies the server, or brings the copy up to date.
  func follow(after position: HistoryPosition?) async throws {
    reception = Reception(follower: try StoreFollower(backend, source: "server"))
    try await exchange(.pull(after: position, byteLimit: configuration.requestByteCount))
  }

  /// Makes classes known to the server, and asks for row IDs, where that is needed.
  ///
  /// - Returns: Whether the server has given any, which the next pull makes valid.
  @discardableResult
  private func join() async throws -> Bool {
    var classes: [SyncClass] = []
    for one in try declarations() {
      let left = leases.count(of: one.name)
      let isLow = left < (configuration.rowsAhead + 1) / 2
      if !isLow, joined[one.name] == one.layouts { continue }
      var metadata = DataBuffer()
      one.metadata.write(to: &metadata)
      classes.append(
        SyncClass(
          name: one.name, metadata: metadata.bytes, layouts: one.layouts,
          rowCount: isLow ? configuration.rowsAhead - left : 0))
    }
    if classes.isEmpty { return false }
    reception = Reception()
    guard case .joined(let new) = try await exchange(.join(classes)) else { throw refused(nil) }
    for one in classes { joined[one.name] = one.layouts }
    granted += new
    return !new.isEmpty
  }

  /// Gives out the row IDs that the server has given, now that the store knows their classes.
  private func keepLeases() throws(StoreError) {
    try keep(granted)
    granted = []
  }

  /// Returns the classes of the program, as a store without class IDs of its own would save them.
  private func declarations() throws(StoreError) -> [ClassDeclaration] {
    if let declared { return declared }
    let store = try StoreRecipe(classes: classes).makeStore(on: try source.scratch())
    let declarations = store.classDeclarations
    if backend.externalStorage == nil, let one = declarations.first(where: \.hasExternals) {
      throw StoreError(
        .invalidArgument,
        "The backend can't keep the values outside of records of the class: use another one.",
        at: .init(path: backend.location, className: one.name))
    }
    declared = declarations
    return declarations
  }

  private func pull() async throws -> ServerChanges {
    guard let state = try backend.syncState() else { throw refused(nil) }
    reception = Reception(after: state.position, try backend.serverTables())
    try await exchange(.pull(after: state.position, byteLimit: configuration.requestByteCount))
    guard let changes = reception.changes else { throw refused(nil) }
    return changes
  }

  /// Sends pending commits; returns the number of those that the server has taken.
  private func push(_ pending: PendingCommits) async throws -> Int {
    var rest = pending
    var sent = 0
    while !rest.commits.isEmpty {
      guard let state = try backend.syncState() else { throw refused(nil) }
      let (bytes, values) = nextCommits(rest.commits)
      try await send(values)
      reception = Reception()
      switch try await exchange(.push(basedOn: state.position, commits: bytes)) {
      case .accepted(let position):
        // Only the server knows the numbers of its tables. So the commits come back with them.
        let made = rest.commits.prefix(bytes.count)
        guard try hasTables(of: made.map(\.items)) else { return sent }
        sent += bytes.count
        rest.commits.removeFirst(bytes.count)
        rest = try accept(rest, position)
      case .behind: return sent
      default: throw refused(nil)
      }
    }
    return sent
  }

  /// Whether the numbers of all tables of some changes are known, so that the server makes none.
  private func hasTables(of changes: [ItemChanges]) throws(StoreError) -> Bool {
    guard changes.allSatisfy(\.tables.isEmpty) else { return false }
    let items = changes.lazy.flatMap(\.items).filter { $0.value.after != nil }
    let used = Set(items.map(\.key.table))
    guard !used.isEmpty, let known = try backend.serverTables() else { return true }
    return used.isSubset(of: known.names.values)
  }

  /// Returns the commits of the next request, and the values that they refer to.
  ///
  /// Commits with many values become several requests, so that not all of them wait at the server.
  private func nextCommits(
    _ commits: [PendingCommit]
  ) -> (bytes: [[UInt8]], values: Set<ExternalReference>) {
    var (bytes, byteCount) = ([[UInt8]](), 0)
    var (values, valueByteCount) = (Set<ExternalReference>(), 0)
    for one in commits {
      let isFull =
        byteCount >= configuration.requestByteCount || values.count >= 1000
        || valueByteCount >= 256 << 20
      if isFull { break }
      bytes.append(HistoryFormat.encoded(one.sent))
      byteCount += bytes[bytes.count - 1].count
      for value in one.entry.newValues where values.insert(value).inserted {
        valueByteCount += value.byteCount
      }
    }
    return (bytes, values)
  }

  /// Sends a request, and returns the answer.
  @discardableResult
  func exchange(_ request: SyncRequest) async throws -> SyncAnswer {
    try await transport.send(request.bytes) { bytes in try await self.receive(bytes) }
    let answer: SyncAnswer
    do { answer = try reception.finish() } catch { throw refused(error) }
    if case .failed(let code, let message) = answer {
      throw StoreError(
        .sent(code), "The server says: \(message)", at: .init(path: backend.location))
    }
    return answer
  }

  private func receive(_ bytes: [UInt8]) throws { try reception.add(bytes) }

  func refused(_ error: (any Error)?) -> StoreError {
    if let error = error as? StoreError { return error }
    return StoreError(
      .damaged, "The server's answer makes no sense\(error.map { ": \($0)" } ?? "").",
      at: .init(path: backend.location), underlying: error)
  }

  /// Returns a new store for the changes that come from the server.
  ///
  /// A store that is kept would hold the objects of all relationships that it has met.
  func newStore() throws(StoreError) -> Store {
    let configuration = StoreConfiguration(author: "sync")
    return try StoreRecipe(classes: classes, configuration: configuration).makeStore(on: backend)
  }
}

extension StoreError.Code {
  /// The code that a server has sent, or `ioError` for one that is not known.
  fileprivate static func sent(_ name: String) -> StoreError.Code {
    let known: [StoreError.Code] = [
      .conflict, .historyExpired, .otherHistory, .invalidArgument, .changedLayout, .tooLarge,
      .notUnique, .damaged, .noSpace, .newerVersion, .readOnly, .closed, .rowIDsExhausted,
      .tooManyClasses, .invalidName, .notRegistered, .recordMissing, .notAuthentic,
    ]
    return known.first { "\($0)" == name } ?? .ioError
  }
}
