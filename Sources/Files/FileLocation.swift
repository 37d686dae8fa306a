#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An address of a file: a path, or a name in an open directory.
package protocol FileAddress: Sendable {
  /// The location of the file.
  var location: FileLocation { get }
}

extension String: FileAddress {
  /// The location of the file with this path.
  package var location: FileLocation { FileLocation(self) }
}

/// The location of a file: a name in an open directory, or a path.
///
/// A name in an open directory leads to the same directory as long as it is open, even if it is
/// renamed and another one takes its path. Every location belongs to a ``FileSystem``.
package struct FileLocation: FileAddress, CustomStringConvertible {
  private let base: Base

  private enum Base {
    case directory(DirectoryHandle)
    /// The name is a path.
    case fileSystem(any FileSystem)
  }

  /// The name in the directory, or the path.
  package let name: String

  /// Creates the location of a path.
  package init(_ path: String, in fileSystem: any FileSystem = SystemFiles.shared) {
    (base, name) = (.fileSystem(fileSystem), path)
  }

  init(_ name: String, in directory: DirectoryHandle) {
    (base, self.name) = (.directory(directory), name)
  }

  /// The directory; nil for a path.
  private var directory: DirectoryHandle? {
    if case .directory(let directory) = base { directory } else { nil }
  }

  /// The file system that performs calls on the file.
  package var fileSystem: any FileSystem {
    switch base {
    case .directory(let directory): directory.fileSystem
    case .fileSystem(let fileSystem): fileSystem
    }
  }

  package var location: FileLocation { self }

  /// The path for messages, from the time when the directory was opened.
  package var path: String {
    guard let directory else { return name }
    return name == "." ? directory.path : directory.path + "/" + name
  }

  package var description: String { path }

  /// The path for libraries that accept only paths.
  ///
  /// It leads through the open directory, if the system has `/proc`.
  package var libraryPath: String {
    guard let directory else { return name }
    let link = "/proc/self/fd/\(directory.descriptor)"
    guard (try? exists(FileLocation(link, in: fileSystem))) == true else { return path }
    return link + "/" + name
  }

  /// Returns the location of a file beside this one, with a suffix added to the name.
  package func appending(_ suffix: String) -> FileLocation {
    guard let directory else { return FileLocation(name + suffix, in: fileSystem) }
    return FileLocation(name + suffix, in: directory)
  }

  /// Returns the location of another file in the same directory.
  package func beside(_ name: String) -> FileLocation {
    guard let directory else {
      return FileLocation(directoryName(self.name) + "/" + name, in: fileSystem)
    }
    return FileLocation(name, in: directory)
  }

  /// The descriptor of the directory, which `openat` and similar calls take with the name.
  var descriptor: Int32 { directory?.descriptor ?? AT_FDCWD }

  /// Syncs the names in the directory of the file.
  package func synchronizeDirectory() throws(SystemError) {
    if let directory { return try directory.synchronize() }
    try syncDirectory(FileLocation(directoryName(name), in: fileSystem))
  }
}
