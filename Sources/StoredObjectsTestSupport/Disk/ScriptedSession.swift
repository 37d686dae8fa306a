public import StoredObjectsCore

/// The saves of a script, one after another, on a disk that may fail in any of them.
///
///     let unused = ScriptedSession(seed: 7, saveCount: 16)
///     var session = unused
///     do { try session.run { try open(disk) } } catch {}      // the power is cut
///     let found = try StoreImage(of: open(rebooted))
///     let last = session.lastSave(in: found)                   // at full: not before `acknowledged`
public struct ScriptedSession: Sendable {
  /// The saves, and a few more than a session has, for what follows it.
  public let saves: [ScriptedSave]
  /// The image after each save, from the empty store.
  public private(set) var images = [StoreImage()]
  /// How many saves have returned.
  public private(set) var acknowledged = 0

  private let saveCount: Int
  private static let savesBetweenOpenings = 6

  /// Makes up the saves of a session that has not begun.
  ///
  /// - Parameters:
  ///   - seed: The seed of the script.
  ///   - saveCount: How many saves the session has.
  public init(seed: UInt64, saveCount: Int) {
    self.saveCount = saveCount
    saves = (1...saveCount + 4).map { ScriptedSave($0, seed: seed, largeByteCount: 2000) }
    for save in saves { images.append(images[save.number - 1].applying(save)) }
  }

  /// Limits so small that the saves go all ways: to the log, past it, and on from it to the files.
  public static var limits: CheckpointLimits {
    var limits = CheckpointLimits(logBytes: 1500, filePart: 1000, bulkBytes: 1500)
    limits.logGrowth = 8 << 10
    return limits
  }

  /// Saves on, and opens the store again at every sixth save.
  ///
  /// - Parameters:
  ///   - count: How many openings save in turn, as processes that share the store do. One of them is
  ///     made anew at every sixth save, while the others stay.
  ///   - open: Opens the store.
  /// - Throws: what the backend throws.
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

  /// The save that a reopened store ends with, 0 for the empty store; nil when it is none, whole.
  public func lastSave(in image: StoreImage) -> Int? { images.lastIndex(of: image) }

  /// Commits saves that follow one.
  ///
  /// - Returns: the number of the last one.
  /// - Throws: what the backend throws.
  public func saveOn(after last: Int, count: Int, to backend: some StoreBackend) throws -> Int {
    let following = saves.dropFirst(last).prefix(count)
    for save in following { try save.commit(to: backend) }
    return last + following.count
  }

  /// How an image differs from that of the last save that has returned.
  public func differences(of image: StoreImage) -> String {
    "after \(acknowledged): \(image.differences(from: images[acknowledged]))"
  }
}
