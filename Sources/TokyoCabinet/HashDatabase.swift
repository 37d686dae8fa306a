import Files
import Locks
import Synchronization

/// A hash database: records of a key and a value, with arbitrary bytes, in one file.
///
///     let songs = try HashDatabase(path: "Song", mode: .readWrite([.create]))
///     try songs.put(key: [2, 0, 0, 0], value: Array("Für Elise".utf8))
///     let title = try songs.value(forKey: [2, 0, 0, 0])
///     try songs.close()
///
/// Safe on any thread. Look-ups run concurrently. Writes, steps of iterations and operations on the
/// whole file take turns, and wait while another thread has a transaction open. Look-ups don't wait
/// for a transaction: they see what it has written so far.
///
/// The file is locked against other processes. The same file can't be opened twice in one process,
/// not even for reading, because of the C library. Opening never waits for a lock: a file in use is
/// an error.
public final class HashDatabase: Sendable {
  /// The path with which the database was opened.
  public let path: String
  /// Whether the database was opened for reading only.
  public let isReadOnly: Bool
  /// Whether the last writer had closed the file; false after a crash, true for a new file.
  ///
  /// After a crash the file may lack records or contain damaged ones, unless everything was written
  /// in transactions.
  public let wasClosedProperly: Bool

  let handle: HashHandle
  /// Held during a write, an iteration, and every operation on the whole file.
  private let gate = Locked(false)
  /// The thread that holds the gate, or 0.
  private let owner = Atomic<UInt>(0)
  /// The activity of the thread that holds the gate; accessed only by that thread.
  private let activity = Atomic<Activity>(.call)
  /// The identity of the file, which is registered as open in this process.
  private let identity: Locked<FileIdentity?>
  private let closed = Atomic<Bool>(false)
  /// The process that opened the file.
  private let process = currentProcess()
  /// The number of writes so far, by which outdated positions are recognized.
  private let writes = Atomic<UInt64>(0)
  /// The maximum size of the file in a test; 0 for the limit of the format.
  private let sizeLimitForTesting = Atomic<UInt64>(0)

  /// An activity of a thread, some of which call code of the caller.
  enum Activity: UInt8, AtomicRepresentable { case call, transaction, forEach }

  /// Opens a file.
  ///
  /// The file is mapped into memory with room to grow to 64 GiB (of addresses, not memory; twice
  /// the file if the process may not have that many). It uses `tchdbopen`.
  ///
  /// Complexity: constant time, plus the size of the bucket array for a new file, or, after a crash
  /// in a transaction, the size of the transaction.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - mode: The access; by default reading and writing, creating a missing file.
  ///   - tuning: The layout of a new file. An existing file keeps its own.
  /// - Throws: ``TokyoCabinetError`` with `inUse`, `noFile`, `noPermission`, `notADatabase`,
  ///   `otherByteOrder`, `damaged`, `openFailed`, `noSpace`, or another code of a system call.
  public init(
    path: String, mode: OpenMode = .readWrite([.create]), tuning: Tuning = Tuning()
  ) throws {
    let handle = try HashHandle(path: path)
    var wasMarkedOpen = false
    let identity = try OpenFiles.opening(path) { before, header in
      try Opening(handle: handle, mode: mode, tuning: tuning, before: before, header: header).run()
      wasMarkedOpen = header?.isMarkedOpen ?? false
    }
    self.identity = Locked(identity)
    wasClosedProperly = !wasMarkedOpen
    self.handle = handle
    self.path = path
    isReadOnly = mode.isReadOnly
  }

  deinit { try? closeFile() }

  /// Writes pending changes, and releases the lock.
  ///
  /// Closing twice has no effect. The bytes go to the operating system, not necessarily to the
  /// disk: see ``synchronize()``. Waits for a transaction of another thread. It uses `tchdbclose`.
  ///
  /// Complexity: constant time, after the writes and the transactions of other threads.
  ///
  /// - Throws: ``TokyoCabinetError`` with `inTransaction`, `inForEach`, or the code of a system
  ///   call; except in the first two cases, the database is closed anyway.
  public func close() throws {
    if isClosed || process != currentProcess() { return }
    do {
      try exclusively("close") { try closeFile() }
    } catch let error as TokyoCabinetError where error.code == .closed {}
  }

  /// Whether ``close()`` has been called.
  public var isClosed: Bool { closed.load(ordering: .acquiring) }

  private func closeFile() throws {
    if closed.exchange(true, ordering: .acquiringAndReleasing) { return }
    // Closing writes to the file, which the parent of a forked child still uses.
    if process != currentProcess() { return }
    try OpenFiles.closing(identity.withLock { $0 }) { try handle.close() }
  }

  /// Runs a call that replaces the file by another one.
  func replacingFile(_ replace: () throws -> Void) throws {
    try identity.withLock { try OpenFiles.replacing(&$0, at: path, replace) }
  }

  /// The maximum size of the file in a test.
  package var testedSizeLimit: UInt64 {
    get { sizeLimitForTesting.load(ordering: .relaxed) }
    set { sizeLimitForTesting.store(newValue, ordering: .relaxed) }
  }

  /// The number of writes so far.
  var generation: UInt64 { writes.load(ordering: .relaxed) }

  /// Invalidates every position taken so far.
  func countWrite() { writes.wrappingAdd(1, ordering: .relaxed) }

  /// Records that the library has lost the file.
  func markClosed() { closed.store(true, ordering: .releasing) }

  // MARK: Taking turns

  /// Throws if the database is closed.
  func checkOpen(_ operation: String) throws {
    if isClosed { throw error(.closed, operation, "the database has been closed") }
  }

  /// Runs a call exclusively; in a transaction of this thread, as part of it.
  func exclusively<Result>(
    _ operation: String, as new: Activity = .call, allowedInTransaction: Bool = false,
    _ body: () throws -> Result
  ) throws -> Result {
    try checkOpen(operation)
    if process != currentProcess() {
      throw error(
        .forked, operation,
        "the database was opened before this process was forked: open it again in the child")
    }
    let me = currentThread()
    if owner.load(ordering: .relaxed) == me {
      try checkNesting(operation, allowedInTransaction)
      return try body()
    }
    return try gate.withLock { _ in
      try checkOpen(operation)
      owner.store(me, ordering: .relaxed)
      activity.store(new, ordering: .relaxed)
      defer { owner.store(0, ordering: .relaxed) }
      return try body()
    }
  }

  private func checkNesting(_ operation: String, _ allowedInTransaction: Bool) throws {
    if activity.load(ordering: .relaxed) == .forEach {
      throw error(.inForEach, operation, "the body of forEach must not write, iterate or close")
    }
    if !allowedInTransaction {
      throw error(.inTransaction, operation, "end this thread's transaction first")
    }
  }

  /// Runs a write exclusively, and invalidates the positions taken before.
  func writing<Result>(
    _ operation: String, allowedInTransaction: Bool = true, _ body: () throws -> Result
  ) throws -> Result {
    if isReadOnly { throw error(.readOnly, operation, "the database is open for reading only") }
    return try exclusively(operation, allowedInTransaction: allowedInTransaction) {
      countWrite()
      return try body()
    }
  }

  func error(
    _ code: TokyoCabinetError.Code, _ operation: String, _ message: String
  ) -> TokyoCabinetError {
    TokyoCabinetError(code, operation: operation, path: path, message: message)
  }

  /// Returns the error of a look-up, or `closed` if the database was closed meanwhile.
  func explained(_ error: any Error, _ operation: String) -> any Error {
    guard isClosed, (error as? TokyoCabinetError)?.code == .invalid else { return error }
    return self.error(.closed, operation, "the database has been closed")
  }
}
