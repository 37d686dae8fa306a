public import StoredObjectsCore

/// A session of scripted saves, on a disk that may fail in any of them.
///
///     let unused = ScriptedSession(seed: 7, saveCount: 16)
///     var session = unused
///     do { try session.run { try open("Store") } } catch {}  // the power is cut
///     let found = try StoreImage(of: open("Rebooted"))
///     let last = session.lastSave(in: found)  // at full: not before `acknowledged`
public struct ScriptedSession: Sendable {
  /// The saves, with a few more than the session makes, to continue after it.
  public let saves: [ScriptedSave]
  /// The image after each save, starting with the empty store.
  public private(set) var images = [StoreImage()]
  /// The number of saves that have returned.
  public private(set) var acknowledged = 0

  private let saveCount: Int
  private static let savesBetweenOpenings = 6

  /// Creates a session that has not begun.
  ///
  /// Complexity: O(n²) for n saves: each has an image of the whole store.
  ///
  /// - Parameters:
  ///   - seed: The seed of the script.
  ///   - saveCount: The number of saves in the session.
  public init(seed: UInt64, saveCount: Int) {
    self.saveCount = saveCount
    saves = (1...saveCount + 4).map { ScriptedSave($0, seed: seed, largeByteCount: 2000) }
    for save in saves { images.append(images[save.number - 1].applying(save)) }
  }

  /// The limits of the log, so small that saves take all paths: to the log, past it, and to the files.
  public static var limits: CheckpointLimits {
    var limits = CheckpointLimits(logBytes: 1500, filePart: 1000, bulkBytes: 1500)
    limits.logGrowth = 8 << 10
    limits.segments = .small
    return limits
  }

  /// Makes the saves, and reopens the store at every sixth save.
  ///
  /// Complexity: linear in the number of saves: a commit for each, and an opening for every sixth.
  ///
  /// - Parameters:
  ///   - count: The number of openings that save in turn, as processes that share the store do.
  ///     Every sixth save reopens one of them, while the others stay open.
  ///   - open: Opens the store.
  /// - Throws: The errors of the backend.
  public mutating func run(
    openings count: Int = 1, open: () throws -> any DirectoryBackend
  ) throws {
    var backends = try (0..<count).map { _ in try open() }
    for save in saves.prefix(saveCount) {
      let (turn, index) = save.number.quotientAndRemainder(dividingBy: Self.savesBetweenOpenings)
      if index == 0 {
        try backends[turn % count].close()
        backends[turn % count] = try open()
      }
      let backend = backends[save.number % count]
      try save.commit(to: backend)
      acknowledged = save.number
      if save.isFollowedByCheckpoint { try backend.checkpoint() }
    }
    for backend in backends { try backend.close() }
  }

  /// Returns the last save in a reopened store, 0 for the empty store, or nil if no save matches.
  ///
  /// Complexity: linear in the number of saves; each image of equal size is compared.
  public func lastSave(in image: StoreImage) -> Int? { images.lastIndex(of: image) }

  /// Commits the saves after one.
  ///
  /// Complexity: linear in the number of saves, with a commit for each.
  ///
  /// - Returns: The number of the last save.
  /// - Throws: The errors of the backend.
  public func saveOn(after last: Int, count: Int, to backend: some StoreBackend) throws -> Int {
    let following = saves.dropFirst(last).prefix(count)
    for save in following { try save.commit(to: backend) }
    return last + following.count
  }

  /// Describes how an image differs from that of the last save that has returned.
  ///
  /// Complexity: as ``StoreImage/differences(from:)``.
  public func differences(of image: StoreImage) -> String {
    "after \(acknowledged): \(image.differences(from: images[acknowledged]))"
  }
}
