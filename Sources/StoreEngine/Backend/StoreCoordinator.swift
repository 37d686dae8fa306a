import Files
import Locks
package import Synchronization

/// The state that the stores on one backend share: row IDs, the order of their commits, and the
/// notices of commits.
///
/// A backend creates one coordinator, returns it from ``StoreBackend/coordinator``, and performs
/// its commits with ``perform(_:_:at:names:write:)``; stores do the rest. Safe on any thread.
public final class StoreCoordinator: Sendable {
  let shared = Locked(Shared())
  /// Held by the store that prepares a commit.
  fileprivate let turn = Locked(false)
  /// The number of commits that have been prepared and are not finished.
  fileprivate let underWay = Locked(0)
  /// The last commits.
  package let journal = CommitJournal()
  /// The instrument that receives the operations.
  let instruments = Instruments()
  /// The order of commits among processes; nil for a single process, which then takes no lock.
  private var processes: ProcessOrder? {
    hasProcesses.load(ordering: .acquiring) ? knownProcesses.withLock { $0 } : nil
  }
  private let knownProcesses = Locked<ProcessOrder?>(nil)
  private let hasProcesses = Atomic(false)
  /// The commit number that the commits of the thread with the turn are based on, so that nobody
  /// else may commit after it; nil if nobody else can commit meanwhile.
  private let soleBasis = Locked<UInt64?>(nil)
  /// The thread that has the turn.
  private let turnOwner = Atomic<UInt>(0)
  /// Held by a backend that writes one commit at a time.
  private let writing = Locked(false)

  /// Whether row IDs come from a server, see ``SharedTable/useBlocks(size:_:)``.
  package let leasesRows = Atomic(false)

  /// Changes with the first commit to each ordered table.
  let orderedNews = Atomic<UInt64>(0)

  struct Shared {
    /// An array: the tables are few and read once for each save, and a dictionary would cost more,
    /// especially its metadata.
    var tables: [SharedTable] = []
    /// Replaced, as ``listeners`` is, and never changed in place: others read them without the lock.
    var inboxes: [ChangeInbox] = []
    /// The class IDs of classes that have not been saved yet.
    var classIDs: [(table: TableID, classID: UInt8)] = []
    /// The listeners that are called after each commit.
    var listeners: [CommitListener] = []
    /// The names of the migrations that the program knows.
    var migrations: [String] = []
    /// Whether each ordered table has been committed to, by the table's number.
    var isOrderedTableKnown: [Bool] = []
    /// The key-value store of the process; nil until there is one, or a sync of items.
    var keeperSlot: SharedLock<KeeperSlot>?

    /// Records a commit to an ordered table.
    ///
    /// - Returns: Whether it is the first one.
    mutating func note(_ table: OrderedTableID) -> Bool {
      let missing = table.index + 1 - isOrderedTableKnown.count
      if missing > 0 { isOrderedTableKnown += repeatElement(false, count: missing) }
      defer { isOrderedTableKnown[table.index] = true }
      return !isOrderedTableKnown[table.index]
    }

    func table(_ id: TableID) -> SharedTable? { tables.first { $0.id == id } }
  }

  /// The values outside of records that the process holds; nil until they are first used.
  private let external = Locked<ExternalValues?>(nil)

  /// The location of the backend's files, which a forked process can't use; nil for a backend in
  /// memory.
  private let location: String?
  private let process = currentProcess()

  /// Creates the coordinator of a backend that has just been opened.
  public init() { location = nil }

  /// Creates the coordinator of a backend whose files belong to this process.
  package init(ofFilesAt location: String) { self.location = location }

  /// Creates the coordinator of a snapshot, which has no commits.
  package init(ofSnapshotAt location: String, _ last: Commit?, _ values: ExternalValues?) {
    self.location = location
    external.withLock { $0 = values }
    journal.begin(after: last)
  }

  /// Returns the shared state of a table, which is the same for every store.
  package func table(_ id: TableID) -> SharedTable {
    let processes = processes
    return shared.withLock { shared in
      if let known = shared.table(id) { return known }
      let new = SharedTable(id)
      if let processes {
        new.useBlocks { (count) throws(StoreError) in try processes.takeRows(id, count) }
      }
      shared.tables.append(new)
      return new
    }
  }

  /// Returns the class ID of a class that is not saved yet; every store gets the same.
  ///
  /// - Returns: The lowest free ID; nil if all 255 are taken.
  package func reserveClassID(for table: TableID, besides taken: Set<UInt8>) -> UInt8? {
    shared.withLock { shared in
      if let known = shared.classIDs.first(where: { $0.table == table }) { return known.classID }
      let taken = taken.union(shared.classIDs.map(\.classID))
      // 255 is the class ID of objects whose class has none.
      guard let classID = (0..<255).first(where: { !taken.contains($0) }) else { return nil }
      shared.classIDs.append((table, classID))
      return classID
    }
  }

  /// Releases the class ID of a class that could not be saved.
  package func releaseClassID(for table: TableID) {
    shared.withLock { $0.classIDs.removeAll { $0.table == table } }
  }

  /// A counter that changes when an ordered table may have been added.
  package var orderedTableNews: UInt64 { orderedNews.load(ordering: .acquiring) }

  /// Whether an ordered table has been committed to since the backend was opened.
  package func isKnown(_ table: OrderedTableID) -> Bool {
    shared.withLock { shared in
      table.index < shared.isOrderedTableKnown.count && shared.isOrderedTableKnown[table.index]
    }
  }

  /// The names of the migrations that the program knows, for all its stores.
  package var knownMigrations: [String] { shared.withLock(\.migrations) }

  /// Sets the migrations that the program knows.
  package func know(_ migrations: [String]) { shared.withLock { $0.migrations = migrations } }

  /// Returns the values outside of records that the process holds; nil if the backend keeps none.
  package func externalValues(of backend: any StoreBackend) -> ExternalValues? {
    external.withLock { known in
      if known == nil { known = backend.externalStorage.map { ExternalValues($0) } }
      return known
    }
  }

  /// Notifies a store of the commits of others until the inbox is detached.
  package func attach(_ inbox: ChangeInbox) {
    shared.withLock { $0.inboxes = $0.inboxes + [inbox] }
  }

  /// Stops the notices of an inbox.
  package func detach(_ inbox: ChangeInbox) {
    shared.withLock { $0.inboxes = $0.inboxes.filter { $0 !== inbox } }
  }

  /// Calls a listener after each commit, on the thread of the commit, until it is detached.
  ///
  /// Commits of other processes are reported on a thread of the backend, unless the listener is
  /// passive.
  package func attach(_ listener: CommitListener) {
    shared.withLock { $0.listeners = $0.listeners + [listener] }
    if !listener.isPassive { processes?.observe(true) }
  }

  /// Removes a listener.
  package func detach(_ listener: CommitListener) {
    let wasAttached = shared.withLock { shared in
      let count = shared.listeners.count
      shared.listeners = shared.listeners.filter { $0 !== listener }
      return shared.listeners.count < count
    }
    if wasAttached, !listener.isPassive { processes?.observe(false) }
  }

  /// Whether only one store is attached, so that no other store can commit between two reads.
  package var hasOneStore: Bool { shared.withLock { $0.inboxes.count == 1 } }

  /// Whether only one store can commit, so that nothing changes between two of its reads.
  package var isAlone: Bool { hasOneStore && !isOrderedByServer }

  // MARK: The order of commits

  /// Runs a closure while nobody else commits.
  ///
  /// - Throws: ``StoreError`` with `forked`, or an error of the closure.
  package func whileCommitting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError)
    -> Result
  {
    try checkProcess()
    let processes = processes
    processes?.yield()
    return try turn.withLock { (_) throws(StoreError) in
      try processes?.begin()
      defer { processes?.end() }
      underWay.change(once: { $0 == 0 }) { _ in }
      turnOwner.store(currentThread(), ordering: .relaxed)
      defer { turnOwner.store(0, ordering: .relaxed) }
      guard let lastNumber = processes?.lastNumber else { return try body() }
      let number = try lastNumber()
      soleBasis.withLock { $0 = number }
      defer { soleBasis.withLock { $0 = nil } }
      return try body()
    }
  }

  /// Runs a closure while nobody else commits, and runs it again when a server has refused its
  /// commit because another one came first.
  ///
  /// - Throws: ``StoreError`` with `forked`; with `conflict` if others came first a hundred times;
  ///   or an error of the closure.
  package func whileCommittingRepeatedly<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var attemptsLeft = 100
    while true {
      do {
        return try whileCommitting(body)
      } catch {
        attemptsLeft -= 1
        guard isOvertaken(error), attemptsLeft > 0 else { throw error }
      }
    }
  }

  /// Whether a server has refused a commit because another one came first.
  package func isOvertaken(_ error: StoreError) -> Bool {
    isOrderedByServer && error.code == .conflict && error.underlying is CommitConflict
  }

  /// The last commit number that may exist for a commit of this thread to be made, where a server
  /// keeps nobody from committing during ``whileCommitting(_:)``; nil otherwise.
  package var requiredNumber: UInt64? { hasTurn ? soleBasis.withLock { $0 } : nil }

  /// Records a commit that was made under ``whileCommitting(_:)``: the next one is based on it.
  package func raiseRequiredNumber(to number: UInt64) {
    if hasTurn { soleBasis.withLock { if $0 != nil { $0 = number } } }
  }

  /// Whether this thread is preparing a commit.
  package var hasTurn: Bool { turnOwner.load(ordering: .relaxed) == currentThread() }

  /// Runs a closure while nobody else prepares a commit; immediately if this thread has the turn.
  func whileInTurn<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    if hasTurn { return try body() }
    return try whileTakingTurn { (_) throws(StoreError) in try body() }
  }

  /// Runs a closure while nobody else prepares a commit.
  ///
  /// Commits that were prepared before may still be on their way to the disk. The closure may end
  /// the turn early, once its own commit is queued after these.
  ///
  /// - Parameters:
  ///   - isHolding: Whether this thread already keeps other processes from committing.
  ///   - body: Prepares a commit.
  /// - Returns: The result of the closure.
  /// - Throws: ``StoreError`` with `forked`, or an error of the closure.
  package func whileTakingTurn<Result>(
    holdingProcesses isHolding: Bool = false,
    _ body: (CommitTurn) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let own = try takeTurn(holdingProcesses: isHolding)
    defer { own.finish() }
    return try body(own)
  }

  /// Begins the turn of a commit that doesn't end where it began, see ``CommitTurn/finish()``.
  ///
  /// - Throws: ``StoreError`` with `forked`.
  package func takeTurn(holdingProcesses isHolding: Bool = false) throws(StoreError) -> CommitTurn {
    try checkProcess()
    let processes = processes
    // Without the turn: the processes that this thread waits for might be waiting for the turn.
    if !isHolding { processes?.yield() }
    turn.lock()
    do {
      try processes?.begin()
    } catch {
      turn.unlock()
      throw error
    }
    turnOwner.store(currentThread(), ordering: .relaxed)
    return CommitTurn(self, processes)
  }

  fileprivate func endTurn() {
    turnOwner.store(0, ordering: .relaxed)
    turn.unlock()
  }

  /// Keeps other processes from committing, for a write that is prepared before it takes its turn.
  ///
  /// - Throws: ``StoreError`` with `forked` or `inUse`.
  package func beginWithoutProcesses() throws(StoreError) {
    try checkProcess()
    try processes?.begin()
  }

  /// Lets other processes go first if they have waited for long; call it without holding anything
  /// that they might wait for.
  package func yieldToProcesses() { processes?.yield() }

  /// Lets other processes commit again after ``beginWithoutProcesses()``.
  package func endWithoutProcesses() { processes?.end() }

  /// Makes turns wait for other processes.
  package func order(by processes: ProcessOrder) {
    knownProcesses.withLock { $0 = processes }
    hasProcesses.store(true, ordering: .releasing)
  }

  /// Whether other processes may commit, too.
  package var isShared: Bool { processes.map { !$0.isReadOnly } ?? false }

  /// Whether a server orders all commits and may refuse any of them.
  package var isOrderedByServer: Bool { processes?.lastNumber != nil }

  /// Whether the data is on a server, where others may commit at any time.
  package var isOnServer: Bool { processes?.isOfServer == true }

  private func checkProcess() throws(StoreError) {
    // Before any lock, because a thread of the parent may have held it at the fork.
    if let location, process != currentProcess() { throw StoreError.forked(location) }
  }

  /// Performs a commit for a backend that writes one at a time.
  ///
  /// It refuses a commit based on data that others have changed, writes, and notifies every store.
  ///
  ///     func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
  ///       try coordinator.perform(changes, request, at: location, names: names) {
  ///         (commit) throws(StoreError) in
  ///         try write(changes, commit)
  ///       }
  ///     }
  ///
  /// Complexity: linear in the change set, plus the time of the closure. If the request has a
  /// basis, also linear in the commits after it. Other calls wait.
  ///
  /// - Parameters:
  ///   - changes: The changes to commit.
  ///   - request: The writer's description of the commit.
  ///   - location: The location of the backend, for errors.
  ///   - names: The names of a table and of an ordered table, for errors.
  ///   - write: Writes the change set, or throws and has changed nothing.
  /// - Returns: The commit; nil for an empty change set, which nobody is notified of.
  /// - Throws: ``StoreError`` with `conflict` or `invalidArgument`, or an error of the closure.
  public func perform(
    _ changes: ChangeSet, _ request: CommitRequest, at location: String,
    names: (
      table: (TableID) throws(StoreError) -> String,
      ordered: (OrderedTableID) throws(StoreError) -> String
    ),
    write: (Commit) throws(StoreError) -> Void
  ) throws(StoreError) -> Commit? {
    try request.check()
    if changes.isEmpty { return nil }
    return try writing.withLock { (_) throws(StoreError) in
      if let basis = request.basis,
        let conflict = journal.conflict(of: changes, on: basis, besides: [])
      {
        throw try conflict.named(table: names.table, ordered: names.ordered).error(path: location)
      }
      let commit = request.commit(number: journal.lastNumber + 1, token: journal.newToken())
      try write(commit)
      didCommit(commit, changes, request)
      return commit
    }
  }
}

/// The turn of a store that prepares a commit, on the thread that does so.
package final class CommitTurn: CommitFollower {
  private let coordinator: StoreCoordinator
  private let processes: ProcessOrder?
  private let hasEnded = Atomic(false)

  fileprivate init(_ coordinator: StoreCoordinator, _ processes: ProcessOrder?) {
    (self.coordinator, self.processes) = (coordinator, processes)
  }

  /// Lets the next store prepare its commit; called on the thread that has taken the turn.
  package func didQueue() {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    coordinator.underWay.withLock { $0 += 1 }
    coordinator.endTurn()
  }

  /// Ends the turn of a finished or failed commit, on the thread that took it unless it was queued.
  package func finish() {
    if hasEnded.exchange(true, ordering: .relaxed) {
      coordinator.underWay.change { $0 -= 1 }
    } else {
      coordinator.endTurn()
    }
    processes?.end()
  }
}
