import Locks
import StoreEngine
import Synchronization

/// The part of a key-value store on a server that follows the commits of other machines.
///
/// No lock prevents other machines from committing between a read and the write that depends on it.
/// So a write records the keys that it reads, and each response of the server includes the commits
/// since the last one:
///
///     read a (commit 7) --> read b (commit 9: has a changed since 7?) --> commit, based on 9
///
/// If others have changed a key that the write has read, the next read fails, and the write is
/// prepared again. So a closure never sees a and b in a combination that did not exist. The server
/// detects changes between the last read and the commit.
final class ServerNews: Sendable {
  private let coordinator: StoreCoordinator
  private let state = Locked(State())
  private let listener = Locked<CommitListener?>(nil)
  /// The version of the list of tables, which changes when a table may be created or dropped.
  private let listChanges = Atomic(1)
  /// The number of times that commits of others were missed.
  private let losses = Atomic(0)

  fileprivate struct State {
    var read = KeysRead()
    /// The last commit for which everything in ``read`` is known to be current.
    var number: UInt64 = 0
    /// Whether a key has changed after it was read.
    var isOutdated = false
    var firstExpiry = FirstExpiry()
    /// The version of the list of tables that the store has read.
    var knownListChanges = 0
  }

  init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

  deinit { end() }

  /// Starts to follow commits, including those of this store.
  ///
  /// - Parameters:
  ///   - list: The list of tables.
  ///   - didChangeList: Receives each commit that changes the list.
  func begin(list: OrderedTableID, didChangeList: @escaping @Sendable (ChangeSet) -> Void) {
    let listener = CommitListener(isPassive: true) { [weak self] changes in
      guard let self else { return }
      state.withLock { $0.note(changes) }
      guard changes.ordered.contains(where: { $0.table == list }) else { return }
      listChanges.add(1, ordering: .acquiringAndReleasing)
      didChangeList(changes)
    } didLoseTrack: { [weak self] in
      guard let self else { return }
      state.withLock { $0.loseTrack() }
      listChanges.add(1, ordering: .acquiringAndReleasing)
      losses.add(1, ordering: .acquiringAndReleasing)
    }
    self.listener.withLock { $0 = listener }
    coordinator.attach(listener)
  }

  /// Stops following commits.
  func end() {
    let ended = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    if let ended { coordinator.detach(ended) }
  }

  /// The number of times that commits of others were missed.
  var lossCount: Int { losses.load(ordering: .acquiring) }

  /// The version of the list of tables to read; nil if the store has read the latest one.
  var newListChanges: Int? {
    let changes = listChanges.load(ordering: .acquiring)
    return state.withLock { $0.knownListChanges == changes ? nil : changes }
  }

  /// Records that the store has read the list, at a version or later.
  func didReadList(_ changes: Int) {
    state.withLock { $0.knownListChanges = max($0.knownListChanges, changes) }
  }

  // MARK: Reads of a write

  /// Begins the reads of a write.
  func beginWrite() {
    let number = coordinator.journal.lastNumber
    state.withLock { $0.forgetReads(number) }
  }

  /// Ends the reads of a write.
  func endWrite() { state.withLock { $0.forgetReads(0) } }

  /// Records keys that are about to be read.
  func willRead(_ range: KeyRange, of table: OrderedTableID) {
    state.withLock { $0.read.insert(range, of: table) }
  }

  /// Checks that everything the write has read was valid at the same time.
  ///
  /// - Throws: `StoreError` with ``OutdatedRead`` as its cause.
  func checkReads() throws(StoreError) {
    // All stores have processed the commits up to this one, and so has the list of reads.
    let number = coordinator.journal.lastNumber
    let isOutdated = state.withLock { state in
      if !state.isOutdated { state.number = max(state.number, number) }
      return state.isOutdated
    }
    if isOutdated { throw .outdatedRead }
  }

  /// Returns the keys and the commit that a change set of the write depends on.
  func basis(of changes: ChangeSet) -> CommitBasis {
    state.withLock { $0.read.basis(upTo: $0.number, of: changes) }
  }

  /// Returns whether a write failed because of the commits of others, and can be prepared again.
  func isOutdated(_ error: StoreError) -> Bool {
    error.underlying is OutdatedRead || coordinator.isOvertaken(error)
  }

  // MARK: Expiry

  /// Returns whether there may be expiry times in a range without a lower bound.
  func mayHaveExpired(_ table: OrderedTableID, in range: KeyRange) -> Bool {
    state.withLock { $0.firstExpiry.mayHaveKeys(table, in: range) }
  }

  /// Calls a closure that finds the first expiry time of a table, and records the result.
  func findingFirstExpiry(
    of table: OrderedTableID, _ find: () throws(StoreError) -> [UInt8]?
  ) throws(StoreError) {
    let number = state.withLock { $0.firstExpiry.number }
    let first = try find()
    state.withLock { $0.firstExpiry.set(first, of: table, asOf: number) }
  }
}

extension ServerNews.State {
  fileprivate mutating func note(_ changes: ChangeSet) {
    if read.areChanged(by: changes) { isOutdated = true }
    firstExpiry.note(changes)
  }

  fileprivate mutating func loseTrack() {
    isOutdated = true
    firstExpiry.loseTrack()
  }

  fileprivate mutating func forgetReads(_ number: UInt64) {
    (read, self.number, isOutdated) = (KeysRead(), number, false)
  }
}

/// The error for a write whose reads were changed by others before its commit.
struct OutdatedRead: Error {}

extension StoreError {
  /// The error of a write that has read data that others have changed since.
  fileprivate static var outdatedRead: StoreError {
    StoreError(
      .conflict,
      "Others keep changing the data that the write reads. Try again later.",
      underlying: OutdatedRead())
  }
}
