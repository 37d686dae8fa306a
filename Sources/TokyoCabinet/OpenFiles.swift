import Files
import Locks

/// The files that this process has open as databases.
///
/// The C library locks with POSIX record locks, which have a trap: closing *any* descriptor of a
/// file releases the locks that the process holds on it. So the header must not be read from a file
/// that is open as a database here, whatever name it is reached by.
enum OpenFiles {
  private static let files = Locked<Set<FileIdentity>>([])

  /// Runs the opening of a file, with its previous status and header.
  ///
  /// - Returns: The identity of the file, which is registered as open.
  static func opening(
    _ path: String, _ open: (_ before: FileStatus?, _ header: HashFileHeader?) throws -> Void
  ) throws -> FileIdentity? {
    try files.withLock { files in
      let before = try status(path)
      var header: HashFileHeader?
      if let before, !files.contains(before.identity) {
        let bytes = try? Files.firstBytes(of: path, count: HashFileHeader.size)
        header = bytes.flatMap { HashFileHeader(bytes: $0) }
      }
      try open(before, header)
      return note(path, in: &files)
    }
  }

  /// Runs the closing of a file and removes it from the open files, even if closing throws.
  static func closing(_ identity: FileIdentity?, _ close: () throws -> Void) throws {
    try files.withLock { files in
      defer { if let identity { files.remove(identity) } }
      try close()
    }
  }

  /// Runs the replacement of an open file by another of the same name, and updates the identity.
  static func replacing(
    _ identity: inout FileIdentity?, at path: String, _ replace: () throws -> Void
  ) throws {
    var new = identity
    defer { identity = new }
    try files.withLock { files in
      defer {
        if let old = new { files.remove(old) }
        new = note(path, in: &files)
      }
      try replace()
    }
  }

  private static func note(_ path: String, in files: inout Set<FileIdentity>) -> FileIdentity? {
    guard let status = try? FileStatus.find(path) else { return nil }
    files.insert(status.identity)
    return status.identity
  }

  /// Returns the status of a file; nil if it does not exist.
  private static func status(_ path: String) throws -> FileStatus? {
    do {
      return try FileStatus.find(path)
    } catch {
      throw TokyoCabinetError(
        error.kind == .denied ? .noPermission : .openFailed, operation: "fstatat", path: path,
        message: "the operating system does not say whether the file exists",
        systemError: error.number)
    }
  }

  /// Reads the first bytes of a file; nil if this process has it open as a database.
  static func firstBytes(of path: String, count: Int) throws -> [UInt8]? {
    try files.withLock { files in
      if let status = try FileStatus.find(path), files.contains(status.identity) { return nil }
      return try Files.firstBytes(of: path, count: count)
    }
  }
}
