import Synchronization

/// The files this process has open as databases.
///
/// The C library locks with POSIX record locks, which have a trap: closing *any* descriptor of a
/// file releases the locks that the process holds on it. So a header must not be read from a file
/// that is open as a database here, and that needs to be known under whatever name it is reached.
enum OpenFiles {
  private static let files = Mutex<Set<FileIdentity>>([])

  /// Runs an opening of a file, with its status and header as they are before.
  ///
  /// - Returns: what the closure returns, after taking note of the file.
  static func opening<Result: Sendable>(
    _ path: String,
    _ open: (_ before: FileStatus?, _ header: HashFileHeader?) throws -> Result
  ) throws -> Result {
    try files.withLock { files in
      let before = fileStatus(path)
      var header: HashFileHeader?
      if let before, !files.contains(before.identity) {
        let bytes = try? TokyoCabinet.firstBytes(of: path, count: HashFileHeader.size)
        header = bytes.flatMap { HashFileHeader(bytes: $0) }
      }
      let result = try open(before, header)
      if let now = fileStatus(path) { files.insert(now.identity) }
      return result
    }
  }

  /// Runs a closing of a file and forgets it, even when the closing throws.
  static func closing(_ identity: FileIdentity?, _ close: () throws -> Void) throws {
    try files.withLock { files in
      defer { if let identity { files.remove(identity) } }
      try close()
    }
  }

  /// Runs a replacement of an open file by another of the same name.
  static func replacing(_ path: String, _ replace: () throws -> Void) throws {
    try files.withLock { files in
      let before = fileStatus(path)?.identity
      defer {
        if let before { files.remove(before) }
        if let now = fileStatus(path) { files.insert(now.identity) }
      }
      try replace()
    }
  }

  /// Reads the first bytes of a file; nil when this process has it open as a database.
  static func firstBytes(of path: String, count: Int) throws -> [UInt8]? {
    try files.withLock { files in
      if let status = fileStatus(path), files.contains(status.identity) { return nil }
      return try TokyoCabinet.firstBytes(of: path, count: count)
    }
  }
}
