import Files
import Locks
import Synchronization

/// What the stores on one backend share: row IDs, the order of their commits, and the news of them.
///
/// A backend makes one coordinator, returns it from ``StoreBackend/coordinator``, and does its
/// commits by ``perform(_:_:at:names:write:)``; stores do the rest. Safe on any thread.
public final class StoreCoordinator: Sendable {
  let shared = Locked(Shared())
  /// Held by the store that works out a commit.
  fileprivate let turn = Locked(false)
  /// How many commits have been worked out, and are not done.
  fileprivate let underWay = Locked(0)
  /// The last commits.
  package let journal = CommitJournal()
  /// The instrument that operations are reported to.
  let instruments = Instruments()
  /// The order of commits among processes; nil where there is one process, which takes no lock then.
  private var processes: ProcessOrder? {
    hasProcesses.load(ordering: .acquiring) ? knownProcesses.withLock { $0 } : nil
  }
  private let knownProcesses = Locked<ProcessOrder?>(nil)
  private let hasProcesses = Atomic(false)
  /// The number that the commits of the thread with the turn rest on, all by itself; nil where
  /// nobody else can commit meanwhile.
  private let soleBasis = Locked<UInt64?>(nil)
  /// The thread that has the turn.
  private let turnOwner = Atomic<UInt>(0)
  /// Held by a backend that writes one commit at a time.
  private let writing = Locked(false)

  /// Changes when an ordered table is committed to for the first time.
  let orderedNews = Atomic<UInt64>(0)

  struct Shared {
    /// Few, and asked for once a save: a dictionary would cost more, its metadata above all.
    var tables: [(id: TableID, table: SharedTable)] = []
    var inboxes: [ChangeInbox] = []
    /// The class IDs of classes that have not been saved yet.
    var classIDs: [(table: TableID, classID: UInt8)] = []
    /// Called after each commit.
    var listeners: [CommitListener] = []
    /// The names of the migrations that the program knows.
    var migrations: [String] = []
    /// Which ordered tables have been committed to, by their numbers.
    var isOrderedTableKnown: [Bool] = []

    /// Takes note of a commit to an ordered table.
    ///
    /// - Returns: whether it is the first one.
    mutating func note(_ table: OrderedTableID) -> Bool {
      let missing = table.index + 1 - isOrderedTableKnown.count
      if missing > 0 { isOrderedTableKnown += repeatElement(false, count: missing) }
      defer { isOrderedTableKnown[table.index] = true }
      return !isOrderedTableKnown[table.index]
    }

    func table(_ id: TableID) -> SharedTable? { tables.first { $0.id == id }?.table }
  }

  /// The values outside of records that the process holds; nil until they are asked for.
  private let external = Locked<ExternalValues?>(nil)

  /// The files of the backend, which a process that is forked can't use; nil for one in memory.
  private let location: String?
  private let process = currentProcess()

  /// Makes the coordinator of a backend that has just been opened.
  public init() { location = nil }

  /// Makes the coordinator of a backend whose files belong to this process.
  package init(ofFilesAt location: String) { self.location = location }

  /// Makes the coordinator of a snapshot, in which nobody commits.
  init(ofSnapshotAt location: String, _ last: Commit?, _ values: ExternalValues?) {
    self.location = location
    external.withLock { $0 = values }
    journal.begin(after: last)
  }

  /// What is shared about a table; the same for every store.
  package func table(_ id: TableID) -> SharedTable {
    let processes = processes
    return shared.withLock { shared in
      if let known = shared.table(id) { return known }
      let new = SharedTable()
      if let processes {
        new.useBlocks { (count) throws(StoreError) in try processes.takeRows(id, count) }
      }
      shared.tables.append((id, new))
      return new
    }
  }

  /// The class ID of a class that is not saved yet; every store gets the same.
  ///
  /// - Returns: the lowest ID that is not taken; nil if all 255 are.
  package func reserveClassID(for table: TableID, besides taken: Set<UInt8>) -> UInt8? {
    shared.withLock { shared in
      if let known = shared.classIDs.first(where: { $0.table == table }) { return known.classID }
      let taken = taken.union(shared.classIDs.map(\.classID))
      // 255 stands for objects without a class ID.
      guard let classID = (0..<255).first(where: { !taken.contains($0) }) else { return nil }
      shared.classIDs.append((table, classID))
      return classID
    }
  }

  /// Takes back the class ID of a class that could not be saved.
  package func releaseClassID(for table: TableID) {
    shared.withLock { $0.classIDs.removeAll { $0.table == table } }
  }

  /// Changes when there may be an ordered table that was not there before.
  package var orderedTableNews: UInt64 { orderedNews.load(ordering: .acquiring) }

  /// Whether an ordered table has been committed to since the backend was opened.
  package func isKnown(_ table: OrderedTableID) -> Bool {
    shared.withLock { shared in
      table.index < shared.isOrderedTableKnown.count && shared.isOrderedTableKnown[table.index]
    }
  }

  /// The names of the migrations that the program knows, for all its stores.
  package var knownMigrations: [String] { shared.withLock(\.migrations) }

  /// Takes note of migrations that the program knows.
  package func know(_ migrations: [String]) { shared.withLock { $0.migrations = migrations } }

  /// The values outside of records that the process holds; nil where the backend keeps none.
  package func externalValues(of backend: any StoreBackend) -> ExternalValues? {
    external.withLock { known in
      if known == nil { known = backend.externalStorage.map { ExternalValues($0) } }
      return known
    }
  }

  /// Lets a store hear of what others commit, until it lets go of the inbox.
  package func attach(_ inbox: ChangeInbox) {
    shared.withLock { $0.inboxes.append(inbox) }
  }

  /// Ends what ``attach(_:)`` began.
  package func detach(_ inbox: ChangeInbox) {
    shared.withLock { $0.inboxes.removeAll { $0 === inbox } }
  }

  /// Calls a listener after each commit, on the thread of that, until it is detached.
  ///
  /// Commits of other processes are reported on a thread of the backend, unless the listener is
  /// passive.
  package func attach(_ listener: CommitListener) {
    shared.withLock { $0.listeners.append(listener) }
    if !listener.isPassive { processes?.observe(true) }
  }

  /// Ends what ``attach(_:)`` began.
  package func detach(_ listener: CommitListener) {
    let wasAttached = shared.withLock { shared in
      let count = shared.listeners.count
      shared.listeners.removeAll { $0 === listener }
      return shared.listeners.count < count
    }
    if wasAttached, !listener.isPassive { processes?.observe(false) }
  }

  /// Whether no second store is attached, which could commit between two looks.
  package var hasOneStore: Bool { shared.withLock { $0.inboxes.count == 1 } }

  /// Whether nobody but one store commits, which no other one can do between two looks.
  package var isAlone: Bool { hasOneStore && !isOrderedByServer }

  // MARK: The order of commits

  /// Runs a closure while nobody commits.
  ///
  /// - Throws: ``StoreError`` with `forked`; what the closure throws.
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

  /// The same for a closure that may run again: where a server has refused what it has committed, as
  /// others were quicker.
  ///
  /// - Throws: ``StoreError`` with `forked`; what the closure throws; `conflict` when others were
  ///   quicker a hundred times.
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

  /// Whether a server has refused a commit because others were quicker.
  package func isOvertaken(_ error: StoreError) -> Bool {
    isOrderedByServer && error.code == .conflict && error.underlying is CommitConflict
  }

  /// The number behind which nobody else may have committed for a commit of this thread to be made:
  /// it was worked out under ``whileCommitting(_:)``, where a server keeps nobody from committing.
  package var requiredNumber: UInt64? { hasTurn ? soleBasis.withLock { $0 } : nil }

  /// Takes note of a commit that was made under ``whileCommitting(_:)``: the next one rests on it.
  package func raiseRequiredNumber(to number: UInt64) {
    if hasTurn { soleBasis.withLock { if $0 != nil { $0 = number } } }
  }

  /// Whether this thread works out a commit.
  package var hasTurn: Bool { turnOwner.load(ordering: .relaxed) == currentThread() }

  /// Runs a closure while nobody else works out a commit; at once in a turn of this thread.
  func whileInTurn<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    if hasTurn { return try body() }
    return try whileTakingTurn { (_) throws(StoreError) in try body() }
  }

  /// Runs a closure while nobody else works out a commit; those that have been worked out before
  /// may still be on their way to the disk.
  ///
  /// The closure may end the turn early, once its own commit has its place behind these.
  ///
  /// - Parameters:
  ///   - isHolding: Whether this thread keeps other processes from committing already.
  ///   - body: Works out a commit.
  /// - Returns: what the closure returns.
  /// - Throws: ``StoreError`` with `forked`; what the closure throws.
  package func whileTakingTurn<Result>(
    holdingProcesses isHolding: Bool = false,
    _ body: (CommitTurn) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let own = try takeTurn(holdingProcesses: isHolding)
    defer { own.finish() }
    return try body(own)
  }

  /// The same for a commit that does not end where it has begun, see ``CommitTurn/finish()``.
  ///
  /// - Throws: ``StoreError`` with `forked`.
  package func takeTurn(holdingProcesses isHolding: Bool = false) throws(StoreError) -> CommitTurn {
    try checkProcess()
    let processes = processes
    // Not with a turn, for which those would wait whom this waits for.
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

  /// Keeps other processes from committing, for a write that is worked out before it takes its
  /// turn.
  ///
  /// - Throws: ``StoreError`` with `forked` or `inUse`.
  package func beginWithoutProcesses() throws(StoreError) {
    try checkProcess()
    try processes?.begin()
  }

  /// Lets other processes come first that have waited for long; without anything that they might
  /// wait for.
  package func yieldToProcesses() { processes?.yield() }

  /// Ends what ``beginWithoutProcesses()`` began.
  package func endWithoutProcesses() { processes?.end() }

  /// Has turns wait for other processes.
  package func order(by processes: ProcessOrder) {
    knownProcesses.withLock { $0 = processes }
    hasProcesses.store(true, ordering: .releasing)
  }

  /// Whether other processes may commit, too.
  package var isShared: Bool { processes.map { !$0.isReadOnly } ?? false }

  /// Whether a server orders the commits of all, which may refuse any of them.
  package var isOrderedByServer: Bool { processes?.lastNumber != nil }

  /// Whether the data is on a server, where others may commit at any time.
  package var isOnServer: Bool { processes?.isOfServer == true }

  private func checkProcess() throws(StoreError) {
    // Before any lock, which a thread of the parent may have held at the fork.
    if let location, process != currentProcess() { throw StoreError.forked(location) }
  }

  /// Does a commit for a backend that writes one at a time: refuses what rests on something that
  /// others have changed, lets the backend write, and tells everyone.
  ///
  ///     func commit(_ changes: ChangeSet, _ request: CommitRequest) throws -> Commit? {
  ///       try coordinator.perform(changes, request, at: location, names: names) { commit in
  ///         try write(changes, commit)
  ///       }
  ///     }
  ///
  /// - Parameters:
  ///   - changes: What is committed.
  ///   - request: What the writer says about it.
  ///   - location: The backend's, for errors.
  ///   - names: The names of a table and of an ordered table, for errors.
  ///   - write: Writes the change set, or throws and has changed nothing.
  /// - Returns: the commit; nil for an empty change set, which is given to nobody.
  /// - Throws: ``StoreError`` with `conflict` or `invalidArgument`; what the closure throws.
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

  /// Goes on behind the last commit that a backend finds when it is opened, or that a copy is to go
  /// on after; nil when there is none.
  public func begin(after last: Commit?) { journal.begin(after: last) }
}

/// The turn of a store that works out a commit, on the thread that does.
package final class CommitTurn: CommitFollower {
  private let coordinator: StoreCoordinator
  private let processes: ProcessOrder?
  private let hasEnded = Atomic(false)

  fileprivate init(_ coordinator: StoreCoordinator, _ processes: ProcessOrder?) {
    (self.coordinator, self.processes) = (coordinator, processes)
  }

  /// Lets the next store work out its commit: this one has its place before it.
  ///
  /// On the thread that has taken the turn.
  package func didQueue() {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    coordinator.underWay.withLock { $0 += 1 }
    coordinator.endTurn()
  }

  /// The commit is done, or has failed; on the thread that has taken the turn, unless it was queued.
  package func finish() {
    if hasEnded.exchange(true, ordering: .relaxed) {
      coordinator.underWay.change { $0 -= 1 }
    } else {
      coordinator.endTurn()
    }
    processes?.end()
  }
}
