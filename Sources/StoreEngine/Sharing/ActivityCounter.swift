import Files
import Locks

/// A counter of what the stores on a backend do, which other processes can read.
///
/// It counts saves by the time that they took, and look-ups of objects. Processes that share a store
/// count in its file `.shared`. A process that has a store for itself counts in a file in its
/// memory, which has the identity of the directory in its name. Other processes of the user find it
/// through the lock of the directory.
final class ActivityCounter: Sendable {
  private let state: Locked<State>

  private enum State: Sendable {
    /// There is no file in memory yet.
    case wanted(FileIdentity, Early)
    case counting(SharedWords, MemoryFile?)
    /// The backend is closed, its directory is not one of the system, or the system has no files in
    /// memory.
    case unavailable
  }

  private enum Event {
    /// A save, by the number of its word.
    case save(Int)
    case lookUps(StoreLookUps)
  }

  /// The events before the file in memory is created: at most one of each kind, of a program that
  /// has just opened the store.
  ///
  /// Creating the file takes as long as a save, and a program that opens a store, saves once and
  /// ends is gone before anyone could look at it.
  private struct Early {
    private let start = ContinuousClock.now
    private var save: Int?
    private var lookUps: StoreLookUps?

    /// Keeps an event unless it is time to create the file.
    mutating func keep(_ event: Event) -> Bool {
      guard start.duration(to: .now) < .milliseconds(100) else { return false }
      switch event {
      case .save(let word) where save == nil: save = word
      case .lookUps(let lookUps) where self.lookUps == nil: self.lookUps = lookUps
      default: return false
      }
      return true
    }

    func count(in words: SharedWords) {
      if let save { ActivityCounter.count(.save(save), in: words) }
      if let lookUps { ActivityCounter.count(.lookUps(lookUps), in: words) }
    }
  }

  /// The numbers of the words.
  enum Word {
    static let hits = 8
    static let misses = 9
    /// The first of ``SaveTimes/bucketCount`` words, up to the last one of the file.
    static let saves = 16
  }

  /// Creates the counter of a backend in a directory.
  init(_ directory: StoreDirectory) {
    if let shared = directory.shared {
      state = Locked(.counting(shared.words, nil))
    } else if !directory.isReadOnly, let handle = try? directory.opened(),
      handle.fileSystem is SystemFiles
    {
      state = Locked(.wanted(handle.identity, Early()))
    } else {
      state = Locked(.unavailable)
    }
  }

  /// Creates a counter that does not count, for a snapshot.
  init() { state = Locked(.unavailable) }

  /// Counts a save that began at a moment and has ended now.
  func count(saveSince start: ContinuousClock.Instant) {
    count(.save(Word.saves + SaveTimes.bucket(of: start.duration(to: .now))))
  }

  func count(_ lookUps: StoreLookUps) { count(.lookUps(lookUps)) }

  private func count(_ event: Event) {
    state.withLock { state in
      if case .wanted(let directory, var early) = state {
        if early.keep(event) { return state = .wanted(directory, early) }
        state = Self.begin(directory, early)
      }
      if case .counting(let words, _) = state { Self.count(event, in: words) }
    }
  }

  private static func count(_ event: Event, in words: SharedWords) {
    switch event {
    case .save(let word): words.add(1, to: word)
    case .lookUps(let lookUps):
      words.add(lookUps.hits, to: Word.hits)
      words.add(lookUps.misses, to: Word.misses)
    }
  }

  /// Stops counting, and releases the memory.
  func end() { state.withLock { $0 = .unavailable } }

  private static func begin(_ directory: FileIdentity, _ early: Early) -> State {
    guard let file = MemoryFile(named: name(directory)), let words = try? SharedWords(file) else {
      return .unavailable
    }
    early.count(in: words)
    return .counting(words, file)
  }

  private static func name(_ directory: FileIdentity) -> String {
    "stored-objects-activity:\(directory.device):\(directory.inode)"
  }

  // MARK: Reading

  /// Returns the words of the processes that have a store open for writing.
  ///
  /// - Returns: nil if there are none, or if a process that has the store for itself has only
  ///   just opened it, or done nothing with it yet.
  static func words(ofStoreAt directory: String) -> [UInt64]? {
    guard let found = try? FileStatus.find(directory) else { return nil }
    let name = name(found.identity)
    let ofOne = LockHolder.all(of: directory).lazy.compactMap { holder in
      MemoryFile.bytes(of: name, in: holder.processID, atMost: SharedWords.byteCount)
    }
    let shared = FileLocation(directory + "/" + SharedFile.name)
    let bytes = ofOne.first ?? (try? firstBytes(of: shared, count: SharedWords.byteCount))
    guard let bytes, bytes.count == SharedWords.byteCount else { return nil }
    return stride(from: 0, to: bytes.count, by: SharedWords.distance).map { start in
      bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
