package import Files

/// A directory that is created under a temporary name, and renamed once its content is on the disk.
///
/// Only its owner can read it meanwhile. Then the directory and its files get the permissions of
/// their originals.
package struct TargetDirectory {
  /// The final path.
  package let path: String
  /// The temporary path.
  package let temporaryPath: String

  /// The parent directory.
  private let parent: DirectoryHandle
  private let directory: DirectoryHandle

  /// Creates a directory at a path where there is nothing, or an empty directory.
  ///
  /// - Parameters:
  ///   - path: The final path.
  ///   - source: The directory whose permissions it gets; its files get those of the files there.
  ///   - body: Creates the files.
  /// - Returns: The result of the closure.
  /// - Throws: `StoreError` with `ioError`.
  package static func make<Result>(
    at path: String, like source: DirectoryHandle,
    _ body: (TargetDirectory) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let temporaryPath = "\(path).partial-\(UInt32.random(in: 0 ... .max))"
    let target = try systemErrors(at: path) {
      try checkIsEmpty(FileLocation(path, in: source.fileSystem))
      return try TargetDirectory(path, temporaryPath, in: source.fileSystem)
    }
    do {
      let result = try body(target)
      try target.publish(like: source)
      return result
    } catch {
      target.remove()
      throw error
    }
  }

  private init(
    _ path: String, _ temporaryPath: String, in fileSystem: any FileSystem
  ) throws(SystemError) {
    (self.path, self.temporaryPath) = (path, temporaryPath)
    let above = directoryName(path)
    try makeDirectories(above, in: fileSystem)
    parent = try DirectoryHandle(FileLocation(above, in: fileSystem))
    let temporary = parent.file(lastComponent(temporaryPath))
    try makeDirectory(temporary, mode: 0o700)
    do {
      directory = try DirectoryHandle(temporary)
    } catch {
      try? removeDirectory(temporary)
      throw error
    }
  }

  private static func checkIsEmpty(_ path: FileLocation) throws {
    guard try exists(path) else { return }
    if try directoryEntries(path).isEmpty { return }
    throw StoreError(
      .ioError, "There is something in the target already: name a directory that does not exist.",
      at: .init(path: path.path))
  }

  /// Returns a file in the directory.
  package func file(_ name: String) -> FileLocation { directory.file(name) }

  /// Copies a file into the directory.
  package func copy(_ name: String, from old: some FileAddress) throws(StoreError) {
    try systemErrors(at: old.location.path) {
      try copyFile(old, to: file(name))
    }
  }

  /// Syncs a file in the directory.
  package func synchronize(_ name: String) throws(StoreError) {
    try systemErrors(at: temporaryPath + "/" + name) {
      try syncFile(file(name))
    }
  }

  private func publish(like source: DirectoryHandle) throws(StoreError) {
    try systemErrors(at: path) {
      let old = try FileStatus.find(FileLocation(path, in: parent.fileSystem))?.rights
      try directory.copyRights(ofFilesIn: source)
      try directory.synchronize()
      try directory.takeRights(of: source, limitedBy: old)
      try renameFile(parent.file(lastComponent(temporaryPath)), parent.file(lastComponent(path)))
      try parent.synchronize()
    }
  }

  private func remove() {
    let temporary = parent.file(lastComponent(temporaryPath))
    // After the rename the directory is complete and must stay.
    guard (try? FileStatus.find(temporary)?.identity) == directory.identity else { return }
    for name in (try? directory.entries()) ?? [] { try? removeFile(file(name)) }
    try? removeDirectory(temporary)
  }
}

/// Returns the last component of a path.
func lastComponent(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}

extension DirectoryHandle {
  /// Gives the files here the permissions of the files with the same names in another directory.
  ///
  /// A file without a counterpart gets the permissions that all files there have in common. A key
  /// file is only for its owner, unless it is shared with a group.
  func copyRights(ofFilesIn source: DirectoryHandle) throws(SystemError) {
    var known: [String: FileRights] = [:]
    for name in try source.entries() {
      guard let status = try FileStatus.find(source.file(name)), status.isRegular else { continue }
      known[name] = status.rights.ofReplacement
    }
    // The key file is more restricted than the records, so it does not count.
    let others = known.filter { $0.key != StoreDirectory.key }.values
    let strictest = others.reduce(others.first) { $0?.limited(by: $1) }
    for name in try entries() {
      guard var rights = known[name] ?? strictest?.ofReplacement else { continue }
      if name == StoreDirectory.key { rights = known[name]?.ofKey ?? .ownerOnly }
      try give(rights, to: file(name))
    }
  }

  /// Gives this directory the permissions of another one, limited by given permissions.
  func takeRights(of source: DirectoryHandle, limitedBy other: FileRights? = nil)
    throws(SystemError)
  {
    guard let rights = try FileStatus.find(source.file("."))?.rights else { return }
    try take(other.map { rights.limited(by: $0) } ?? rights)
  }
}
