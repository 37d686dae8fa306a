import Files

/// A directory that is built beside its target under a hidden name, and renamed once it is on the
/// disk.
///
/// So a crash leaves either no target or a whole one. The directory is locked meanwhile, and
/// contains a marker. A later process removes hidden directories with a marker and without a lock.
struct PartialPackage {
  /// The path that the directory will have.
  let path: String
  private let parent: DirectoryHandle
  private let name: String
  let package: DocumentPackage

  private var target: FileLocation { parent.file(lastComponent(of: path)) }
  private var location: FileLocation { parent.file(name) }

  /// Creates an empty directory beside a path.
  ///
  /// - Throws: ``DocumentError`` with `exists` if there is something at the path that can't or must
  ///   not be replaced, or `missing` if there is no folder for it.
  init(
    for path: String, replacing: Bool, in fileSystem: any FileSystem
  ) throws(DocumentError) {
    let parent = try openParent(of: path, in: fileSystem)
    self.parent = parent
    self.path = joinedPath(parent.path, lastComponent(of: path))
    try checkTarget(parent.file(lastComponent(of: path)), replacing: replacing)
    removeLeftovers(in: parent)
    (name, package) = try documentErrors(at: path) { try Self.makeDirectory(in: parent) }
  }

  private static func makeDirectory(
    in parent: DirectoryHandle
  ) throws(SystemError) -> (String, DocumentPackage) {
    while true {
      let name = PackageFormat.newPartialName
      try Files.makeDirectory(parent.file(name), mode: 0o777)
      do throws(SystemError) {
        let path = FileLocation(joinedPath(parent.path, name), in: parent.fileSystem)
        let handle = try DirectoryHandle(path, shared: false)
        _ = try NewFile(handle.file(PackageFormat.partialMarker))
        return (name, DocumentPackage(handle, isLocked: true))
      } catch {
        // Another process may take it for a leftover before it is locked.
        guard error.isMissing || error.kind == .inUse else {
          removeTree(name, in: parent)
          throw error
        }
      }
    }
  }

  /// Gives the directory its name.
  ///
  /// - Parameter replacing: Whether another document of this name is replaced, in one step.
  /// - Throws: ``DocumentError`` with `exists`, `inUse` or `ioError`. Nothing has changed then.
  func publish(replacing: Bool) throws(DocumentError) {
    try documentErrors(at: path) { try package.handle.synchronize() }
    try place(location, from: parent, at: target, in: parent, replacing: replacing)
    package.remove(PackageFormat.partialMarker)
    _ = try? package.handle.follow(to: path)
  }

  /// Exchanges the names of the published directory and of another document, in one step.
  ///
  /// - Throws: `SystemError` if the file system can't do so.
  func exchange(with other: DocumentPackage, in otherParent: DirectoryHandle) throws(SystemError) {
    try exchangeNames(target, otherParent.file(lastComponent(of: other.path)))
    // Until both are on the disk, a power cut leaves both documents under either name.
    try? parent.synchronize()
    try? otherParent.synchronize()
  }

  /// Removes the published directory.
  func removePublished() {
    guard (try? FileStatus.find(target, followsLink: false))?.identity == package.handle.identity
    else { return }
    removeTree(lastComponent(of: path), in: parent)
  }

  /// Removes the directory with its content, unless it has been published.
  func remove() {
    guard (try? FileStatus.find(location, followsLink: false))?.identity == package.handle.identity
    else { return }
    removeTree(name, in: parent)
  }
}

// MARK: - Names

/// Opens the folder that contains a path.
func openParent(
  of path: String, in fileSystem: any FileSystem
) throws(DocumentError) -> DirectoryHandle {
  let name = lastComponent(of: path)
  guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
    throw DocumentError(.missing, "This path has no name for a document.", at: path)
  }
  let above = directoryName(path)
  return try documentErrors(at: above) {
    try DirectoryHandle(FileLocation(realPath(above, in: fileSystem), in: fileSystem))
  }
}

/// Returns the last component of a path.
func lastComponent(of path: String) -> String {
  path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } ?? ""
}

/// Returns the path of a file in a directory.
func joinedPath(_ directory: String, _ name: String) -> String {
  directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
}

/// Throws if there is something at a path that can't or must not be replaced.
func checkTarget(_ target: FileLocation, replacing: Bool) throws(DocumentError) {
  let status = try documentErrors(at: target.path) {
    try FileStatus.find(target, followsLink: false)
  }
  guard let status else { return }
  if status.isDirectory, replacing { return try checkIsDocument(target) }
  if status.isDirectory, (try? directoryEntries(target))?.isEmpty == true { return }
  throw DocumentError.exists(target.path)
}

/// Throws if a directory is neither empty nor a document, whatever its type.
private func checkIsDocument(_ target: FileLocation) throws(DocumentError) {
  let names = try documentErrors(at: target.path) { try directoryEntries(target) }
  if names.isEmpty || names.contains(PackageFormat.manifest) { return }
  throw DocumentError(
    .exists, "There is a folder at this path that is not a document. It was not replaced.",
    at: target.path)
}

/// Renames a directory, and replaces a document of the new name in one step.
///
/// - Parameters:
///   - location: The directory.
///   - source: The folder that contains it.
///   - target: The new name.
///   - parent: The folder of the new name.
///   - replacing: Whether to replace a document of this name.
/// - Throws: ``DocumentError`` with `exists`, `inUse` or `ioError`.
func place(
  _ location: FileLocation, from source: DirectoryHandle, at target: FileLocation,
  in parent: DirectoryHandle, replacing: Bool
) throws(DocumentError) {
  try checkTarget(target, replacing: replacing)
  do {
    let old = try FileStatus.find(target, followsLink: false)
    guard replacing, old?.isDirectory == true else {
      try renameFile(location, target)
      return try synchronize(parent, source)
    }
    let replaced = try DocumentPackage(
      opening: target.path, isLocked: true, in: parent.fileSystem)
    // The old document gets the name of the new one, and is removed under it.
    try? NewFile(replaced.file(PackageFormat.partialMarker)).synchronize()
    try exchangeNames(location, target)
    try synchronize(parent, source)
    withExtendedLifetime(replaced) { removeTree(location.name, in: source) }
  } catch let error as SystemError where error.isNameTaken {
    throw DocumentError.exists(target.path)
  } catch {
    throw .wrapping(error, at: target.path)
  }
}

private func synchronize(
  _ first: DirectoryHandle, _ second: DirectoryHandle
) throws(SystemError) {
  try first.synchronize()
  if second.identity != first.identity { try second.synchronize() }
}

// MARK: - Removing

/// Removes hidden files and directories of documents that a crash has left in a folder.
func removeLeftovers(in parent: DirectoryHandle) {
  let prefix = PackageFormat.partialPrefix
  for name in (try? parent.entries()) ?? [] {
    guard name.hasPrefix(prefix), name.utf8.count == prefix.utf8.count + 8 else { continue }
    guard let status = try? FileStatus.find(parent.file(name), followsLink: false) else { continue }
    if status.isRegular { try? removeUnlockedFile(parent.file(name)) }
    guard status.isDirectory else { continue }
    let path = FileLocation(joinedPath(parent.path, name), in: parent.fileSystem)
    guard let lock = try? DirectoryHandle(path, shared: false), lock.identity == status.identity
    else { continue }
    withExtendedLifetime(lock) {
      let isMarked = (try? exists(lock.file(PackageFormat.partialMarker))) == true
      // An empty one has no marker yet.
      if isMarked { removeTree(name, in: parent) } else { try? removeDirectory(parent.file(name)) }
    }
  }
}

/// Removes a directory with its content as far as possible; does not follow symbolic links.
func removeTree(_ name: String, in parent: DirectoryHandle, depth: Int = 0) {
  let location = parent.file(name)
  guard let status = try? FileStatus.find(location, followsLink: false) else { return }
  guard status.isDirectory, depth < 8 else {
    try? removeFile(location)
    return
  }
  if let directory = try? DirectoryHandle(location, followsLink: false) {
    // While there is anything left, the marker is, too, so that a later process can continue.
    let marker = PackageFormat.partialMarker
    for entry in (try? directory.entries()) ?? [] where entry != marker {
      removeTree(entry, in: directory, depth: depth + 1)
    }
    let rest = (try? directory.entries()) ?? []
    if rest == [marker] { try? removeFile(directory.file(marker)) }
  }
  try? removeDirectory(location)
}
