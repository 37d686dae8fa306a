import Files
import Locks

/// The file `.shared`, through which the processes that share a store's directory coordinate.
///
/// Locks on its bytes keep the processes in order, and end with them. Its words, which all
/// processes map into memory, contain the end of the log. If a process died while it wrote, or the
/// words are inconsistent, the next process that commits reads the log instead. The last process
/// removes the file.
final class SharedFile: Sendable {
  /// The purposes of the locked bytes.
  enum Byte {
    /// Held during a commit, an opening, and whenever files are published.
    static let commit = 0
    /// Held by the next process in line for the commit lock, so that processes take turns.
    static let turn = 1
    /// Held by the process that creates new files from the log.
    static let fold = 2
    /// Held, shared, by every process that has the store open.
    static let member = 3
  }

  /// The meanings of the words.
  private enum Word {
    /// Changes with every commit, and whenever files have been published.
    static let version = 0
    /// The offset up to which the log may be read, with the low bits of its epoch above.
    static let end = 1
    /// The number of processes that wait for the commit lock.
    static let waiters = 2
    /// Changes when the commit lock is released.
    static let released = 3
    /// The number of processes that want to be woken by commits.
    static let observers = 4
    /// 1 from before a process changes the log until it has announced the change.
    ///
    /// It stays 1 if the process dies in between.
    static let writing = 5
    /// A checksum of the version and the end, so that a change to only one of them is noticed.
    static let check = 6
  }

  /// The name in the directory.
  static let name = ".shared"

  private let directory: DirectoryHandle
  private let file: OpenFile
  /// The words, which all processes have mapped; ``ActivityCounter`` uses others of them.
  let words: SharedWords
  /// Whether no other process had the store open when this one opened it.
  let isFirst: Bool
  /// The time since which this process has taken the lock although others wait for it.
  private let burstStart = Locked<ContinuousClock.Instant?>(nil)
  /// The maximum duration of that: passing the lock to another process costs more than a commit.
  private static let longestBurst = Duration.milliseconds(2)
  /// The interval at which the next process in line polls the lock.
  private static let longestSleep = Duration.microseconds(250)

  /// The maximum time that a commit waits for those of other processes.
  let timeout: Duration

  /// Opens the file, and takes the commit lock.
  ///
  /// - Throws: ``StoreError`` with `inUse` if others keep the lock, `ioError` or `noSpace`.
  init(_ directory: DirectoryHandle, _ timeout: Duration) throws(StoreError) {
    (self.directory, self.timeout) = (directory, timeout)
    let path = directory.file(Self.name).path
    var waiting = Backoff(timeout)
    while true {
      let file = try systemErrors(at: path) { try Self.open(directory) }
      do {
        if try Self.lock(file, directory, timeout) {
          (isFirst, words) = try Self.join(file)
          self.file = file
          return
        }
      } catch {
        file.close()
        throw .wrapping(error, .ioError, at: .init(path: path))
      }
      // The file was removed by the last process that had it open, or is just being created.
      file.close()
      if !waiting.pause() { throw Self.busy(directory.path) }
    }
  }

  private static func open(_ directory: DirectoryHandle) throws -> OpenFile {
    let like = try FileStatus.find(directory.file(StoreDirectory.log))?.rights.ofReplacement
    let rights = try like ?? FileStatus.find(directory.file("."))?.rights.ofNewFiles ?? .anyone
    while true {
      do throws(SystemError) {
        return try openFile(directory.file(name), writable: true, rights: rights)
      } catch {
        // Another process created the file at the same moment.
        if !error.isExisting { throw error }
      }
    }
  }

  /// Locks a file; returns false if it is no longer the one in the directory.
  private static func lock(
    _ file: OpenFile, _ directory: DirectoryHandle, _ timeout: Duration
  ) throws -> Bool {
    if try file.isRemote() {
      throw StoreError(
        .ioError,
        "Processes can't share a store on a network file system: put it on a disk of this machine.",
        at: .init(path: directory.path))
    }
    if try !file.lock(byte: Byte.commit) {
      // The process that has it open has set its size.
      guard try file.size() >= SharedWords.byteCount else { return false }
      try lockInTurn(file, SharedWords(file), timeout, directory.path)
    }
    return try hasName(file, directory)
  }

  private static func hasName(_ file: OpenFile, _ directory: DirectoryHandle) throws -> Bool {
    try FileStatus.find(directory.file(name))?.identity == FileStatus(file).identity
  }

  private static func join(_ file: OpenFile) throws -> (isFirst: Bool, SharedWords) {
    let isFirst = try !file.isLocked(byte: Byte.member)
    if isFirst, try file.size() < SharedWords.byteCount {
      try file.resize(to: SharedWords.byteCount)
    }
    guard try file.size() >= SharedWords.byteCount else {
      throw StoreError(.damaged, "The file has been cut off while processes had it open.")
    }
    _ = try file.lock(byte: Byte.member, shared: true)
    let words = try SharedWords(file)
    if isFirst {
      // The state of dead processes does not count. The file keeps its size, because processes that
      // wait for the lock have it mapped.
      words.clear()
      renewVersion(words)
    }
    return (isFirst, words)
  }

  /// Sets the version to one that no process knows.
  private static func renewVersion(_ words: SharedWords) {
    words[Word.version] = .random(in: 1 ... .max)
  }

  static func busy(_ path: String) -> StoreError {
    StoreError(
      .inUse,
      """
      Other processes have kept the lock for too long: one of them has been stopped, or makes very \
      large saves. Try again, or wait longer (lockTimeout).
      """,
      at: .init(path: path))
  }

  deinit { file.close() }

  // MARK: Members

  /// Whether another process has the store open.
  func hasOthers() -> Bool { (try? file.isLocked(byte: Byte.member)) ?? true }

  /// Ends the membership of this process; requires the commit lock.
  func leave() { file.unlock(byte: Byte.member) }

  /// Removes the file; called by the last process, with the commit lock.
  func remove() { try? removeFile(directory.file(Self.name)) }

  /// Reserves the creation of new files for this process; returns false if another one has it.
  func lockFold() -> Bool { (try? file.lock(byte: Byte.fold)) == true }

  func unlockFold() { file.unlock(byte: Byte.fold) }

  // MARK: The commit lock

  /// Whether another process waits for the commit lock.
  var isWanted: Bool { words[Word.waiters] != 0 }

  /// Takes the commit lock.
  ///
  /// Processes that wait for it get it one after another, at the latest one burst after they began
  /// to wait.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  func lock() throws(StoreError) {
    do {
      if mayGoFirst(), try file.lock(byte: Byte.commit) { return }
      try Self.lockInTurn(file, words, timeout, directory.path)
      burstStart.withLock { $0 = nil }
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: directory.path))
    }
  }

  private func mayGoFirst() -> Bool {
    burstStart.withLock { start in
      start = isWanted ? start ?? .now : nil
      return start.map(Self.isBurst) ?? true
    }
  }

  private static func isBurst(since start: ContinuousClock.Instant) -> Bool {
    start.duration(to: .now) < longestBurst
  }

  /// Waits until the holder of the lock has released it and leaves the turn to this process.
  private static func lockInTurn(
    _ file: OpenFile, _ words: SharedWords, _ timeout: Duration, _ path: String
  ) throws {
    words.add(1, to: Word.waiters)
    defer { words.add(-1, to: Word.waiters) }
    let deadline = ContinuousClock.now + timeout
    var hasTurn = false
    defer {
      if hasTurn {
        file.unlock(byte: Byte.turn)
        wakeWaiters(words)
      }
    }
    while true {
      let released = words[Word.released]
      if !hasTurn { hasTurn = try file.lock(byte: Byte.turn) }
      if hasTurn, try file.lock(byte: Byte.commit) { return }
      let rest = ContinuousClock.now.duration(to: deadline)
      guard rest > .zero else { throw busy(path) }
      // Limit the sleep: a process that dies wakes none of the others, nor does one that may take
      // the lock again.
      let sleep = hasTurn ? longestSleep : .milliseconds(5)
      words.wait(Word.released, while: released, atMost: min(rest, sleep))
    }
  }

  /// Releases the commit lock.
  ///
  /// It wakes the waiting processes if they have just begun to wait, or if this process will not
  /// take the lock before them.
  func unlock() {
    file.unlock(byte: Byte.commit)
    guard isWanted else { return }
    let isInBurst = burstStart.withLock { $0.map(Self.isBurst) ?? false }
    if !isInBurst { Self.wakeWaiters(words) }
  }

  private static func wakeWaiters(_ words: SharedWords) {
    words.add(1, to: Word.released)
    words.wake(Word.released)
  }

  // MARK: Writing

  /// Whether the words are those of the last commit.
  ///
  /// Otherwise a process died while it wrote, or something else has changed the file. Requires the
  /// commit lock.
  var isSettled: Bool {
    words[Word.writing] == 0
      && words[Word.check] == Self.check(words[Word.version], words[Word.end])
  }

  /// Returns a value that differs whenever one of the two words differs, because the factor is odd.
  private static func check(_ version: UInt64, _ end: UInt64) -> UInt64 {
    version ^ end &* 0x9E37_79B9_7F4A_7C15
  }

  /// Announces a change to the log, until ``publish(epoch:end:)``; requires the commit lock.
  func beginWriting() { words[Word.writing] = 1 }

  // MARK: News

  /// The version word, which must be read before the log is.
  var versionWord: SharedWord { words.word(Word.version) }

  /// Returns the end to which a log may be read without the lock; nil if another log follows it.
  func end(ofLog epoch: UInt64) -> Int? {
    let word = words[Word.end]
    return word >> 40 == epoch & 0xFF_FFFF ? Int(word & 0xFF_FFFF_FFFF) : nil
  }

  /// Announces the end of the log after the words were inconsistent.
  ///
  /// Requires the commit lock. It chooses a new version, because incrementing a wrong one could
  /// lead to a version that another process knows.
  ///
  /// - Returns: The new version.
  func publishAgain(epoch: UInt64, end: Int) -> UInt64 {
    Self.renewVersion(words)
    return publish(epoch: epoch, end: end)
  }

  /// Announces that the log has grown, or is another one; requires the commit lock.
  ///
  /// - Returns: The new version.
  func publish(epoch: UInt64, end: Int) -> UInt64 {
    let end = (epoch & 0xFF_FFFF) << 40 | UInt64(end) & 0xFF_FFFF_FFFF
    words[Word.end] = end
    let version = words.add(1, to: Word.version) &+ 1
    words[Word.check] = Self.check(version, end)
    words[Word.writing] = 0
    if words[Word.observers] != 0 { words.wake(Word.version) }
    return version
  }

  // MARK: Waiting for news

  func beginObserving() { words.add(1, to: Word.observers) }
  func endObserving() { words.add(-1, to: Word.observers) }

  /// Wakes all threads that wait for news, such as one of this process that should end.
  func wakeObservers() { words.wake(Word.version) }

  /// Waits until the version changes, up to a maximum time.
  func waitForNews(after version: UInt64, atMost time: Duration) {
    words.wait(Word.version, while: version, atMost: time)
  }
}
