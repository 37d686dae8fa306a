package import Files
import Locks

// Reading beside a writer, which does not notice it. Class files are never written in place, and
// the log only grows until files are published. A reader that has read the log and opened all files
// has the data as of one commit. If files were published meanwhile, it starts again.

/// The state of a directory that changes when files are published or the log is emptied.
struct StoreMoment: Equatable {
  private let manifest: [UInt8]?
  private let logIdentity: FileIdentity?
  private let logHeaders: [UInt8]

  /// Reads the state of a directory.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  init(_ directory: DirectoryHandle) throws(StoreError) {
    let log = directory.file(StoreDirectory.log)
    manifest = try StoreDirectory.manifest(in: directory)
    (logIdentity, logHeaders) = try systemErrors(at: log.path) {
      guard let identity = try FileStatus.find(log)?.identity else { return (nil, []) }
      return (identity, try firstBytes(of: log, count: CommitLogFormat.firstBatch))
    }
  }
}

extension LoggedBackend {
  /// Opens a store for reading with all its files, as of one commit, beside any writer.
  ///
  /// - Returns: nil if a file is damaged and there is no writer: undamaged files are readable
  ///   anyway.
  /// - Throws: ``StoreError``, as the opening does; `inUse` if files were published too often.
  static func opened(
    reading directory: String, _ configuration: Configuration, _ key: (any StoreKey)?
  ) throws(StoreError) -> LoggedBackend? {
    var waiting = Backoff(max(configuration.lockTimeout, .seconds(2)))
    while true {
      let files = try ClassFiles<Format>(directory: directory, configuration: configuration)
      let directory = try files.directory.opened()
      var before: StoreMoment?
      do throws(StoreError) {
        let moment = try StoreMoment(directory)
        before = moment
        if let backend = try opened(files, key, directory, moment) { return backend }
        if !waiting.pause() { throw busy(directory.path) }
      } catch {
        if isAtRest(directory, since: before) {
          if error.code == .damaged { return nil }
          throw error
        }
        // Apparent damage may be a write in progress, or one that has ended since.
        if error.code == .inUse || !waiting.pause() { throw error }
      }
    }
  }

  /// Opens a store with all its files; returns nil if files were published meanwhile.
  private static func opened(
    _ files: ClassFiles<Format>, _ key: (any StoreKey)?, _ directory: DirectoryHandle,
    _ before: StoreMoment
  ) throws(StoreError) -> LoggedBackend? {
    let backend = try LoggedBackend(files: files, key: key)
    try backend.openAllFiles()
    return try backend.isOf(before, directory) ? backend : nil
  }

  /// Checks a store in a file system.
  ///
  /// If there is a writer, or was one meanwhile, apparent damage may be a write in progress, so the
  /// check is repeated. If files are published all the time, only the records are checked, as of
  /// one commit.
  package static func check(
    directory: String, key: (any StoreKey)?, in fileSystem: any FileSystem,
    progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck {
    var waiting = Backoff(.seconds(2))
    while true {
      let files = try ClassFiles<Format>(reading: directory, in: fileSystem)
      let handle = try files.directory.opened()
      let isBeside = hasWriter(handle)
      // nil if it can't be read, which the check reports.
      let before = try? StoreMoment(handle)
      let found = try files.check(key: key, isBeside: isBeside, progress: progress)
      if found.findings.isEmpty || !isBeside && isAtRest(handle, since: before) { return found }
      if waiting.pause() { continue }
      if (try? StoreMoment(handle)) == before { return found }
      return try checkRecords(directory, key, fileSystem, progress)
    }
  }

  private static func checkRecords(
    _ directory: String, _ key: (any StoreKey)?, _ fileSystem: any FileSystem,
    _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck {
    var configuration = Configuration(access: .readOnly)
    configuration.fileSystem = fileSystem
    guard let moment = try opened(reading: directory, configuration, key) else {
      throw busy(directory)
    }
    let backend = try LoggedBackend(frozen: moment)
    defer { try? backend.close() }
    return try BackendCheck(backend).run(progress: progress)
  }

  private func openAllFiles() throws(StoreError) {
    try naming { () throws(StoreError) in try files.openAll() }
  }

  /// Whether no files have been published since a moment.
  private func isOf(_ moment: StoreMoment, _ directory: DirectoryHandle) throws(StoreError) -> Bool
  {
    guard try StoreMoment(directory) == moment else { return false }
    // The record of the checkpoint precedes the publishing.
    guard let reader = log.withLock({ $0.reader }) else { return true }
    guard var later = try reader.continued() else { return false }
    while let batch = try later.next() {
      if batch.kind.isCheckpoint { return false }
    }
    return true
  }

  /// Whether there is no writer, and none has changed anything since a moment.
  private static func isAtRest(_ directory: DirectoryHandle, since before: StoreMoment?) -> Bool {
    // In this order: a writer that ends between the two has changed the moment.
    !hasWriter(directory) && (try? StoreMoment(directory)) == before
  }

  private static func hasWriter(_ directory: DirectoryHandle) -> Bool {
    guard let handle = try? DirectoryHandle(directory.file("."), shared: true) else { return true }
    handle.unlock()
    return false
  }

  private static func busy(_ path: String) -> StoreError {
    StoreError(
      .inUse, "Another process keeps replacing the store's files. Try again.",
      at: .init(path: path))
  }
}
