package import Files
import Locks
import Logging
import Synchronization

/// A locked directory that holds a store, with the operations that all file formats share.
///
/// Beside the files of tables it contains the commit log, the manifest, and temporarily new files,
/// whose names begin with `newPrefix`.
///
/// Files are opened, renamed and removed in the directory that was locked, even if it is moved.
/// They are never looked up in another directory that has taken its path.
public final class StoreDirectory: Sendable {
  /// The name of the commit log.
  package static let log = "Commit.log"
  /// The name of the manifest.
  package static let manifest = "Commit.manifest"
  /// The name of the key file of an encrypted store.
  package static let key = "Commit.key"
  /// The table name of the named buffers.
  package static let buffers = "NamedBuffers"
  /// The prefix of the names of new files that will replace others.
  package static let newPrefix = ".new."

  /// The path, without symbolic links, at the time the directory was opened.
  ///
  /// ``follow(to:)`` changes it.
  package var path: String { ownPath.current }
  private let ownPath: DirectoryPath
  package let isReadOnly: Bool
  private let handle: Locked<DirectoryHandle?>
  /// The state that the processes of a shared store have in common; nil for an exclusive store.
  let shared: SharedFile?
  private let isMoveReported = Atomic(false)
  private let sawValueFile = Atomic(false)

  /// Opens a directory and locks it.
  ///
  /// - Parameters:
  ///   - directory: The path.
  ///   - isReadOnly: Whether nothing in the directory will be written.
  ///   - lock: The processes and backends to exclude.
  ///   - createIfMissing: Whether to create a missing directory.
  ///   - timeout: The maximum time to wait for the lock.
  ///   - fileSystem: The file system of the path.
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  package init(
    _ directory: String, isReadOnly: Bool, lock: DirectoryLock, createIfMissing: Bool,
    timeout: Duration = .zero, in fileSystem: any FileSystem = SystemFiles.shared
  ) throws(StoreError) {
    self.isReadOnly = isReadOnly
    let path = try systemErrors(at: directory) {
      if createIfMissing && !isReadOnly { try makeDirectories(directory, in: fileSystem) }
      return try realPath(directory, in: fileSystem)
    }
    ownPath = DirectoryPath(path)
    let handle = try lock.open(FileLocation(path, in: fileSystem), timeout)
    self.handle = Locked(handle)
    // A commit of another process may take seconds.
    shared = lock == .shared ? try SharedFile(handle, max(timeout, .seconds(30))) : nil
  }

  /// Releases the lock.
  package func unlock() {
    handle.withLock { handle in
      handle?.unlock()
      handle = nil
    }
  }

  /// Returns the open directory.
  ///
  /// - Throws: ``StoreError`` with `closed`, or `forked` in a child process.
  package func opened() throws(StoreError) -> DirectoryHandle {
    guard let handle = handle.withLock({ $0 }) else {
      throw StoreError(.closed, "The backend has been closed.", at: .init(path: path))
    }
    if handle.isInherited { throw StoreError.forked(path) }
    return handle
  }

  /// Returns the path of a file in the directory, for messages.
  package func path(_ name: String) -> String { path + "/" + name }

  /// Returns a file in the directory.
  ///
  /// - Throws: ``StoreError`` with `closed`, or `forked` in a child process.
  package func file(_ name: String) throws(StoreError) -> FileLocation { try opened().file(name) }

  /// Whether a file exists.
  ///
  /// - Throws: ``StoreError`` with `ioError` if the system can't tell.
  package func hasFile(_ name: String) throws(StoreError) -> Bool {
    try systemErrors(at: path(name)) { try exists(file(name)) }
  }

  /// Returns the names of all entries.
  package func entries() throws(StoreError) -> [String] {
    try systemErrors(at: path) { try opened().entries() }
  }

  /// Syncs the names in the directory.
  package func synchronize() throws(StoreError) {
    try systemErrors(at: path) { try opened().synchronize() }
  }

  // MARK: Files

  /// Maps a file into memory; returns nil if it does not exist.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `closed` or `forked`.
  func map(_ name: String) throws(StoreError) -> MappedFile? {
    let file = try file(name)
    do throws(SystemError) {
      return try MappedFile(file)
    } catch {
      if error.isMissing { return nil }
      throw StoreError(error)
    }
  }

  /// Renames a file, and replaces an existing file of the new name.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `closed` or `forked`.
  func rename(_ name: String, to newName: String) throws(StoreError) {
    try systemErrors(at: path(name)) { try renameFile(file(name), file(newName)) }
  }

  /// Removes a file if possible; a missing file is not an error.
  func remove(_ name: String) { try? removeFile(file(name)) }

  // MARK: New files

  /// Returns the name of a new file, before it replaces another one.
  ///
  /// If processes share the store, checkpoints in the log may name files while another process
  /// creates new ones, so names are unique.
  func newName(_ name: String, _ mark: FileMark) -> String {
    shared == nil ? Self.newPrefix + name : "\(Self.newPrefix)\(mark.number)-\(name)"
  }

  /// Returns the permissions for a new file.
  ///
  /// They are those of the file that it replaces, or of the log. The log of a new store is readable
  /// by everyone who may list the directory, as far as the umask permits.
  package func rights(ofNew name: String) throws(StoreError) -> FileRights {
    try noticeMove()
    return try systemErrors(at: path) {
      if let old = try FileStatus.find(file(name)) { return old.rights.ofReplacement }
      if let log = try FileStatus.find(file(Self.log)) { return log.rights.ofReplacement }
      return try FileStatus.find(file("."))?.rights.ofNewFiles ?? .anyone
    }
  }

  /// Throws if the log names a file that it can't mean.
  package func check(_ replacement: Replacement) throws(StoreError) {
    guard replacement.newName.hasPrefix(Self.newPrefix), !replacement.newName.contains("/") else {
      throw StoreError(
        .damaged,
        "The log has a file name that is not valid.", at: .init(path: path))
    }
  }

  /// Removes new files that will not be published.
  package func discard(_ replacements: [Replacement]) {
    for replacement in replacements { remove(replacement.newName) }
  }

  /// Whether ``removeStrays()`` has seen files of external values.
  var hasValueFiles: Bool { sawValueFile.load(ordering: .relaxed) }

  /// Removes new files that a dead process left, and logs of other epochs; returns all names found.
  package func removeStrays(keepingLogs epochs: [UInt64] = []) throws(StoreError) -> [String] {
    let names = try entries()
    removeEarlierLogs(among: names, except: epochs)
    // The shared file is unused: all processes that had the store open have died.
    if shared == nil, names.contains(SharedFile.name) { remove(SharedFile.name) }
    try systemErrors(at: path) {
      for name in names {
        if name.hasPrefix(Self.newPrefix) { try removeFile(file(name)) }
        if name.hasSuffix(ExternalFileFormat.suffix) {
          sawValueFile.store(true, ordering: .relaxed)
        }
      }
    }
    return names
  }
}

extension StoreError {
  /// Returns the error for a change to a store that is open for reading only.
  package static func readOnly(at path: String) -> StoreError {
    StoreError(.readOnly, "The store was opened for reading only.", at: .init(path: path))
  }

  /// Returns the error for a store that the parent process opened.
  package static func forked(_ path: String) -> StoreError {
    StoreError(
      .forked,
      """
      The store was opened before this process was forked, and belongs to its parent. Open the store \
      again in the child, once the parent has closed it.
      """,
      at: .init(path: path))
  }
}

extension StoreError {
  /// Returns the error for a missing file that existed before, or that the manifest lists.
  package static func fileGone(_ name: String, in path: String) -> StoreError {
    StoreError(
      .damaged, "The file is gone, with all records in it. Restore it from a backup.",
      at: .init(path: path, className: name))
  }
}

// A directory stays open and in use when it is moved, or when another one takes its path.
extension StoreDirectory {
  /// Returns the present position of the directory.
  package func position() throws(StoreError) -> DirectoryHandle.Position {
    try systemErrors(at: path) { try opened().position() }
  }

  /// Uses the path to which the program itself has moved the directory from now on.
  ///
  /// - Throws: ``StoreError`` with `ioError` if the path leads elsewhere, `closed` or `forked`.
  package func follow(to newPath: String) throws(StoreError) {
    let handle = try opened()
    let path = try systemErrors(at: newPath) { try realPath(newPath, in: handle.fileSystem) }
    guard try systemErrors(at: path, { try handle.follow(to: path) }) else {
      throw StoreError(
        .ioError, "The open directory is not here.", at: .init(path: path))
    }
    ownPath.follow(to: path)
    isMoveReported.store(false, ordering: .relaxed)
  }

  /// Throws if the directory has been removed, and logs once that it has been moved.
  private func noticeMove() throws(StoreError) {
    // If the position is unknown, the open directory is still usable.
    guard let position = try? position(), position != .unchanged else { return }
    if position == .removed {
      throw StoreError(
        .ioError, "The directory has been removed: what is saved in it is lost. Close the store.",
        at: .init(path: path))
    }
    if isMoveReported.exchange(true, ordering: .relaxed) { return }
    Logger(label: "stored-objects").warning("\(Self.message(position)) [\(path)]")
  }

  /// Returns the finding about a directory that is not where it was.
  package func positionFindings() throws(StoreError) -> [StoreFinding] {
    let position = try position()
    if position == .unchanged { return [] }
    return [StoreFinding(.directoryMoved, Self.message(position), at: .init(path: path))]
  }

  private static func message(_ position: DirectoryHandle.Position) -> String {
    switch position {
    case .unchanged: "The directory is where it was."
    case .moved(let new?):
      """
      The directory was moved to \(new) while the store was open: saves go there. Close the store, \
      and open the one you mean.
      """
    case .moved(nil):
      """
      The directory was moved or replaced while the store was open: saves go to the one that was \
      opened. Close the store, and open the one you mean.
      """
    case .removed: "The directory was removed while the store was open: its files are gone."
    }
  }
}
