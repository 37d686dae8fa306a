import Files
public import FoundationEssentials
import Locks
import Synchronization

/// A backend on files of any format, with a commit log in front of them.
///
/// A commit is one batch appended to the log, and brought to the disk as the ``Durability`` asks.
/// From then on the batch is *pending*: reads look there first, and in the class files behind it. A
/// checkpoint folds what is pending into new class files, puts them in place of the old ones, and
/// empties the log. A change that is large against the files skips the log: its new files are
/// prepared first, and the commit is the log record that says so.
///
///     commit --> log --> pending records --> checkpoint --> new class files, renamed
///
/// The class files are never written in place, so that they are whole at any time.
///
/// With a key the store is encrypted: a commit is sealed once, before it goes to the log, and what
/// is read is opened last. See <doc:Encryption>.
public final class LoggedBackend<Files: RecordFiles>: StoreBackend, CommitWriting, CommitQueueing {
  /// What the stores on this backend share.
  public let coordinator: StoreCoordinator
  /// What a save survives.
  public let durability: Durability

  package let files: Files
  /// What an encrypted store is sealed with; nil for one that is not.
  package let sealing: Sealing?
  /// The bytes behind the last whole save in the log, when the opening found a torn one there.
  ///
  /// A save that was under way when a process was killed or the power failed is cut off so, and was
  /// never acknowledged. Nil when the log ended well.
  public let tornTailByteCount: Int?
  let limits: CheckpointLimits
  /// What is pending, and how often each table was committed to.
  ///
  /// Held for moments only, the longest of which is that in which new files get their names. Taken
  /// inside ``log``; what is taken inside it are the locks of the files, each for itself.
  let state: Locked<PendingState>
  /// Where commits wait for each other.
  let queue = CommitQueue()
  /// Held by the commits or the checkpoint under way, over writing and syncing.
  let log: Locked<LoggedLog>
  /// Whether the last commit got an entry of a history; a guess at what the next one gets.
  let keepsHistory = Atomic(false)
  /// The lock of the processes that share the store; nil where it is not shared.
  let sharing: ProcessLock?
  /// The word that changes with every commit of another process, and what it said when this one
  /// looked; beside the lock, so that a read counts no references.
  let version: SharedWord?
  let knownVersion = Atomic<UInt64>(0)
  /// The thread that takes in commits of other processes, under the lock of the log; 0 for none.
  let catchingUp = Atomic<UInt>(0)
  /// The process that has opened it.
  private let process = currentProcess()
  /// Keeps values outside of records that a snapshot refers to; nil for what is no snapshot.
  private let valuesInUse: ExternalValuesInUse?
  /// Whether the directory may have other files by now than this backend.
  let isSnapshot: Bool

  /// Puts a log in front of files, after making good what an earlier process has left unfinished.
  ///
  /// - Throws: ``StoreError`` with `damaged` when saves in the log are spoilt, `encrypted`,
  ///   `notEncrypted` or `wrongKey` when the key is not that of the store, `ioError`, `noSpace`.
  public convenience init(
    files: Files, durability: Durability = .full, limits: CheckpointLimits = .init(),
    key: (any StoreKey)? = nil
  ) throws(StoreError) {
    let sealing: Sealing?
    do { sealing = try Sealing(files, key) } catch { throw Self.closing(files, nil, error) }
    try self.init(files: files, durability: durability, limits: limits, sealing: sealing)
  }

  /// The same with a seal that is open already.
  package init(
    files: Files, durability: Durability = .full, limits: CheckpointLimits = .init(),
    sealing: Sealing?
  ) throws(StoreError) {
    self.files = files
    coordinator = StoreCoordinator(ofFilesAt: files.location)
    self.sealing = sealing
    files.ordered.use(sealing)
    files.external?.use(sealing, durability)
    self.durability = durability
    self.limits = limits
    (state, valuesInUse, isSnapshot) = (Locked(PendingState()), nil, false)
    let shared = files.ordered.directory.shared
    (sharing, version) = (shared.map { ProcessLock($0) }, shared?.versionWord)
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
      try files.need(recovery.manifest?.files ?? [])
      try files.ordered.need(recovery.manifest?.files ?? [])
      tornTailByteCount = if case .torn(let bytes) = recovery.tail { bytes } else { nil }
      let last = recovery.commits.last?.commit ?? recovery.firstCommit
      state.withLock { ($0.pending, $0.lastCommit) = (recovery.pending, last) }
      coordinator.journal.begin(after: recovery.firstCommit)
      for one in recovery.commits { coordinator.journal.append(one.commit, one.changes) }
    } catch {
      throw Self.closing(files, sealing, error)
    }
    self.log = Locked(log)
    removeEmptyStrays(among: names, log.manifest)
    if joined == nil { removeStrayValues() }
    if let sharing { try beginSharing(sharing) }
  }

  /// Makes a snapshot of a backend, of what its readers see and of the files behind that.
  init(
    _ state: PendingState, _ files: Files, of backend: LoggedBackend,
    _ values: ExternalValuesInUse?
  ) {
    (self.files, valuesInUse, isSnapshot) = (files, values, true)
    // Tables that are first looked for here have numbers of their own.
    sealing = backend.sealing.map { Sealing($0.seal) }
    (durability, limits) = (backend.durability, backend.limits)
    (sharing, version) = (nil, nil)
    tornTailByteCount = backend.tornTailByteCount
    coordinator = StoreCoordinator(ofSnapshotAt: files.location, state.lastCommit, values?.values)
    self.state = Locked(state)
    log = Locked(LoggedLog())
  }

  /// Gives the files back when the opening has failed; its error, by the names that users know.
  private static func closing(
    _ files: Files, _ sealing: Sealing?, _ error: StoreError
  ) -> StoreError {
    try? files.close()
    return sealing?.naming(error) ?? error
  }

  deinit { try? close() }

  /// The number of the last commit that every call sees.
  public var lastCommitNumber: UInt64 {
    try? refresh()
    return coordinator.journal.lastNumber
  }

  /// The rows and buffers that commits have changed since a number.
  public func changes(since number: UInt64) throws(StoreError) -> ChangeSummary {
    try refresh()
    return try rememberedChanges(since: number)
  }

  /// The commit that has a token.
  public func commit(withToken token: UUID) throws(StoreError) -> Commit? {
    try refresh()
    return coordinator.journal.commit(withToken: token)
  }

  /// The directory of the files.
  public var location: String { files.location }
  /// How many bytes a record, or a named buffer with its name, may have in the files; larger ones
  /// are refused by ``commit(_:_:)`` with `tooLarge`.
  public var maximumRecordByteCount: Int { files.maximumRecordByteCount }
  /// Whether commits are refused.
  public var isReadOnly: Bool { files.isReadOnly }

  /// Folds what is pending, if that is quick, and gives files and locks back.
  ///
  /// A few pending records before a large file stay in the log: folding them would copy the file,
  /// and the next opening finds them there. Closing twice is harmless.
  ///
  /// - Throws: ``StoreError`` with `ioError`. Nothing that was saved is lost by that.
  public func close() throws(StoreError) { try close(releasingFiles: true) }

  /// Closes the log; the files stay open, and with them their lock, when they are not to be
  /// released.
  package func close(releasingFiles: Bool) throws(StoreError) {
    // The parent goes on with its log and its files.
    if process != currentProcess() { return }
    if let sharing { return try close(sharing) }
    try log.withLock { (log) throws(StoreError) in
      guard !state.withLock({ $0.isClosed }) else { return }
      if !isReadOnly { foldAtClose(&log) }
      // Nothing would be lost without: it lets the next opening tell damage from a torn tail.
      if log.failure == nil, (try? synchronizeEarlierLogs(log)) != nil {
        try? log.writer?.noteClosing()
      }
      if log.hasSpare { files.removeSpareLog() }
      state.withLock { state in
        state.isClosed = true
        (state.pending, state.folding) = (PendingRecords(), nil)
      }
      log.writer = nil
      if releasingFiles { try files.close() }
    }
  }

  /// Closes the log, and gives the files back.
  func closeLog(_ log: inout LoggedLog) throws(StoreError) {
    state.withLock { state in
      state.isClosed = true
      (state.pending, state.folding) = (PendingRecords(), nil)
    }
    log.writer = nil
    try files.close()
  }

  func checkOpen() throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in try check(state) }
  }

  /// Refuses a child process that was forked since the opening: files and lock are its parent's.
  ///
  /// Comes before any lock, which a thread of the parent may have held at the fork.
  func checkProcess() throws(StoreError) {
    if process != currentProcess() { throw StoreError.forked(location) }
  }

  /// Throws when the backend is closed, or its files no longer belong together.
  func check(_ state: PendingState) throws(StoreError) {
    if state.isClosed { throw closedError }
    if let failure = state.failure { throw failure }
  }

  /// How many times the log has been folded since the opening, large saves included.
  package var checkpointCount: Int { log.withLock { $0.checkpointCount } }
}

/// When what is pending is folded into the class files.
public struct CheckpointLimits: Sendable {
  /// The log is folded when it holds so many bytes.
  public var logBytes: Int
  /// But not before it holds this part of the bytes that folding it copies.
  public var filePart: Int
  /// A save of so many bytes goes past the log.
  public var bulkBytes: Int
  /// When the log can't be folded, saves are refused that would let it hold more bytes; by default
  /// 1 GiB, or a quarter of the files concerned if that is more.
  public var maximumLogBytes: Int?
  /// At that limit folding is tried again after this time, or ten times as long as the last try
  /// took.
  package var foldPause = Duration.seconds(1)
  /// Whether closing the backend folds the log where that is quick; true by default.
  public var foldsAtClose = true
  /// The number of bytes by which the log's file grows; 1 MiB by default, 4 KiB at least.
  public var logGrowth = LogGrowth.standardByteCount
  /// That number, or the least that there can be.
  var usedLogGrowth: LogGrowth { LogGrowth(max(logGrowth, 4 << 10), usesThread: foldsOnThread) }
  /// The number of bytes from which on a thread makes the new files, while saves go on; 4 MiB by
  /// default.
  ///
  /// The files concerned and the log count. What is smaller is folded at once.
  public var besideBytes = 4 << 20
  /// Whether a thread does that; without one a test says when.
  package var foldsOnThread = true

  /// Sets the limits.
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
