package import Files

/// A directory that is made under another name, and gets its own once everything in it is on the
/// disk.
///
/// Nobody but its owner can read it meanwhile. Then it and its files get the rights of those that
/// they were made of.
package struct TargetDirectory {
  /// The name it will have.
  package let path: String
  /// The name under which it is made.
  package let temporaryPath: String

  /// The directory that it lies in.
  private let parent: DirectoryHandle
  private let directory: DirectoryHandle

  /// Makes a directory for something that is to be at a path where nothing is, or nothing in it.
  ///
  /// - Parameters:
  ///   - path: Where it is to be.
  ///   - source: The directory whose rights it gets, and its files those of the files there.
  ///   - body: Makes the files.
  /// - Returns: what the closure returns.
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

  /// A file in the directory.
  package func file(_ name: String) -> FileLocation { directory.file(name) }

  /// Copies a file into the directory.
  package func copy(_ name: String, from old: some FileAddress) throws(StoreError) {
    try systemErrors(at: old.location.path) {
      try copyFile(old, to: file(name))
    }
  }

  /// Brings a file in the directory to the disk.
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
    // Once it has its name it is whole.
    guard (try? FileStatus.find(temporary)?.identity) == directory.identity else { return }
    for name in (try? directory.entries()) ?? [] { try? removeFile(file(name)) }
    try? removeDirectory(temporary)
  }
}

/// The last part of a path.
func lastComponent(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}

extension DirectoryHandle {
  /// Gives the files in this directory the rights of those of the same names in another one.
  ///
  /// One that has no such file gets what all files there allow. A key is for its owner only, unless
  /// it is shared with a group.
  func copyRights(ofFilesIn source: DirectoryHandle) throws(SystemError) {
    var known: [String: FileRights] = [:]
    for name in try source.entries() {
      guard let status = try FileStatus.find(source.file(name)), status.isRegular else { continue }
      known[name] = status.rights.ofReplacement
    }
    // The key is kept from more people than the records.
    let others = known.filter { $0.key != StoreDirectory.key }.values
    let strictest = others.reduce(others.first) { $0?.limited(by: $1) }
    for name in try entries() {
      guard var rights = known[name] ?? strictest?.ofReplacement else { continue }
      if name == StoreDirectory.key { rights = known[name]?.ofKey ?? .ownerOnly }
      try give(rights, to: file(name))
    }
  }

  /// Gives this directory the rights of another one, and none that a third one does not allow.
  func takeRights(of source: DirectoryHandle, limitedBy other: FileRights? = nil)
    throws(SystemError)
  {
    guard let rights = try FileStatus.find(source.file("."))?.rights else { return }
    try take(other.map { rights.limited(by: $0) } ?? rights)
  }
}
