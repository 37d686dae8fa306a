// The system calls on directories.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Creates a directory and its missing parents; an existing directory is not an error.
///
/// The name of a new directory is synced; otherwise a power cut could remove it with all saves.
///
/// - Parameters:
///   - path: The directory.
///   - mode: Its permissions if it is new, before the umask.
///   - modeAbove: The permissions of new parents.
///   - fileSystem: The file system of the path.
/// - Throws: ``SystemError``.
package func makeDirectories(
  _ path: String, mode: UInt32 = 0o777, modeAbove: UInt32 = 0o777,
  in fileSystem: any FileSystem = SystemFiles.shared
) throws(SystemError) {
  if try makeDirectoryAlone(path, mode, fileSystem) { return }
  let parent = directoryName(path)
  guard parent != path else {
    throw SystemError(call: "mkdirat", path: path, number: ENOENT)
  }
  try makeDirectories(parent, mode: modeAbove, modeAbove: modeAbove, in: fileSystem)
  if try makeDirectoryAlone(path, mode, fileSystem) { return }
  throw SystemError(call: "mkdirat", path: path, number: ENOENT)
}

/// Creates a directory unless it exists; returns false if its parent is missing.
private func makeDirectoryAlone(
  _ path: String, _ mode: UInt32, _ fileSystem: any FileSystem
) throws(SystemError) -> Bool {
  do throws(SystemError) {
    try makeDirectory(FileLocation(path, in: fileSystem), mode: mode)
  } catch {
    if error.number == EEXIST { return true }
    if error.kind == .missing { return false }
    throw error
  }
  try syncDirectory(FileLocation(directoryName(path), in: fileSystem))
  return true
}

/// Creates a directory, which must not exist.
package func makeDirectory(_ path: some FileAddress, mode: UInt32) throws(SystemError) {
  let location = path.location
  _ = try location.fileSystem.perform(.makeDirectory, on: location.path) {
    Int(unsafe mkdirat(location.descriptor, location.name, mode_t(mode)))
  }
}

/// Returns the parent directory of a path.
package func directoryName(_ path: String) -> String {
  var path = Substring(path)
  while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Syncs the names in a directory.
package func syncDirectory(_ path: some FileAddress) throws(SystemError) {
  let directory = try openDirectory(path)
  defer { directory.close() }
  try directory.synchronize()
}

/// Opens a directory; the descriptor is not inherited by executed programs.
func openDirectory(
  _ path: some FileAddress, followsLink: Bool = true
) throws(SystemError) -> OpenFile {
  try openFile(path, O_RDONLY | O_DIRECTORY | (followsLink ? 0 : O_NOFOLLOW))
}

/// Returns the names of the entries of a directory, in no particular order.
package func directoryEntries(_ path: some FileAddress) throws(SystemError) -> [String] {
  let opened = try openDirectory(path)
  guard let directory = unsafe fdopendir(opened.descriptor) else {
    let error = SystemError.last("fdopendir", opened.location.path)
    opened.close()
    throw error
  }
  defer { unsafe closedir(directory) }
  var names: [String] = []
  while true {
    var entryName: String?
    // An error is thrown, because a partial list would be taken for the whole directory.
    _ = try opened.location.fileSystem.perform(.list, on: opened.location.path) {
      errno = 0
      entryName = unsafe readdir(directory).map { entry in unsafe name(of: entry) }
      return entryName == nil && errno != 0 ? -1 : 0
    }
    guard let entryName else { return names }
    if entryName != "." && entryName != ".." { names.append(entryName) }
  }
}

private func name(of entry: UnsafeMutablePointer<dirent>) -> String {
  unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
    unsafe tuple.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
      unsafe String(cString: $0)
    }
  }
}

/// Removes an empty directory; a missing one is not an error.
package func removeDirectory(_ path: some FileAddress) throws(SystemError) {
  let location = path.location
  do throws(SystemError) {
    _ = try location.fileSystem.perform(.removeDirectory, on: location.path) {
      Int(unsafe unlinkat(location.descriptor, location.name, AT_REMOVEDIR))
    }
  } catch {
    if error.kind != .missing { throw error }
  }
}
