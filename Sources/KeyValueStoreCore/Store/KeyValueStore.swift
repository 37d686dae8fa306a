import Files
public import FoundationEssentials
import Locks
public import StoreEngine
import Synchronization

/// Named tables of values under keys, for data that has no model.
///
///     let store = try KeyValueStore(named: "Notebook")
///     let notes = try store.createTable("notes")
///     try notes.put("Buy milk", for: "2026-11-21")
///     let note = try notes.get("2026-11-21", as: String.self)
///
/// It keeps them in any backend. `KeyValueStore(named:)` and `KeyValueStore(directory:)`, of the
/// product `KeyValueStore`, open one on Tokyo Cabinet. Names of tables and keys are any Unicode,
/// and compared byte by byte: an é of one scalar and one of two are two keys. `%`, `_`, `'` and `/`
/// mean themselves.
///
/// Every write is all or nothing, and as durable as the backend was opened for when it returns.
/// Safe on any threads and tasks: writes are worked out one after the other and reach the disk
/// together, readers wait for no write and for no disk that is being synced.
///
/// <doc:KeyValueStoreCore> begins with a tour.
public final class KeyValueStore: Sendable {
  /// Where the items are.
  public let backend: any StoreBackend
  let now: @Sendable () -> Date
  let observers = KeyObservers()
  let list: OrderedTableID
  /// The backend, if it shows tables as they are at one moment.
  let viewing: (any OrderedViewing)?
  private let catalogue: Locked<Catalogue>
  /// The backend, if writes need not hold a thread while it waits for the disk.
  let queueing: (any CommitQueueing)?
  /// Whether other processes may write, too.
  let isShared: Bool
  /// Follows the commits of other machines; nil where nobody else can write during a turn.
  let news: ServerNews?
  /// Held while a write is prepared.
  let turn = Locked(false)
  /// The thread that prepares a write, or 0.
  let writingThread = Atomic<UInt>(0)
  let writesUnderWay = WritesUnderWay()
  let taskWrites = TaskWrites()
  /// The process that has opened it.
  let process = currentProcess()
  private let claim: BackendClaim

  /// Puts a store on a backend.
  ///
  /// Complexity: linear in the number of tables.
  ///
  /// - Parameters:
  ///   - backend: Where the items are kept; objects may be kept there, too.
  ///   - now: The clock by which items get their times and expire; tests give one of their own.
  /// - Throws: `StoreError` with `inUse` when there is a store on the backend already (share
  ///   that one), or `damaged`; what the backend throws.
  public init(
    backend: any StoreBackend, now: @escaping @Sendable () -> Date = { Date() }
  ) throws(StoreError) {
    claim = try BackendClaim(backend)
    (self.backend, self.now) = (backend, now)
    let coordinator = backend.coordinator
    news = coordinator.isOnServer ? ServerNews(coordinator) : nil
    isShared = coordinator.isShared || coordinator.isOnServer
    viewing = backend as? any OrderedViewing
    queueing = backend as? any CommitQueueing
    list = try backend.orderedTable(Catalogue.list)
    catalogue = Locked(Catalogue())
    // First, so that no change of the list is missed.
    news?.begin(list: list) { [weak self] in self?.noteTables($0) }
    let listChanges = news?.newListChanges
    let read = try Catalogue(backend, news)
    catalogue.withLock { $0 = read }
    if let listChanges { news?.didReadList(listChanges) }
    if isShared { observeOtherProcesses() }
  }

  /// Ends all observation and closes the backend; closing twice is harmless.
  ///
  /// - Throws: what the backend throws.
  public func close() throws(StoreError) {
    observers.finish()
    news?.end()
    claim.release()
    try backend.close()
  }

  // MARK: Tables

  /// The names of all tables, in the order of their bytes.
  ///
  /// Complexity: O(n log n) for n tables.
  public func tableNames() -> [String] {
    noteRead(KeyRange(), of: list)
    readList()
    return catalogue.withLock { $0.tables.keys.sorted().map(\.text) }
  }

  /// Whether there is a table of this name.
  public func hasTable(_ name: String) -> Bool { state(of: name) != nil }

  /// A table that there is.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: `StoreError` with `noSuchTable`.
  public func table(_ name: String) throws(StoreError) -> KeyValueTable {
    guard let state = state(of: name) else {
      throw StoreError(
        .noSuchTable, "There is no such table. createTable makes it.", table: name)
    }
    return KeyValueTable(store: self, state: state)
  }

  /// Makes a table, or returns the one that is there.
  ///
  /// - Parameter name: Any text, the empty one too.
  /// - Returns: the table.
  /// - Throws: what the backend throws, `readOnly` among it.
  @discardableResult
  public func createTable(_ name: String) throws(StoreError) -> KeyValueTable {
    if let known = state(of: name) { return KeyValueTable(store: self, state: known) }
    return try exclusively { () throws(StoreError) in
      // Somebody may have made it meanwhile.
      if let known = state(of: name) { return KeyValueTable(store: self, state: known) }
      // Which number is free rests on all of it.
      noteRead(KeyRange(), of: list)
      readList()
      let number = catalogue.withLock(\.freeNumber)
      let state = try TableState(
        name: name, number: number, backend: backend,
        isListed: Catalogue.isListed(in: list, of: backend, news))
      var changes = ChangeSet()
      changes.set(Array(name.utf8), to: Catalogue.entry(number, name), in: list)
      try commitExclusively(changes)
      let made = adopt(state)
      observers.publish([KeyValueChange(.created, name, nil)], of: made)
      return KeyValueTable(store: self, state: made)
    }
  }

  /// Removes a table with all its items, in one commit; without an error when there is none.
  ///
  /// Whoever still has the table gets `noSuchTable`, even if another of the same name is made.
  ///
  /// - Throws: what the backend throws.
  public func dropTable(_ name: String) throws(StoreError) {
    try exclusively { () throws(StoreError) in
      guard let state = state(of: name) else { return }
      var changes = ChangeSet()
      changes.set(Array(name.utf8), to: nil, in: list)
      try clear(state, &changes)
      try commitExclusively(changes)
      state.drop()
      catalogue.withLock { $0.remove(state) }
      observers.publish([KeyValueChange(.dropped, name, nil)], of: state)
      observers.finish(state)
    }
  }

  /// Removes the items and the expiry times of a table, where there are any.
  func clear(_ state: TableState, _ changes: inout ChangeSet) throws(StoreError) {
    for table in [state.items, state.expiry] where try hasKeys(table) { changes.clear(table) }
  }

  /// Whether an ordered table has any keys.
  func hasKeys(_ table: OrderedTableID) throws(StoreError) -> Bool {
    try noting(KeyRange(), of: table) { () throws(StoreError) in
      try backend.keyCount(in: table, KeyRange()) > 0
    }
  }

  func state(of name: String) -> TableState? {
    noteRead(of: name)
    if isShared { readList() }
    let known = knownState(of: name)
    return known?.isDropped == true ? nil : known
  }

  /// A table that this store knows, without a look into the list.
  func knownState(of name: String) -> TableState? {
    catalogue.withLock { $0.tables[ExactName(name)] }
  }

  /// Takes over a table that another process has made, which this store need not have met.
  func learn(_ name: String, _ number: UInt32) -> TableState? {
    let isListed = Catalogue.isListed(in: list, of: backend, news)
    let made = try? TableState(name: name, number: number, backend: backend, isListed: isListed)
    return made.map { adopt($0) }
  }

  /// Adds a table, unless somebody has found it in the list meanwhile.
  private func adopt(_ new: TableState) -> TableState {
    catalogue.withLock { $0.adopt(new) }
  }

  /// Takes note of tables that a commit has removed from the list.
  private func noteTables(_ changes: ChangeSet) {
    for table in changes.ordered where table.table == list {
      for change in table.changes where change.isRemoval {
        knownState(of: String(decoding: changes.bytes[change.key], as: UTF8.self))?.drop()
      }
    }
  }

  /// The table whose items an ordered table holds.
  func state(ofItems id: OrderedTableID) -> TableState? {
    catalogue.withLock { $0.table(ofItems: id) }
  }

  /// Takes over which tables other processes have made and dropped.
  func readList() {
    guard isShared else { return }
    // A server says whether there is anything new.
    hearOfOthers()
    while true {
      let listChanges = news?.newListChanges
      if news != nil, listChanges == nil { return }
      let version = catalogue.withLock(\.version)
      guard let listed = try? Catalogue(backend, news) else { return }
      // Another thread may have made or dropped a table since the list was read.
      let isCurrent = catalogue.withLock { catalogue in
        guard catalogue.version == version else { return false }
        catalogue.take(listed)
        return true
      }
      guard isCurrent else { continue }
      if let listChanges { news?.didReadList(listChanges) }
      return
    }
  }

  /// Lends the value of a key of an ordered table, if there is one.
  func lendValue(
    of key: RawSpan, in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let viewing {
      try viewing.view(of: table).lendValue(of: key, body)
    } else {
      _ = try backend.withValue(of: [UInt8](copying: key), in: table, body)
    }
  }

  /// All tables, in no order.
  var states: [TableState] {
    readList()
    return catalogue.withLock { Array($0.tables.values) }
  }
}

/// The one store that a backend may have: two would not know of each other's tables.
private final class BackendClaim: Sendable {
  private static let claimed = Locked<Set<ObjectIdentifier>>([])
  private let backend: ObjectIdentifier
  private let isHeld = Locked(true)

  init(_ backend: any StoreBackend) throws(StoreError) {
    let id = ObjectIdentifier(backend)
    self.backend = id
    guard Self.claimed.withLock({ $0.insert(id).inserted }) else {
      isHeld.withLock { $0 = false }
      throw StoreError(
        .inUse, "There is a KeyValueStore on this backend already: share it, it is Sendable.")
    }
  }

  func release() {
    isHeld.withLock { isHeld in
      if isHeld { _ = Self.claimed.withLock { $0.remove(backend) } }
      isHeld = false
    }
  }

  deinit { release() }
}
