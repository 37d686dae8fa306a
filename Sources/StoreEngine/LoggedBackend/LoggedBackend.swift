import Files
public import FoundationEssentials
import Locks
import Synchronization

/// A backend on class files of any format, with a commit log in front of them.
///
/// A commit appends one batch to the log, and syncs it as the ``Durability`` requires. From then on
/// the batch is *pending*: reads look there first, and then in the class files. A checkpoint folds
/// the pending changes into new class files, replaces the old ones, and empties the log. A change
/// that is large compared with the files skips the log: its new files are prepared first, and the
/// commit is the log record that confirms them.
///
///     commit --> log --> pending records --> checkpoint --> new class files, renamed
///
/// Class files are never written in place, so they are complete at any time.
///
/// With a key the store is encrypted: a commit is sealed once, before it is written to the log, and
/// data is opened last, after it was read. See <doc:Encryption>.
public final class LoggedBackend<Format: ClassFileFormat>: StoreBackend, CommitWriting,
  CommitQueueing
{
  /// The state that the stores on this backend share.
  public let coordinator: StoreCoordinator
  /// The failures that a save survives.
  public let durability: Durability

  package let files: ClassFiles<Format>
  /// The seal of an encrypted store; nil for a store that is not encrypted.
  package let sealing: Sealing?
  /// The number of bytes after the last complete save in the log, if the opening found an
  /// incomplete one.
  ///
  /// This is a save that was not finished when a process was killed or the power failed. It was
  /// never acknowledged. Nil if the log ended with a complete save.
  public let tornTailByteCount: Int?
  let limits: CheckpointLimits
  /// The pending changes, and the number of commits of each table.
  ///
  /// Held for moments only, the longest of which is the renaming of new files. Taken inside
  /// ``log``; inside it, only the locks of the files are taken, one at a time.
  let state: Locked<PendingState>
  /// The queue in which commits wait for each other.
  let queue = CommitQueue<QueuedCommit>()
  /// Held by the current commits or checkpoint, while they write and sync.
  let log: Locked<LoggedLog>
  /// Whether the last attempt to fold the log has failed.
  let isFoldFailing = Atomic(false)
  /// Whether the last commit got an entry of a history; a guess for the next one.
  let keepsHistory = Atomic(false)
  /// The lock of the processes that share the store; nil if it is not shared.
  let sharing: ProcessLock?
  /// The counter of saves and look-ups, for other processes to read.
  let activity: ActivityCounter
  /// The word that changes with every commit of another process, and its value at the last look.
  ///
  /// Stored beside the lock, so that a read changes no reference counts.
  let version: SharedWord?
  let knownVersion = Atomic<UInt64>(0)
  /// The thread that reads commits of other processes, under the lock of the log; 0 for none.
  let catchingUp = Atomic<UInt>(0)
  /// The process that has opened the backend.
  private let process = currentProcess()
  /// Keeps the values outside of records that a snapshot refers to; nil if this is no snapshot.
  private let valuesInUse: ExternalValuesInUse?
  /// Whether the files in the directory may since differ from those of this backend.
  let isSnapshot: Bool
  /// Whether commits to a snapshot stay in memory, see ``ScratchBackend``.
  let isScratch = Atomic(false)

  /// Creates a backend on files, after completing the unfinished work of an earlier process.
  ///
  /// Complexity: linear in the size of the log and in the number of files; an encrypted store also
  /// takes the time of its key.
  ///
  /// - Throws: ``StoreError`` with `damaged` if saves in the log are damaged; `encrypted`,
  ///   `notEncrypted` or `wrongKey` if the key is not that of the store; `ioError` or `noSpace`.
  public convenience init(
    files: ClassFiles<Format>, durability: Durability = .full,
    limits: CheckpointLimits = .init(), key: (any StoreKey)? = nil
  ) throws(StoreError) {
    let sealing: Sealing?
    do { sealing = try Sealing(files, key) } catch { throw Self.closing(files, nil, error) }
    try self.init(files: files, durability: durability, limits: limits, sealing: sealing)
  }

  /// Creates a backend with a seal that is already open.
  package init(
    files: ClassFiles<Format>, durability: Durability = .full,
    limits: CheckpointLimits = .init(), sealing: Sealing?
  ) throws(StoreError) {
    self.files = files
    coordinator = StoreCoordinator(ofFilesAt: files.location)
    self.sealing = sealing
    files.ordered.use(sealing)
    files.ordered.use(limits.segments)
    files.external.use(sealing, durability)
    self.durability = durability
    self.limits = limits
    state = Locked(PendingState())
    (valuesInUse, isSnapshot) = (nil, false)
    let shared = files.ordered.directory.shared
    (sharing, version) = (shared.map { ProcessLock($0) }, shared?.versionWord)
    activity = ActivityCounter(files.ordered.directory)
    coordinator.instruments.counter = activity
    let joined = shared?.isFirst == false ? shared : nil
    var log = LoggedLog()
    var names: [String] = []
    do {
      var recovery = try Recovery(
        files, growth: limits.usedLogGrowth, sealing: sealing, joining: joined)
      log.writer = try recovery.writer(durability: durability)
      log.earlierEpochs = recovery.earlierLogs.map(\.epoch)
      log.earlierByteCount = recovery.earlierLogs.reduce(0) { $0 + $1.end }
      if !files.isReadOnly, joined == nil {
        names = try files.removeStrays(keepingLogs: log.earlierEpochs)
      }
      (log.areNamesSynced, log.manifest) = (recovery.areNamesSynced, recovery.manifest)
      if files.isReadOnly { log.reader = recovery.reader }
      files.need(recovery.manifest?.files ?? [])
      try files.ordered.need(recovery.manifest?.files ?? [])
      // After these: one that is needed and not there is missing.
      if !files.isReadOnly, joined == nil { try files.ordered.know(names) }
      tornTailByteCount = if case .torn(let bytes) = recovery.tail { bytes } else { nil }
      state.withLock { ($0.pending, $0.lastCommit) = (recovery.pending, recovery.lastCommit) }
      coordinator.journal.begin(after: recovery.commitBefore)
      for one in recovery.commits { coordinator.journal.append(one.commit, one.changes) }
    } catch {
      throw Self.closing(files, sealing, error)
    }
    self.log = Locked(log)
    removeEmptyStrays(among: names, log.manifest)
    if joined == nil { removeStrayValues() }
    if let sharing { try beginSharing(sharing) } else { foldAfterOpening() }
  }

  /// Creates a snapshot from the state that readers of a backend see, and its files.
  init(
    _ state: PendingState, _ files: ClassFiles<Format>, of backend: LoggedBackend,
    _ values: ExternalValuesInUse?
  ) {
    (self.files, valuesInUse, isSnapshot) = (files, values, true)
    // Tables that are first looked up here get separate numbers.
    sealing = backend.sealing.map { Sealing($0.seal) }
    (durability, limits) = (backend.durability, backend.limits)
    (sharing, version, activity) = (nil, nil, ActivityCounter())
    tornTailByteCount = backend.tornTailByteCount
    coordinator = StoreCoordinator(ofSnapshotAt: files.location, state.lastCommit, values?.values)
    self.state = Locked(state)
    log = Locked(LoggedLog())
  }

  /// Releases the files when opening has failed, and returns the error with the names that users
  /// know.
  private static func closing(
    _ files: ClassFiles<Format>, _ sealing: Sealing?, _ error: StoreError
  ) -> StoreError {
    files.close()
    return sealing?.naming(error) ?? error
  }

  deinit { try? close() }

  /// The number of the last commit that every call sees.
  public var lastCommitNumber: UInt64 {
    try? refresh()
    return coordinator.journal.lastNumber
  }

  /// Returns the rows and buffers that commits have changed since a number.
  ///
  /// Complexity: linear in the changes of the commits after the number.
  ///
  /// - Throws: ``StoreError`` with `historyExpired`. In a store that processes share, also an error
  ///   of reading their commits.
  public func changes(since number: UInt64) throws(StoreError) -> ChangeSummary {
    try refresh()
    return try rememberedChanges(since: number)
  }

  /// Returns the commit that has a token.
  ///
  /// Complexity: linear in the number of commits that are remembered.
  ///
  /// - Throws: ``StoreError`` in a store that processes share: an error of reading their commits.
  public func commit(withToken token: UUID) throws(StoreError) -> Commit? {
    try refresh()
    return coordinator.journal.commit(withToken: token)
  }

  /// The directory of the files.
  public var location: String { files.location }
  /// The maximum size of a record, or of a named buffer with its name, in the files.
  ///
  /// Larger ones are refused by ``commit(_:_:)`` with `tooLarge`.
  public var maximumRecordByteCount: Int { files.maximumRecordByteCount }
  /// Whether commits are refused.
  public var isReadOnly: Bool {
    files.isReadOnly && !isScratch.load(ordering: .relaxed)
  }

  /// Folds the pending changes if that is fast, and releases files and locks.
  ///
  /// A few pending records of a large file stay in the log: folding them would copy the file, and
  /// the next opening finds them there. Closing twice has no effect.
  ///
  /// Complexity: as ``checkpoint()`` if the pending changes are folded, and otherwise constant
  /// time. It waits for a fold that is in progress.
  ///
  /// - Throws: ``StoreError`` with `ioError`. No saved data is lost in that case.
  public func close() throws(StoreError) { try close(releasingFiles: true) }

  /// Closes the log; unless the files are to be released, they and their lock stay open.
  package func close(releasingFiles: Bool) throws(StoreError) {
    // The parent continues to use its log and its files.
    if process != currentProcess() { return }
    if let sharing { return try close(sharing) }
    try log.withLock { (log) throws(StoreError) in
      guard !state.withLock({ $0.isClosed }) else { return }
      if !files.isReadOnly { foldAtClose(&log) }
      // Optional: it lets the next opening distinguish damage from an incomplete save.
      if log.failure == nil, (try? synchronizeEarlierLogs(log)) != nil {
        try? log.writer?.noteClosing()
      }
      if log.hasSpare { files.removeSpareLog() }
      state.withLock { state in
        state.isClosed = true
        state.forgetPending()
      }
      log.writer = nil
      activity.end()
      if releasingFiles { files.close() }
    }
  }

  /// Closes the log, and releases the files.
  func closeLog(_ log: inout LoggedLog) throws(StoreError) {
    state.withLock { state in
      state.isClosed = true
      state.forgetPending()
    }
    log.writer = nil
    activity.end()
    files.close()
  }

  func checkOpen() throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in try check(state) }
  }

  /// Refuses a child process that was forked since the opening: files and lock belong to its
  /// parent.
  ///
  /// Called before any lock is taken, because a thread of the parent may have held it at the fork.
  func checkProcess() throws(StoreError) {
    if process != currentProcess() { throw StoreError.forked(location) }
  }

  /// Throws if the backend is closed, or its files no longer belong together.
  func check(_ state: PendingState) throws(StoreError) {
    if state.isClosed { throw closedError }
    if let failure = state.failure { throw failure }
  }

  /// The number of times the log has been folded since the opening, including large saves.
  package var checkpointCount: Int { log.withLock { $0.checkpointCount } }
}

/// The limits that determine when pending changes are folded into the class files.
public struct CheckpointLimits: Sendable {
  /// The number of bytes in the log from which it is folded.
  public var logBytes: Int
  /// A divisor: the log is not folded before it holds this part of the bytes that folding copies.
  ///
  /// For ordered tables, it has to hold four times this part, as long as that is at most 32 MiB. If
  /// it has changes of ordered tables only, it is 32 times this part, up to 64 MiB. A table that is
  /// stored in segments counts as at most eight times ``SegmentLimits/runBytes``.
  public var filePart: Int
  /// The number of bytes from which a save skips the log.
  public var bulkBytes: Int
  /// The limit of the log when it can't be folded: saves that would exceed it are refused.
  ///
  /// By default 1 GiB, or a quarter of the files concerned if that is more.
  public var maximumLogBytes: Int?
  /// The time after which folding is retried at that limit; ten times the duration of the last
  /// attempt if that is longer.
  package var foldPause = Duration.seconds(1)
  /// The sizes from which ordered tables are stored in segments.
  public var segments = SegmentLimits()
  /// Whether closing the backend folds the log if that is fast; true by default.
  public var foldsAtClose = true
  /// The number of bytes by which the log's file grows; 1 MiB by default, at least 4 KiB.
  public var logGrowth = LogGrowth.standardByteCount
  /// That number, but at least the minimum.
  var usedLogGrowth: LogGrowth { LogGrowth(max(logGrowth, 4 << 10), usesThread: foldsOnThread) }
  /// The number of bytes from which a thread writes the new files while saves continue; 4 MiB by
  /// default.
  ///
  /// The files concerned and the log count. Less is folded immediately.
  public var besideBytes = 4 << 20
  /// Whether a thread does that; without one, a test chooses the time.
  package var foldsOnThread = true

  /// Returns the number of bytes in the log from which it is folded.
  ///
  /// Saves to ordered tables change keys all over their files, which are rewritten as a whole.
  func dueBytes(foldingOver files: FoldedBytes) -> Int {
    let part = files.keys / filePart
    let keys =
      files.areOnlyKeys
      ? max(part, min(32 * part, 64 << 20)) : max(part, min(4 * part, 32 << 20))
    return max(logBytes, files.records / filePart + keys)
  }

  /// Whether a save of the given size skips the log: whether new files cost less than the log and
  /// the save's share of a later fold.
  func isBulk(_ byteCount: Int, over files: FoldedBytes) -> Bool {
    guard files.areOnlyKeys else { return byteCount >= files.total / filePart }
    let due = dueBytes(foldingOver: files)
    // The log takes the save itself, and its part of the copies of all files.
    let part = Double(byteCount) / Double(due)
    return Double(files.keys) * 8 / Double(filePart) * (1 - part) <= Double(byteCount)
  }

  /// Whether closing the backend folds the log.
  func foldsAtClose(_ pending: Int, over files: FoldedBytes) -> Bool {
    foldsAtClose && files.total <= max(16 << 20, files.areOnlyKeys ? pending : 64 * pending)
  }

  /// Returns the number of bytes in the log from which saves wait for the fold in progress.
  func lateBytes(foldingOver files: FoldedBytes) -> Int {
    max(3 * max(logBytes, files.total / filePart), 2 * dueBytes(foldingOver: files))
  }

  /// Returns the time by which a save of keys is delayed while the log before it is being folded.
  ///
  /// On a single core, saves would fill the log faster than a thread folds, and then one of them would
  /// wait for the whole fold. From two thirds of that limit on, saves leave it more and more time: at
  /// the limit, 40 ns for each byte.
  func delay(of byteCount: Int, at used: Int, late: Int) -> Duration {
    let start = late / 3 * 2
    if used <= start { return .zero }
    let part = min(1, Double(used - start) / Double(max(1, late - start)))
    return .nanoseconds(Int(40 * part * Double(byteCount)))
  }

  /// Creates limits.
  public init(
    logBytes: Int = 8 << 20, filePart: Int = 8, bulkBytes: Int = 512 << 10,
    maximumLogBytes: Int? = nil
  ) {
    self.logBytes = logBytes
    self.filePart = filePart
    self.bulkBytes = bulkBytes
    self.maximumLogBytes = maximumLogBytes
  }
}

/// The sizes of the files that folding the log copies, in bytes.
struct FoldedBytes {
  /// Those of class files and of named buffers.
  var records = 0
  /// Those of ordered tables.
  var keys = 0
  /// Whether the log has changes of ordered tables only.
  var areOnlyKeys = false
  var total: Int { records + keys }
}
