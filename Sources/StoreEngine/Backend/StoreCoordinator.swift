import Files
import Locks
import Synchronization

/// What the stores on one backend share: row IDs, the order of their commits, and the news of them.
///
/// A backend makes one coordinator, returns it from ``StoreBackend/coordinator``, and does its
/// commits by ``perform(_:_:at:names:write:)``; stores do the rest. Safe on any thread.
public final class StoreCoordinator: Sendable {
  private let shared = Locked(Shared())
  /// Held by the store that works out a commit.
  fileprivate let turn = Locked(false)
  /// How many commits have been worked out, and are not done.
  fileprivate let underWay = Locked(0)
  /// The last commits.
  let journal = CommitJournal()
  /// Held by a backend that writes one commit at a time.
  private let writing = Locked(false)

  private struct Shared {
    /// Few, and asked for once a save: a dictionary would cost more, its metadata above all.
    var tables: [(id: TableID, table: SharedTable)] = []
    var inboxes: [ChangeInbox] = []
    /// The class IDs of classes that have not been saved yet.
    var classIDs: [(table: TableID, classID: UInt8)] = []
    /// The names of the migrations that the program knows.
    var migrations: [String] = []

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
  init(ofFilesAt location: String) { self.location = location }

  /// What is shared about a table; the same for every store.
  package func table(_ id: TableID) -> SharedTable {
    shared.withLock { shared in
      if let known = shared.table(id) { return known }
      let new = SharedTable()
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

  /// Whether no second store is attached, which could commit between two looks.
  package var hasOneStore: Bool { shared.withLock { $0.inboxes.count == 1 } }

  // MARK: The order of commits

  /// Runs a closure while nobody commits.
  ///
  /// - Throws: ``StoreError`` with `forked`; what the closure throws.
  package func whileCommitting<Result>(_ body: () throws -> Result) throws -> Result {
    try checkProcess()
    return try turn.withLock { _ in
      underWay.change(once: { $0 == 0 }) { _ in }
      return try body()
    }
  }

  /// Runs a closure while nobody else works out a commit; those that have been worked out before
  /// may still be on their way to the disk.
  ///
  /// The closure may end the turn early, once its own commit has its place behind these.
  ///
  /// - Returns: what the closure returns.
  /// - Throws: ``StoreError`` with `forked`; what the closure throws.
  package func whileTakingTurn<Result>(
    _ body: (CommitTurn) throws -> Result
  ) throws -> Result {
    let own = try takeTurn()
    defer { own.finish() }
    return try body(own)
  }

  /// The same for a commit that does not end where it has begun, see ``CommitTurn/finish()``.
  ///
  /// - Throws: ``StoreError`` with `forked`.
  package func takeTurn() throws -> CommitTurn {
    try checkProcess()
    let own = CommitTurn(self)
    turn.lock()
    return own
  }

  private func checkProcess() throws {
    // Before any lock, which a thread of the parent may have held at the fork.
    if let location, process != currentProcess() { throw StoreError.forked(location) }
  }

  // MARK: Notice of commits

  /// A commit has been written, and every reader sees it: tells all stores but the one that has made
  /// it.
  func didCommit(_ commit: Commit, _ changes: ChangeSet, _ request: CommitRequest) {
    tellStores(of: changes, from: request.sender)
    // Behind these: who has seen the number must find the news.
    journal.append(commit, changes)
    request.follower?.didCommit()
  }

  private func tellStores(of changes: ChangeSet, from sender: ChangeInbox?) {
    let others = shared.withLock { shared in
      for table in changes.tables where !table.records.isEmpty {
        shared.table(table.table)?.countCommit()
      }
      return shared.inboxes.count == 1 && shared.inboxes[0] === sender ? [] : shared.inboxes
    }
    for inbox in others where inbox !== sender { inbox.receive(changes) }
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
    names: (table: (TableID) throws -> String, ordered: (OrderedTableID) throws -> String),
    write: (Commit) throws -> Void
  ) throws -> Commit? {
    try request.check()
    if changes.isEmpty { return nil }
    return try writing.withLock { _ in
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
  private let hasEnded = Atomic(false)

  fileprivate init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

  /// Lets the next store work out its commit: this one has its place before it.
  ///
  /// On the thread that has taken the turn.
  package func didQueue() {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    coordinator.underWay.withLock { $0 += 1 }
    coordinator.turn.unlock()
  }

  /// The commit is done, or has failed; on the thread that has taken the turn, unless it was queued.
  package func finish() {
    if hasEnded.exchange(true, ordering: .relaxed) {
      coordinator.underWay.change { $0 -= 1 }
    } else {
      coordinator.turn.unlock()
    }
  }
}
