/// A directory that is open, and perhaps locked: one writer, or any number of readers, among all
/// processes.
///
/// It stays the same directory when its path goes to another one. The lock is on the directory
/// itself, so that no lock file lies in it. It ends with the process, however that ends.
package final class DirectoryHandle: Sendable {
  /// The path it was opened by.
  package let path: String
  /// Which directory it is.
  package let identity: FileIdentity
  /// The file system that it is of.
  package let fileSystem: any FileSystem
  let descriptor: Int32
  /// The process that has opened it.
  private let process: UInt
  private let isLocked: Bool

  private init(_ opened: OpenFile, _ identity: FileIdentity, isLocked: Bool) {
    (path, fileSystem) = (opened.location.path, opened.location.fileSystem)
    (descriptor, self.identity) = (opened.descriptor, identity)
    (self.isLocked, process) = (isLocked, currentProcess())
  }

  private var opened: OpenFile { OpenFile(descriptor, ownLocation) }

  /// Where it was when it was opened.
  private var ownLocation: FileLocation { FileLocation(path, in: fileSystem) }

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: Its address.
  ///   - followsLink: Whether the last part of that may be a symbolic link.
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
  /// The path leads to it afterwards: one that is renamed or replaced meanwhile is not taken.
  ///
  /// - Throws: ``SystemError``, of the kind `inUse` when somebody else has the lock.
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
      // Another directory has got the path meanwhile, or it is gone.
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
  /// It is released for child processes that have been forked and not executed yet, too. In such a
  /// child nothing is done: the lock is that of the parent.
  package func unlock() {
    if isLocked && !isInherited { opened.unlock() }
  }

  /// Whether it was opened by the process that this one was forked from.
  package var isInherited: Bool { process != currentProcess() }

  /// A file in it.
  package func file(_ name: String) -> FileLocation { FileLocation(name, in: self) }

  /// The names of all entries, in no order.
  ///
  /// - Throws: ``SystemError``, of the kind `missing` when the directory has been removed.
  package func entries() throws(SystemError) -> [String] {
    let names = try directoryEntries(file("."))
    if names.isEmpty, try FileStatus(opened).linkCount == 0 {
      throw SystemError(call: "openat", path: path, number: directoryRemoved)
    }
    return names
  }

  /// Brings the names in the directory to the disk.
  package func synchronize() throws(SystemError) { try opened.synchronize() }

  /// Where a directory is now, compared with the path by which it was opened.
  package enum Position: Sendable, Equatable {
    /// Its path still leads to it.
    case unchanged
    /// It has another path; the new one, where the system tells.
    case moved(to: String?)
    /// It has no path any more.
    case removed
  }

  /// Looks where the directory is now.
  package func position() throws(SystemError) -> Position {
    if try FileStatus.find(ownLocation)?.identity == identity { return .unchanged }
    if try FileStatus(opened).linkCount == 0 { return .removed }
    guard let found = readLink("/proc/self/fd/\(descriptor)"),
      try FileStatus.find(FileLocation(found, in: fileSystem))?.identity == identity
    else { return .moved(to: nil) }
    return .moved(to: found)
  }

  /// Gives the directory the owner and the permissions of another one, as far as that is allowed.
  package func take(_ rights: FileRights) throws(SystemError) {
    try rights.apply(to: opened)
  }
}
