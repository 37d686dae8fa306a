import Locks
import StoreEngine
import Synchronization

/// The part of a key-value store on a server that follows the commits of other machines.
///
/// No lock keeps other machines from committing between a read and the write that rests on it. So a
/// write notes the keys that it reads, and each answer of the server brings the commits since the
/// last one:
///
///     read a (commit 7) --> read b (commit 9: has a changed since 7?) --> commit, based on 9
///
/// A write that has read a key which somebody has changed since ends at once, with what it reads
/// next, and is worked out again. So no closure ever sees a and b as they have never been together.
/// Changes between the last read and the commit are found by the server.
final class ServerNews: Sendable {
  private let coordinator: StoreCoordinator
  private let state = Locked(State())
  private let listener = Locked<CommitListener?>(nil)
  /// Changes when a table may have come or gone.
  private let listChanges = Atomic(1)
  /// Changes when nobody knows what others have committed.
  private let losses = Atomic(0)

  fileprivate struct State {
    var read = KeysRead()
    /// Everything in ``read`` is as it was after this commit.
    var number: UInt64 = 0
    /// Whether somebody has changed a key after it was read.
    var isOutdated = false
    var firstExpiry = FirstExpiry()
    /// The changes of the list of tables that the store knows.
    var knownListChanges = 0
  }

  init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

  deinit { end() }

  /// Begins to hear of commits, the store's own among them.
  ///
  /// - Parameters:
  ///   - list: The list of tables.
  ///   - didChangeList: Gets each commit that changes the list.
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

  /// Hears of nothing any more.
  func end() {
    let ended = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    if let ended { coordinator.detach(ended) }
  }

  /// How often nobody knew what others had committed.
  var lossCount: Int { losses.load(ordering: .acquiring) }

  /// The changes of the list of tables up to now; nil where the store knows them all.
  var newListChanges: Int? {
    let changes = listChanges.load(ordering: .acquiring)
    return state.withLock { $0.knownListChanges == changes ? nil : changes }
  }

  /// The store has read the list, with these changes or later ones.
  func didReadList(_ changes: Int) {
    state.withLock { $0.knownListChanges = max($0.knownListChanges, changes) }
  }

  // MARK: Reads of a write

  /// A write begins to read.
  func beginWrite() {
    let number = coordinator.journal.lastNumber
    state.withLock { $0.forgetReads(number) }
  }

  /// A write is done.
  func endWrite() { state.withLock { $0.forgetReads(0) } }

  /// Takes note of keys that are going to be read.
  func willRead(_ range: KeyRange, of table: OrderedTableID) {
    state.withLock { $0.read.insert(range, of: table) }
  }

  /// Makes sure that all that the write has read was so at one moment.
  ///
  /// - Throws: `StoreError` with ``OutdatedRead`` as its cause.
  func checkReads() throws(StoreError) {
    // All stores have heard of the commits up to this one, and so has the list of reads.
    let number = coordinator.journal.lastNumber
    let isOutdated = state.withLock { state in
      if !state.isOutdated { state.number = max(state.number, number) }
      return state.isOutdated
    }
    if isOutdated { throw .outdatedRead }
  }

  /// Returns the keys and the commit that a change set of the write rests on.
  func basis(of changes: ChangeSet) -> CommitBasis {
    state.withLock { $0.read.basis(upTo: $0.number, of: changes) }
  }

  /// Whether a write has failed because others were quicker, and can be worked out again.
  func isOutdated(_ error: StoreError) -> Bool {
    error.underlying is OutdatedRead || coordinator.isOvertaken(error)
  }

  // MARK: Expiry

  /// Whether there may be expiry times in a range that begins with the first.
  func mayHaveExpired(_ table: OrderedTableID, in range: KeyRange) -> Bool {
    state.withLock { $0.firstExpiry.mayHaveKeys(table, in: range) }
  }

  /// Has a closure look for the first expiry time of a table, nil for none.
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

/// Others have changed what a write has read, before it was committed.
struct OutdatedRead: Error {}

extension StoreError {
  /// The error of a write that has read what others have changed since.
  fileprivate static var outdatedRead: StoreError {
    StoreError(
      .conflict,
      "Others have changed what the write has read, again and again. Try it again later.",
      underlying: OutdatedRead())
  }
}
