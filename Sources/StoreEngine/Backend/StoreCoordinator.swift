import Files
import Locks

/// What the stores on one backend share: row IDs, the order of saves, and notice of each other's.
///
/// A backend makes one coordinator and returns it from ``StoreBackend/coordinator``; stores do the
/// rest. Safe on any thread.
public final class StoreCoordinator: Sendable {
  private let shared = Locked(Shared())
  /// Held by the one store that is committing.
  private let commitLock = Locked(false)

  private struct Shared {
    /// Few, and asked for once a save: a dictionary would cost more, its metadata above all.
    var tables: [(id: TableID, table: SharedTable)] = []

    func table(_ id: TableID) -> SharedTable? { tables.first { $0.id == id }?.table }
    var inboxes: [ChangeInbox] = []
  }

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

  /// Runs one commit at a time.
  ///
  /// - Throws: ``StoreError`` with `forked`; what the closure throws.
  package func whileCommitting(_ body: () throws -> Void) throws {
    // Before the lock, which a thread of the parent may have held at the fork.
    if let location, process != currentProcess() { throw StoreError.forked(location) }
    try commitLock.withLock { _ in try body() }
  }

  /// Tells all stores but the sender which rows a commit rewrote or removed.
  package func announce(_ changes: ChangeSet, from sender: ChangeInbox) {
    let others = shared.withLock { shared in
      for table in changes.tables where !table.records.isEmpty {
        shared.table(table.table)?.countCommit()
      }
      return shared.inboxes.filter { $0 !== sender }
    }
    for inbox in others { inbox.receive(changes) }
  }
}
