import Files
import FoundationEssentials

/// A backup that grows with the store: a copy of it and the entries of all later commits.
///
///     var backup = try ContinuousBackup(directory: "/backup/Music")
///     while isWanted {
///       for path in try backup.update(from: backend) { upload(path) }
///       sleep(1)
///     }
///
/// If a machine is lost, the commits since the last ``update(from:progress:)`` are lost with it. A
/// file in the directory is complete once it has its final name, and never changes. You can copy it
/// elsewhere by any means. ``restore(from:to:_:open:progress:)`` creates a store as of the last
/// commit, or as of an earlier one.
///
/// Segments hold records without encryption, so an encrypted store is refused.
public struct ContinuousBackup: Sendable {
  /// The position of the last commit in the backup; nil before the first update.
  public private(set) var position: HistoryPosition?
  let files: BackupDirectory

  /// Opens a backup, or a new directory for one.
  ///
  /// Complexity: linear in the size of the last segment.
  ///
  /// - Parameter directory: The path; missing directories are created.
  /// - Throws: ``StoreError`` with `damaged` if the last segment is invalid, or `ioError`.
  public init(directory: String) throws(StoreError) {
    files = BackupDirectory(path: directory)
    try files.make()
    position = try Self.lastPosition(in: files)
  }

  /// Returns whether a directory is a continuous backup.
  ///
  /// Complexity: O(f · b) for f files in the directory, b of which are bases.
  public static func isBackup(_ directory: String) -> Bool {
    BackupDirectory(path: directory).isBackup
  }

  /// Returns the position after the last segment, or of the last base if it is later.
  private static func lastPosition(in files: BackupDirectory) throws(StoreError) -> HistoryPosition?
  {
    guard let base = try files.bases().last else { return nil }
    guard let segment = try files.segments().last, segment.last > base else {
      return try place(in: files.placePath(base))
    }
    return try place(in: files.path(of: segment))
  }

  /// Reads a stream to its end, and returns the position after its last entry.
  static func place(in path: String) throws(StoreError) -> HistoryPosition {
    var decoder = HistoryStreamDecoder(path)
    var place: HistoryPosition?
    try BackupDirectory.read(path) { (bytes) throws(StoreError) in
      decoder.append(bytes)
      while let element = try decoder.next() {
        switch element {
        case .header(let position): place = position
        case .frame(.entry(let bytes, _)):
          do throws(DataBufferError) {
            place = place?.behind(try HistoryFormat.entry(bytes).commit)
          } catch { throw .wrapping(error, .damaged, at: .init(path: path)) }
        case .frame: break
        }
      }
      return true
    }
    try decoder.finish()
    guard let place else { throw StoreError(.damaged, "The file is empty.", at: .init(path: path)) }
    return place
  }

  /// Adds all commits of the store that the backup does not have, as one segment.
  ///
  /// The first update copies the store. If the history of the store no longer has the entries after
  /// ``position``, the update copies the store again. The commits in between can't be restored
  /// then.
  ///
  /// Complexity: linear in the entries of the commits; a copy is linear in the size of the store.
  ///
  /// - Parameters:
  ///   - source: The store, which must keep a history.
  ///   - progress: Receives the progress of a copy.
  /// - Returns: The paths of the new files and directories, which never change from now on.
  /// - Throws: ``StoreError`` with `historyExpired` if the store keeps no history, `otherHistory`
  ///   if the backup is of another store, `encrypted`, `noSpace`, `ioError`, `damaged` or `closed`.
  public mutating func update(
    from source: any DirectoryBackend, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> [String] {
    guard !source.isEncrypted else {
      throw StoreError(
        .encrypted,
        """
        A continuous backup can't hold the records of an encrypted store. Make plain copies with \
        backup instead.
        """,
        at: .init(path: source.location))
    }
    do {
      if let position { return try addSegment(behind: position, source) }
    } catch  where error.code == .historyExpired {
      // The purged commits can't be added, but a new copy can.
      guard try source.historyID() == position?.historyID else { throw error }
    }
    let paths = try addBase(source, progress)
    guard let position else { return paths }
    return paths + (try addSegment(behind: position, source))
  }

  private mutating func addBase(
    _ source: any DirectoryBackend, _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> [String] {
    let state = try source.snapshot() as? any DirectoryBackend ?? source
    let place = try state.historyPosition()
    var writer = HistoryStreamWriter(behind: place)
    try files.writePlace(writer.end(), of: place.number)
    try state.backup(to: files.basePath(place.number), progress: progress)
    position = place
    return [files.placePath(place.number), files.basePath(place.number)]
  }

  private mutating func addSegment(
    behind place: HistoryPosition, _ source: any DirectoryBackend
  ) throws(StoreError) -> [String] {
    var writer = HistoryStreamWriter(behind: place)
    var (file, offset) = (NewFile?.none, 0)
    func write(_ bytes: [UInt8]) throws(StoreError) {
      if file == nil { file = try files.beginSegment() }
      guard let target = file else { return }
      try systemErrors(at: target.location.path) { try target.write(bytes, at: offset) }
      offset += bytes.count
    }
    guard try writer.write(source, to: write) > 0 else { return [] }
    try write(writer.end())
    guard let file else { return [] }
    let segment = BackupDirectory.Segment(first: place.number + 1, last: writer.position.number)
    try files.finish(file, as: segment)
    position = writer.position
    return [files.path(of: segment)]
  }
}

extension DirectoryBackend {
  /// Whether records are encrypted on disk.
  fileprivate var isEncrypted: Bool { (self as? any SealedBackend)?.isSealed == true }
}

/// A backend that may be encrypted.
private protocol SealedBackend { var isSealed: Bool { get } }

extension LoggedBackend: SealedBackend {
  fileprivate var isSealed: Bool { sealing != nil }
}
