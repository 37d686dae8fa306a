package import Files
import Locks
import Logging
import Synchronization

/// A locked directory that holds a store: what its files have in common, whatever their format.
///
/// Beside the files of tables lie the commit log, the manifest, and for moments new files, whose
/// names begin with `newPrefix`.
///
/// Files are opened, renamed and removed in the directory that was locked, wherever it is moved,
/// and never in another one that has got its path.
public final class StoreDirectory: Sendable {
  /// The file of the commit log.
  package static let log = "Commit.log"
  /// The file that says what the directory must hold.
  package static let manifest = "Commit.manifest"
  /// The file that an encrypted store's key is tried on.
  package static let key = "Commit.key"
  /// The named buffers, as a table is named.
  package static let buffers = "NamedBuffers"
  /// How the names of new files begin that are to take the place of others.
  package static let newPrefix = ".new."

  /// The path, without symbolic links, as it was when the directory was opened.
  package let path: String
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
  ///   - isReadOnly: Whether nothing in it is going to be written.
  ///   - lock: Who is kept out.
  ///   - createIfMissing: Whether a missing directory is made.
  ///   - timeout: How long to wait for the lock.
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
    self.path = path
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

  /// The open directory.
  ///
  /// - Throws: ``StoreError`` with `closed`, or `forked` in a child process.
  package func opened() throws(StoreError) -> DirectoryHandle {
    guard let handle = handle.withLock({ $0 }) else {
      throw StoreError(.closed, "The backend has been closed.", at: .init(path: path))
    }
    if handle.isInherited { throw StoreError.forked(path) }
    return handle
  }

  /// The path of a file in it, for people.
  package func path(_ name: String) -> String { path + "/" + name }

  /// A file in it.
  ///
  /// - Throws: ``StoreError`` with `closed`, or `forked` in a child process.
  package func file(_ name: String) throws(StoreError) -> FileLocation { try opened().file(name) }

  /// Whether a file is there.
  ///
  /// - Throws: ``StoreError`` with `ioError` when the system does not say.
  package func hasFile(_ name: String) throws(StoreError) -> Bool {
    try systemErrors(at: path(name)) { try exists(file(name)) }
  }

  /// The names of all entries.
  package func entries() throws(StoreError) -> [String] {
    try systemErrors(at: path) { try opened().entries() }
  }

  /// Brings the names in it to the disk.
  package func synchronize() throws(StoreError) {
    try systemErrors(at: path) { try opened().synchronize() }
  }

  // MARK: Files

  /// Maps a file into memory; nil when there is none.
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

  /// Gives a file another name, in place of one that has it.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `closed` or `forked`.
  func rename(_ name: String, to newName: String) throws(StoreError) {
    try systemErrors(at: path(name)) { try renameFile(file(name), file(newName)) }
  }

  /// Removes a file, if that can be done; one that isn't there is fine.
  func remove(_ name: String) { try? removeFile(file(name)) }

  // MARK: New files

  /// The name of a new file, before it takes the place of another.
  ///
  /// Where processes share the store, the checkpoints in the log may name files while another process
  /// makes new ones: no two of them have the same name.
  func newName(_ name: String, _ mark: FileMark) -> String {
    shared == nil ? Self.newPrefix + name : "\(Self.newPrefix)\(mark.number)-\(name)"
  }

  /// The rights of a new file of a name.
  ///
  /// They are those of the file whose place it takes, or of the log; the log of a new store may be
  /// read by those who may list the directory, as far as the umask lets them.
  package func rights(ofNew name: String) throws(StoreError) -> FileRights {
    try noticeMove()
    return try systemErrors(at: path) {
      if let old = try FileStatus.find(file(name)) { return old.rights.ofReplacement }
      if let log = try FileStatus.find(file(Self.log)) { return log.rights.ofReplacement }
      return try FileStatus.find(file("."))?.rights.ofNewFiles ?? .anyone
    }
  }

  /// Refuses what the log can't mean.
  package func check(_ replacement: Replacement) throws(StoreError) {
    guard replacement.newName.hasPrefix(Self.newPrefix), !replacement.newName.contains("/") else {
      throw StoreError(.damaged, "The log names a file that it can't mean.", at: .init(path: path))
    }
  }

  /// Removes new files that will never be published.
  package func discard(_ replacements: [Replacement]) {
    for replacement in replacements { remove(replacement.newName) }
  }

  /// Whether ``removeStrays()`` has seen files of values.
  var hasValueFiles: Bool { sawValueFile.load(ordering: .relaxed) }

  /// Removes what a process has left that died while it made new files, and logs other than those
  /// of some epochs; all names there were.
  package func removeStrays(keepingLogs epochs: [UInt64] = []) throws(StoreError) -> [String] {
    let names = try entries()
    removeEarlierLogs(among: names, except: epochs)
    // All processes that had the store open have died.
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
  /// The error of a change to a store that was opened for reading.
  package static func readOnly(at path: String) -> StoreError {
    StoreError(.readOnly, "The store was opened for reading only.", at: .init(path: path))
  }

  /// The error of a store that was opened by the parent process.
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
  /// The error of a file that was there, or that the manifest lists, and that is there no more.
  package static func fileGone(_ name: String, in path: String) -> StoreError {
    StoreError(
      .damaged, "The file is gone, with all records in it. Bring it back from a backup.",
      at: .init(path: path, className: name))
  }
}

// A directory that is moved, or whose path another one gets, stays the one that is worked in.
extension StoreDirectory {
  /// Where the directory is now.
  package func position() throws(StoreError) -> DirectoryHandle.Position {
    try systemErrors(at: path) { try opened().position() }
  }

  /// Refuses a directory that has been removed, and reports one that has been moved, once.
  private func noticeMove() throws(StoreError) {
    // Where that can't be told, the open directory does.
    guard let position = try? position(), position != .unchanged else { return }
    if position == .removed {
      throw StoreError(
        .ioError, "The directory has been removed: what is saved in it is lost. Close the store.",
        at: .init(path: path))
    }
    if isMoveReported.exchange(true, ordering: .relaxed) { return }
    Logger(label: "stored-objects").warning("\(Self.message(position)) [\(path)]")
  }

  /// The finding about a directory that is not where it was.
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
