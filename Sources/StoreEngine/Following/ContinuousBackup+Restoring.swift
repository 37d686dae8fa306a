import Files
public import FoundationEssentials

extension ContinuousBackup {
  /// The commit up to which a backup is restored.
  public enum RestorePoint: Sendable, Hashable {
    /// All that the backup has.
    case newest
    /// The commit of a number.
    case commit(UInt64)
    /// The last commit until a moment, by the clocks of those who made the commits.
    case time(Date)
  }

  /// Makes a store of a backup.
  ///
  /// The store gets its name once it is whole. One commit says that it is no longer that of the
  /// backup; its history reaches back to where that of the backup does.
  ///
  /// Complexity: linear in the size of a copy and in the entries behind it.
  ///
  /// - Parameters:
  ///   - directory: The backup.
  ///   - target: Where the store goes, which must not exist, or be empty.
  ///   - point: The last commit that counts.
  ///   - open: Opens the copy in the backup, for reading only.
  ///   - progress: Receives how far the copy has come.
  /// - Returns: the number of the last commit that was restored.
  /// - Throws: ``StoreError`` with `historyExpired` where the backup does not have the commit,
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

  /// Applies the segments behind a base.
  private static func bring(
    _ backend: any DirectoryBackend, behind base: UInt64, upTo limit: UInt64?,
    _ files: BackupDirectory
  ) throws(StoreError) -> UInt64 {
    var reached = base
    for segment in try files.segments() where segment.last > base {
      // Behind a gap there is another base.
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

  /// The last commit up to a moment.
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
      "The backup has no state \(number.map { "behind commit \($0)" } ?? "at all"). Name another one.",
      at: .init(path: directory))
  }
}
