#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Something that leads to a file: a path, or a name in an open directory.
package protocol FileAddress: Sendable {
  /// The place it leads to.
  var location: FileLocation { get }
}

extension String: FileAddress {
  /// The file of this path.
  package var location: FileLocation { FileLocation(self) }
}

/// Where a file is: a name in an open directory, or a path.
///
/// A name in an open directory leads to the same directory for as long as that is open, also when
/// it is renamed and another one takes its path. Either leads to a file of one ``FileSystem``.
package struct FileLocation: FileAddress, CustomStringConvertible {
  private let base: Base

  private enum Base {
    case directory(DirectoryHandle)
    /// A name that is a path.
    case fileSystem(any FileSystem)
  }

  /// The name in the directory, or the path.
  package let name: String

  /// The file of a path.
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

  /// The file system that its calls go to.
  package var fileSystem: any FileSystem {
    switch base {
    case .directory(let directory): directory.fileSystem
    case .fileSystem(let fileSystem): fileSystem
    }
  }

  package var location: FileLocation { self }

  /// The path, for people: where the file was when the directory was opened.
  package var path: String {
    guard let directory else { return name }
    return name == "." ? directory.path : directory.path + "/" + name
  }

  package var description: String { path }

  /// A path for code that takes paths only: it leads through the open directory, where the system
  /// has `/proc`.
  package var libraryPath: String {
    guard let directory else { return name }
    let link = "/proc/self/fd/\(directory.descriptor)"
    guard (try? exists(FileLocation(link, in: fileSystem))) == true else { return path }
    return link + "/" + name
  }

  /// Another file beside this one, whose name has a suffix.
  package func appending(_ suffix: String) -> FileLocation {
    guard let directory else { return FileLocation(name + suffix, in: fileSystem) }
    return FileLocation(name + suffix, in: directory)
  }

  /// Another file in the same directory.
  package func beside(_ name: String) -> FileLocation {
    guard let directory else {
      return FileLocation(directoryName(self.name) + "/" + name, in: fileSystem)
    }
    return FileLocation(name, in: directory)
  }

  /// The descriptor of the directory, which `openat` and its like take together with the name.
  var descriptor: Int32 { directory?.descriptor ?? AT_FDCWD }

  /// Brings the names in the directory of the file to the disk.
  package func synchronizeDirectory() throws(SystemError) {
    if let directory { return try directory.synchronize() }
    try syncDirectory(FileLocation(directoryName(name), in: fileSystem))
  }
}
