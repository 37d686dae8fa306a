import Files
import Locks
import StoreEngine

/// The tables that a key-value store knows, and the observers of what others change in them.
///
/// A separate object, because others refer to it weakly: a weak reference permanently slows down
/// every other reference to its object.
final class KnownTables: Sendable {
  private let backend: any StoreBackend
  /// The list of tables on the backend.
  private let list: OrderedTableID
  private let news: ServerNews?
  private let catalogue = Locked(Catalogue())
  private let observers: KeyObservers
  let writesUnderWay: WritesUnderWay
  /// The process that has opened the store.
  private let process = currentProcess()

  init(
    _ backend: any StoreBackend, _ list: OrderedTableID, _ news: ServerNews?,
    _ observers: KeyObservers, _ writesUnderWay: WritesUnderWay
  ) {
    (self.backend, self.list, self.news) = (backend, list, news)
    (self.observers, self.writesUnderWay) = (observers, writesUnderWay)
  }

  /// All tables, in no particular order.
  var all: [TableState] { catalogue.withLock { Array($0.tables.values) } }

  /// The names of all tables, in the order of their bytes.
  var names: [String] { catalogue.withLock { $0.tables.keys.sorted().map(\.text) } }

  /// The lowest number that no table has.
  var freeNumber: UInt32 { catalogue.withLock(\.freeNumber) }

  /// Returns a table that this store knows, without reading the list.
  func table(named name: String) -> TableState? {
    catalogue.withLock { $0.tables[ExactName(name)] }
  }

  /// Returns the table whose items are in an ordered table.
  func table(ofItems id: OrderedTableID) -> TableState? {
    catalogue.withLock { $0.table(ofItems: id) }
  }

  /// Creates the state of a table with a number.
  ///
  /// - Throws: The errors of the backend.
  func newTable(_ name: String, _ number: UInt32) throws(StoreError) -> TableState {
    try TableState(
      name: name, number: number, backend: backend,
      isListed: Catalogue.isListed(in: list, of: backend, news))
  }

  /// Adds a table, unless it was read from the list meanwhile.
  func adopt(_ new: TableState) -> TableState { catalogue.withLock { $0.adopt(new) } }

  /// Removes a table that was dropped.
  func remove(_ table: TableState) { catalogue.withLock { $0.remove(table) } }

  // MARK: The list

  /// Reads the list for the first time.
  ///
  /// - Throws: `StoreError` with `damaged`, and the errors of the backend.
  func begin() throws(StoreError) {
    let read = try Catalogue(backend, news)
    catalogue.withLock { $0 = read }
  }

  /// Reads the list after a commit of this process that was none of this store.
  private func readAgain() {
    if backend.coordinator.isShared || backend.coordinator.isOnServer { return }
    guard let listed = try? Catalogue(backend, nil) else { return }
    catalogue.withLock { $0.take(listed) }
  }

  /// Reads which tables other processes have created and dropped.
  func read() {
    while true {
      let listChanges = news?.newListChanges
      if news != nil, listChanges == nil { return }
      let version = catalogue.withLock(\.version)
      guard let listed = try? Catalogue(backend, news) else { return }
      // Another thread may have created or dropped a table since the list was read.
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

  // MARK: Changes of others

  /// Marks the tables as dropped that a commit has removed from the list.
  func noteTables(_ changes: ChangeSet) {
    for table in changes.ordered where table.table == list {
      for change in table.changes where change.isRemoval {
        self.table(named: String(decoding: changes.bytes[change.key], as: UTF8.self))?.drop()
      }
    }
  }

  /// Publishes the changes of tables and keys in a commit of another process, or of a sync.
  ///
  /// An expired item that was removed there is reported as deleted.
  func publishForeign(_ changes: ChangeSet) {
    for table in changes.ordered where table.table == list { publishTables(table, changes) }
    for table in changes.ordered where table.table != list {
      guard let state = self.table(ofItems: table.table) else { continue }
      var published: [KeyValueChange] = []
      if table.clearsFirst { published.append(KeyValueChange(.cleared, state.name, nil)) }
      for change in table.changes {
        let key = String(decoding: changes.bytes[change.key], as: UTF8.self)
        published.append(KeyValueChange(change.isRemoval ? .deleted : .put, state.name, key))
      }
      observers.publish(published, of: state)
    }
  }

  /// Publishes the tables that were created and dropped.
  private func publishTables(_ table: ChangeSet.OrderedTableChanges, _ changes: ChangeSet) {
    for change in table.changes {
      let name = String(decoding: changes.bytes[change.key], as: UTF8.self)
      guard change.isRemoval, let state = self.table(named: name) else { continue }
      observers.publish([KeyValueChange(.dropped, name, nil)], of: state)
      observers.finish(state)
    }
    for change in table.changes where !change.isRemoval {
      let name = String(decoding: changes.bytes[change.key], as: UTF8.self)
      let number = changes.bytes.lend(change.value) { Catalogue.number($0, name) }
      guard let number, let made = try? newTable(name, number) else { continue }
      observers.publish([KeyValueChange(.created, name, nil)], of: adopt(made))
    }
  }

  /// Throws in a forked child process: the threads that write for its parent don't exist there.
  ///
  /// - Throws: `StoreError` with `forked`.
  func checkProcess() throws(StoreError) {
    if process != currentProcess() { throw StoreError.forked(backend.location) }
  }
}

extension KnownTables: ItemKeeper {
  func whileResting<Result>(
    _ body: (inout ChangeSet?) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try checkProcess()
    return try writesUnderWay.turn.during { () throws(StoreError) in
      writesUnderWay.waitForAll()
      var changes: ChangeSet?
      let result = try body(&changes)
      if let changes {
        publishForeign(changes)
        readAgain()
      }
      return result
    }
  }
}
