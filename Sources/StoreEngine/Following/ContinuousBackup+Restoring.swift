import Files
public import FoundationEssentials

extension ContinuousBackup {
  /// The commit up to which a backup is restored.
  public enum RestorePoint: Sendable, Hashable {
    /// The last commit in the backup.
    case newest
    /// The commit with a number.
    case commit(UInt64)
    /// The last commit up to a time, by the clocks of the programs that made the commits.
    case time(Date)
  }

  /// Creates a store from a backup.
  ///
  /// The target directory appears when the store is complete. One more commit gives its history a
  /// new ID, as ``StoreBackend/promote(author:)`` does. Its history goes back as far as that of the
  /// backup.
  ///
  /// Complexity: linear in the size of the base and in the entries after it.
  ///
  /// - Parameters:
  ///   - directory: The backup.
  ///   - target: The directory of the new store, which must not exist or be empty.
  ///   - point: The last commit to restore.
  ///   - open: Opens the base in the backup for reading only.
  ///   - progress: Receives the progress of the copy.
  /// - Returns: The number of the last restored commit.
  /// - Throws: ``StoreError`` with `historyExpired` if the backup does not have the commit,
  ///   `damaged`, `noSpace` or `ioError`.
  @discardableResult
  public static func restore(
    from directory: String, to target: String, _ point: RestorePoint = .newest,
    open: (String) throws(StoreError) -> any DirectoryBackend,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> UInt64 {
    let files = BackupDirectory(path: directory)
    let limit: UInt64? =
      switch point {
      case .newest: nil
      case .commit(let number): number
      case .time(let end): try lastCommit(in: files, until: end)
      }
    guard let base = try files.bases().last(where: { $0 <= limit ?? .max }) else {
      throw lacks(limit, directory)
    }
    let copy = try open(files.basePath(base))
    var reached = base
    do throws(StoreError) {
      try copy.copy(to: target, progress: progress) { (backend) throws(StoreError) in
        try backend.beginFollowing()
        reached = try bring(backend, behind: base, upTo: limit, files)
        if let limit, reached < limit { throw lacks(limit, directory) }
        try backend.promote(author: "restore")
      }
    } catch {
      try? copy.close()
      throw error
    }
    try copy.close()
    return reached
  }

  /// Applies the segments after a base, and returns the number of the last applied commit.
  private static func bring(
    _ backend: any DirectoryBackend, behind base: UInt64, upTo limit: UInt64?,
    _ files: BackupDirectory
  ) throws(StoreError) -> UInt64 {
    var reached = base
    for segment in try files.segments() where segment.last > base {
      // After a gap, the commits belong to a later base.
      guard segment.first <= limit ?? .max, segment.first <= reached + 1 else { break }
      let path = files.path(of: segment)
      var follower = try StoreFollower(backend, source: path)
      follower.limit = limit
      try BackupDirectory.read(path) { (bytes) throws(StoreError) in
        try follower.apply(bytes)
        return true
      }
      try follower.finish()
      reached = try follower.position()?.number ?? reached
    }
    return reached
  }

  /// Returns the number of the last commit up to a time.
  private static func lastCommit(
    in files: BackupDirectory, until end: Date
  ) throws(StoreError) -> UInt64? {
    var number = try files.bases().first
    for segment in try files.segments() {
      var isOver = false
      let path = files.path(of: segment)
      var decoder = HistoryStreamDecoder(path)
      try BackupDirectory.read(path) { (bytes) throws(StoreError) in
        decoder.append(bytes)
        while !isOver, let element = try decoder.next() {
          guard case .frame(.entry(let bytes, _)) = element,
            let commit = try? HistoryFormat.entry(bytes).commit
          else { continue }
          if let time = commit.time, time > end { isOver = true } else { number = commit.number }
        }
        return !isOver
      }
      if isOver { break }
    }
    return number
  }

  private static func lacks(_ number: UInt64?, _ directory: String) -> StoreError {
    StoreError(
      .historyExpired,
      """
      The backup has no \(number.map { "commit \($0)" } ?? "commits"). Name another commit or \
      another backup.
      """,
      at: .init(path: directory))
  }
}
