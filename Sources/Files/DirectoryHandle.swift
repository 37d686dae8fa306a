/// An open directory, which may be locked by one writer or any number of readers in all processes.
///
/// It remains the same directory when another one takes its path. The lock is on the directory
/// itself, so that it contains no lock file. The lock ends with the process, however that ends.
package final class DirectoryHandle: Sendable {
  /// The path by which it was opened, or the one that ``follow(to:)`` has set.
  package var path: String { ownPath.current }
  private let ownPath: DirectoryPath
  /// The identity of the directory.
  package let identity: FileIdentity
  /// The file system of the directory.
  package let fileSystem: any FileSystem
  let descriptor: Int32
  /// The process that opened it.
  private let process: UInt
  private let isLocked: Bool

  private init(_ opened: OpenFile, _ identity: FileIdentity, isLocked: Bool) {
    ownPath = DirectoryPath(opened.location.path)
    fileSystem = opened.location.fileSystem
    (descriptor, self.identity) = (opened.descriptor, identity)
    (self.isLocked, process) = (isLocked, currentProcess())
  }

  private var opened: OpenFile { OpenFile(descriptor, ownLocation) }

  /// The location at the time when it was opened.
  private var ownLocation: FileLocation { FileLocation(path, in: fileSystem) }

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: Its address.
  ///   - followsLink: Whether the last component may be a symbolic link.
  /// - Throws: ``SystemError``.
  package convenience init(
    _ path: some FileAddress, followsLink: Bool = true
  ) throws(SystemError) {
    let (opened, identity) = try Self.open(path.location, followsLink: followsLink)
    self.init(opened, identity, isLocked: false)
  }

  private static func open(
    _ path: FileLocation, followsLink: Bool
  ) throws(SystemError) -> (OpenFile, FileIdentity) {
    let opened = try openDirectory(path, followsLink: followsLink)
    do throws(SystemError) {
      return (opened, try FileStatus(opened).identity)
    } catch {
      opened.close()
      throw error
    }
  }

  /// Opens and locks a directory, without waiting.
  ///
  /// The path leads to it afterwards: a directory that is renamed or replaced meanwhile is not
  /// used.
  ///
  /// - Throws: ``SystemError``, of the kind `inUse` if the lock is taken.
  package convenience init(_ path: some FileAddress, shared: Bool) throws(SystemError) {
    let (opened, identity) = try Self.lock(path.location, shared: shared)
    self.init(opened, identity, isLocked: true)
  }

  private static func lock(
    _ path: FileLocation, shared: Bool
  ) throws(SystemError) -> (OpenFile, FileIdentity) {
    for _ in 0..<8 {
      let (opened, identity) = try open(path, followsLink: true)
      do throws(SystemError) {
        try opened.lock(shared: shared)
        if try FileStatus.find(path)?.identity == identity { return (opened, identity) }
      } catch {
        opened.close()
        throw error
      }
      // Another directory has taken the path meanwhile, or the directory was removed.
      opened.unlock()
      opened.close()
    }
    throw SystemError(call: FileCall.lock.rawValue, path: path.path, number: directoryMoved)
  }

  deinit {
    unlock()
    closeFile(descriptor)
  }

  /// Releases the lock.
  ///
  /// This also releases it for forked child processes that have not executed another program yet.
  /// In such a child the method does nothing, because the lock belongs to the parent.
  package func unlock() {
    if isLocked && !isInherited { opened.unlock() }
  }

  /// Whether the process that this one was forked from has opened it.
  package var isInherited: Bool { process != currentProcess() }

  /// Returns a file in the directory.
  package func file(_ name: String) -> FileLocation { FileLocation(name, in: self) }

  /// Returns the names of all entries, in no particular order.
  ///
  /// - Throws: ``SystemError``, of the kind `missing` if the directory has been removed.
  package func entries() throws(SystemError) -> [String] {
    let names = try directoryEntries(file("."))
    if names.isEmpty, try FileStatus(opened).linkCount == 0 {
      throw SystemError(call: "openat", path: path, number: directoryRemoved)
    }
    return names
  }

  /// Syncs the names in the directory.
  package func synchronize() throws(SystemError) { try opened.synchronize() }

  /// The position of a directory compared with the path by which it was opened.
  package enum Position: Sendable, Equatable {
    /// Its path still leads to it.
    case unchanged
    /// It has another path, which is given if the system knows it.
    case moved(to: String?)
    /// It no longer has a path.
    case removed
  }

  /// Returns the present position of the directory.
  package func position() throws(SystemError) -> Position {
    if try FileStatus.find(ownLocation)?.identity == identity { return .unchanged }
    if try FileStatus(opened).linkCount == 0 { return .removed }
    guard let found = readLink("/proc/self/fd/\(descriptor)"),
      try FileStatus.find(FileLocation(found, in: fileSystem))?.identity == identity
    else { return .moved(to: nil) }
    return .moved(to: found)
  }

  /// Uses another path from now on, in messages and as the position, if it leads to this directory.
  ///
  /// - Returns: Whether it does.
  /// - Throws: ``SystemError`` if the system can't tell.
  package func follow(to path: String) throws(SystemError) -> Bool {
    let found = try FileStatus.find(FileLocation(path, in: fileSystem))
    guard found?.identity == identity else { return false }
    ownPath.follow(to: path)
    return true
  }

  /// Gives the directory the owner and the permissions of another one, as far as allowed.
  package func take(_ rights: FileRights) throws(SystemError) {
    try rights.apply(to: opened)
  }
}
