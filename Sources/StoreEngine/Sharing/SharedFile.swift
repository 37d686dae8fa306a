import Files
import Locks

/// The file through which processes that share a store's directory find each other: `.shared`.
///
/// Locks on its bytes keep the processes in order, and end with them. Its words, which all processes
/// have in memory, say how far the log reaches. Where a process has died while it wrote, or a word
/// doesn't fit the others, the next process that commits reads the log instead. The last process that
/// leaves removes the file.
final class SharedFile: Sendable {
  /// The purposes of the locks on bytes.
  enum Byte {
    /// Held over a commit, an opening, and whatever puts files in place.
    static let commit = 0
    /// Held by the next process that gets that lock, so that it is given on in turn.
    static let turn = 1
    /// Held by the process that makes new files of the log.
    static let fold = 2
    /// Held, shared, by every process that has the store open.
    static let member = 3
  }

  /// The meanings of the words.
  private enum Word {
    /// Changes with every commit, and whenever files have been put in place.
    static let version = 0
    /// Up to where the log may be read, with the low bits of its epoch above.
    static let end = 1
    /// The number of processes that wait for the lock.
    static let waiters = 2
    /// Changes when that is given back.
    static let released = 3
    /// The number of processes that want to be woken by commits.
    static let observers = 4
    /// 1 from before a process changes the log until it has told the others; so it stays 1 when the
    /// process dies in between.
    static let writing = 5
    /// Follows from the version and the end, so that a change to one of them alone shows.
    static let check = 6
  }

  /// The name in the directory.
  static let name = ".shared"

  private let directory: DirectoryHandle
  private let file: OpenFile
  private let words: SharedWords
  /// Whether no other process had the store open when this one came.
  let isFirst: Bool
  /// Since when this process has taken the lock though others wait for it.
  private let burstStart = Locked<ContinuousClock.Instant?>(nil)
  /// For so long it may: to give the lock on costs more than a commit.
  private static let longestBurst = Duration.milliseconds(2)
  /// The one that is the next to get the lock looks so often whether it is free.
  private static let longestSleep = Duration.microseconds(250)

  /// How long a commit waits for those of other processes.
  let timeout: Duration

  /// Opens the file, and takes the commit lock.
  ///
  /// - Throws: ``StoreError`` with `inUse` when others keep the lock, `ioError` or `noSpace`.
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
      // It has lost its name, with the last process that had it open, or is just being made.
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
        // Another process has made it at the same moment.
        if !error.isExisting { throw error }
      }
    }
  }

  /// Locks a file; false if it is no longer the one in the directory.
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
      // Those who have it open have given it its size.
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
      // Nothing counts that is left of processes that are gone. The file keeps its size: those that
      // wait for the lock have it in memory.
      words.clear()
      renewVersion(words)
    }
    return (isFirst, words)
  }

  /// Makes the version one that no process knows.
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

  /// Is no member any more; under the commit lock.
  func leave() { file.unlock(byte: Byte.member) }

  /// Removes the file; under the commit lock, by the last process.
  func remove() { try? removeFile(directory.file(Self.name)) }

  /// Locks the making of new files for this process; false if another one is at it.
  func lockFold() -> Bool { (try? file.lock(byte: Byte.fold)) == true }

  func unlockFold() { file.unlock(byte: Byte.fold) }

  // MARK: The commit lock

  /// Whether another process waits for the lock.
  var isWanted: Bool { words[Word.waiters] != 0 }

  /// Takes the lock; those that wait for it get it one after the other, at the latest a burst after
  /// they have come.
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

  /// Waits for the lock until its holder has given it back and takes no further turn.
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
      // A process that dies wakes nobody, nor does one that only may have taken the lock again.
      let sleep = hasTurn ? longestSleep : .milliseconds(5)
      words.wait(Word.released, while: released, atMost: min(rest, sleep))
    }
  }

  /// Gives the lock back, and wakes those that wait for it, if it is new that they do, or if this
  /// process is not going to take it before them.
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

  /// Whether the words are those of the last commit: no process has died while it wrote, and nothing
  /// else has changed the file.
  ///
  /// Under the commit lock.
  var isSettled: Bool {
    words[Word.writing] == 0
      && words[Word.check] == Self.check(words[Word.version], words[Word.end])
  }

  /// Another value whenever one of the two words is another one: the factor is odd.
  private static func check(_ version: UInt64, _ end: UInt64) -> UInt64 {
    version ^ end &* 0x9E37_79B9_7F4A_7C15
  }

  /// The log is about to be changed, until ``publish(epoch:end:)``; under the commit lock.
  func beginWriting() { words[Word.writing] = 1 }

  // MARK: News

  /// The word of the version, to be read before the log is.
  var versionWord: SharedWord { words.word(Word.version) }

  /// Up to where a log may be read without the lock; nil for a log that another one has followed.
  func end(ofLog epoch: UInt64) -> Int? {
    let word = words[Word.end]
    return word >> 40 == epoch & 0xFF_FFFF ? Int(word & 0xFF_FFFF_FFFF) : nil
  }

  /// Tells everyone how far the log reaches when the words could not say it; under the commit lock.
  ///
  /// Counting on from a wrong version could lead to one that another process knows.
  ///
  /// - Returns: The new version.
  func publishAgain(epoch: UInt64, end: Int) -> UInt64 {
    Self.renewVersion(words)
    return publish(epoch: epoch, end: end)
  }

  /// Tells everyone that the log holds more, or is another one; under the commit lock.
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

  /// Wakes all that wait for news: a thread of this process may have waited for the last time.
  func wakeObservers() { words.wake(Word.version) }

  /// Waits until the version is another one, for so long at most.
  func waitForNews(after version: UInt64, atMost time: Duration) {
    words.wait(Word.version, while: version, atMost: time)
  }
}
