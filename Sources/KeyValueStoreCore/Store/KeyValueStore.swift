import Files
public import FoundationEssentials
import Locks
public import StoreEngine
import Synchronization

/// A store of named tables of values under keys, for data without a model.
///
///     let store = try KeyValueStore(named: "Notebook")
///     let notes = try store.createTable("notes")
///     try notes.put("Buy milk", for: "2026-11-21")
///     let note = try notes.get("2026-11-21", as: String.self)
///
/// The store works on any backend. `KeyValueStore(named:)` and `KeyValueStore(directory:)`, of the
/// product `KeyValueStore`, open one on Tokyo Cabinet.
///
/// Names of tables and keys may be any Unicode text. They are compared byte by byte: an é of one
/// scalar and an é of two scalars are different keys. `%`, `_`, `'` and `/` have no special
/// meaning.
///
/// Each write is all or nothing. When it returns, it is as durable as the backend was opened for.
/// You can use a store on any thread and task. Writes are prepared one after the other and reach
/// the disk together. Readers wait for no write, and for no sync of the disk.
///
/// <doc:KeyValueStoreCore> begins with a tour.
public final class KeyValueStore: Sendable {
  /// The backend with the items.
  public let backend: any StoreBackend
  let now: @Sendable () -> Date
  let observers = KeyObservers()
  let list: OrderedTableID
  /// The backend, if it provides views of tables at one moment.
  let viewing: (any OrderedViewing)?
  let tables: KnownTables
  /// The backend, if writes don't block a thread while it waits for the disk.
  let queueing: (any CommitQueueing)?
  /// The backend, if writes don't block a thread while they wait for a server.
  let awaiting: (any CommitAwaiting)?
  /// Whether other processes may write, too.
  let isShared: Bool
  /// The follower of other machines' commits; nil if nothing else can write during a turn.
  let news: ServerNews?
  /// The thread that prepares a write, or 0.
  let writingThread = Atomic<UInt>(0)
  let writesUnderWay: WritesUnderWay
  let taskWrites = TaskWrites()
  private let claim: BackendClaim

  /// Creates a store on a backend.
  ///
  /// Complexity: Linear in the number of tables.
  ///
  /// - Parameters:
  ///   - backend: The backend for the items. It may contain objects, too.
  ///   - now: The clock for the times and the expiry of items; tests can pass another one.
  /// - Throws: `StoreError` with `inUse` if the backend has a key-value store already (share that
  ///   one), or `damaged`, and the errors of the backend.
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
    awaiting = coordinator.isOnServer ? backend as? any CommitAwaiting : nil
    list = try backend.orderedTable(Catalogue.list)
    writesUnderWay = WritesUnderWay(mayMove: awaiting != nil)
    tables = KnownTables(backend, list, news, observers, writesUnderWay)
    // Both come first, so that no change of the list is missed.
    coordinator.register(tables)
    news?.begin(list: list) { [weak tables] in tables?.noteTables($0) }
    let listChanges = news?.newListChanges
    try writesUnderWay.turn.during { () throws(StoreError) in try tables.begin() }
    if let listChanges { news?.didReadList(listChanges) }
    if isShared { observeOtherProcesses() }
  }

  /// Ends all observation and closes the backend; a second call has no effect.
  ///
  /// Complexity: Linear in the number of observers, and the cost of closing the backend, which may
  /// fold its log into its files.
  ///
  /// - Throws: The errors of the backend.
  public func close() throws(StoreError) {
    observers.finish()
    news?.end()
    claim.release()
    try backend.close()
  }

  // MARK: Tables

  /// Returns the names of all tables, in the order of their bytes.
  ///
  /// Complexity: O(n log n) for n tables.
  public func tableNames() -> [String] {
    noteRead(KeyRange(), of: list)
    readList()
    return tables.names
  }

  /// Returns whether a table with this name exists.
  ///
  /// Complexity: As ``table(_:)``.
  public func hasTable(_ name: String) -> Bool { state(of: name) != nil }

  /// Returns an existing table.
  ///
  /// Complexity: Constant time. If other processes share the backend, linear in the number of
  /// tables, whose list is read. A server is asked for changes, in one round trip at most, and the
  /// list is read again only after one.
  ///
  /// - Throws: `StoreError` with `noSuchTable`.
  public func table(_ name: String) throws(StoreError) -> KeyValueTable {
    guard let state = state(of: name) else {
      throw StoreError(
        .noSuchTable, "There is no such table: create it with createTable.", table: name)
    }
    return KeyValueTable(store: self, state: state)
  }

  /// Creates a table, or returns the existing one.
  ///
  /// Complexity: As ``table(_:)`` if the table exists. Otherwise linear in the number of tables,
  /// and one commit of the backend, after the writes that have begun.
  ///
  /// - Parameter name: Any text, including the empty text.
  /// - Returns: The table.
  /// - Throws: The errors of the backend, such as `readOnly`.
  @discardableResult
  public func createTable(_ name: String) throws(StoreError) -> KeyValueTable {
    if let known = state(of: name) { return KeyValueTable(store: self, state: known) }
    return try exclusively { () throws(StoreError) in
      // Another thread may have created it meanwhile.
      if let known = state(of: name) { return KeyValueTable(store: self, state: known) }
      // The free number depends on the whole list.
      noteRead(KeyRange(), of: list)
      readList()
      let number = tables.freeNumber
      let state = try tables.newTable(name, number)
      var changes = ChangeSet()
      changes.set(Array(name.utf8), to: Catalogue.entry(number, name), in: list)
      try commitExclusively(changes)
      let made = tables.adopt(state)
      observers.publish([KeyValueChange(.created, name, nil)], of: made)
      return KeyValueTable(store: self, state: made)
    }
  }

  /// Removes a table with all its items in one commit; does nothing if there is none.
  ///
  /// Existing handles of the table throw `noSuchTable` from then on, even if you create another
  /// table with the same name.
  ///
  /// Complexity: Linear in the number of tables, and one commit of the backend, after the writes
  /// that have begun.
  ///
  /// - Throws: The errors of the backend.
  public func dropTable(_ name: String) throws(StoreError) {
    try exclusively { () throws(StoreError) in
      guard let state = state(of: name) else { return }
      var changes = ChangeSet()
      changes.set(Array(name.utf8), to: nil, in: list)
      try clear(state, &changes)
      try commitExclusively(changes)
      state.drop()
      tables.remove(state)
      observers.publish([KeyValueChange(.dropped, name, nil)], of: state)
      observers.finish(state)
    }
  }

  /// Clears the items and the expiry times of a table, if there are any.
  func clear(_ state: TableState, _ changes: inout ChangeSet) throws(StoreError) {
    for table in [state.items, state.expiry] where try hasKeys(table) { changes.clear(table) }
  }

  /// Returns whether an ordered table has any keys.
  func hasKeys(_ table: OrderedTableID) throws(StoreError) -> Bool {
    try noting(KeyRange(), of: table) { () throws(StoreError) in
      try backend.keyCount(in: table, KeyRange()) > 0
    }
  }

  func state(of name: String) -> TableState? {
    noteRead(of: name)
    if isShared { readList() }
    let known = tables.table(named: name)
    return known?.isDropped == true ? nil : known
  }

  /// Reads which tables other processes have created and dropped.
  func readList() {
    guard isShared else { return }
    // A server reports whether there is anything new.
    hearOfOthers()
    tables.read()
  }

  /// Calls a closure with the value of a key in an ordered table, if there is one.
  func lendValue(
    of key: RawSpan, in table: OrderedTableID,
    verifying body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let viewing {
      try viewing.view(of: table).lendValue(of: key, verifying: body)
    } else {
      _ = try backend.withValue(of: [UInt8](copying: key), in: table, body)
    }
  }

  /// All tables, in no particular order.
  var states: [TableState] {
    readList()
    return tables.all
  }
}

/// The claim of a key-value store on its backend: two would not see each other's tables.
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
        .inUse, "The backend has a KeyValueStore already: share that one, which is Sendable.")
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
