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
    /// The file in memory is created with the first event.
    case wanted(FileIdentity)
    case counting(SharedWords, MemoryFile?)
    /// The backend is closed, its directory is not one of the system, or the system has no files in
    /// memory.
    case unavailable
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
      state = Locked(.wanted(handle.identity))
    } else {
      state = Locked(.unavailable)
    }
  }

  /// Creates a counter that does not count, for a snapshot.
  init() { state = Locked(.unavailable) }

  /// Counts a save that began at a moment and has ended now.
  func count(saveSince start: ContinuousClock.Instant) {
    let bucket = SaveTimes.bucket(of: start.duration(to: .now))
    withWords { $0.add(1, to: Word.saves + bucket) }
  }

  func count(_ lookUps: StoreLookUps) {
    withWords { words in
      words.add(lookUps.hits, to: Word.hits)
      words.add(lookUps.misses, to: Word.misses)
    }
  }

  private func withWords(_ body: (SharedWords) -> Void) {
    state.withLock { state in
      if case .wanted(let directory) = state { state = Self.begin(directory) }
      if case .counting(let words, _) = state { body(words) }
    }
  }

  /// Stops counting, and releases the memory.
  func end() { state.withLock { $0 = .unavailable } }

  private static func begin(_ directory: FileIdentity) -> State {
    guard let file = MemoryFile(named: name(directory)), let words = try? SharedWords(file) else {
      return .unavailable
    }
    return .counting(words, file)
  }

  private static func name(_ directory: FileIdentity) -> String {
    "stored-objects-activity:\(directory.device):\(directory.inode)"
  }

  // MARK: Reading

  /// Returns the words of the processes that have a store open for writing.
  ///
  /// - Returns: nil if there are none, or if a process that has the store for itself has done
  ///   nothing with it yet.
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
