import Files
@_exported public import TokyoCabinetFile

extension HashFileHeader {
  /// Reads the header of a file with plain file reads.
  ///
  /// Complexity: one read of 256 bytes. Safe on any thread.
  ///
  /// - Returns: The header, or nil if the file does not begin with one.
  /// - Throws: ``TokyoCabinetError`` with `noFile`, `readFailed`, or `inUse` if this process has
  ///   the file open as a database (which has the values).
  public static func read(path: String) throws -> HashFileHeader? {
    do {
      guard let bytes = try OpenFiles.firstBytes(of: path, count: size) else {
        throw TokyoCabinetError(
          .inUse, operation: "read", path: path, message: "open as a database in this process")
      }
      return HashFileHeader(bytes: bytes)
    } catch let error as SystemError {
      throw TokyoCabinetError(
        error.isMissing ? .noFile : .readFailed, operation: "read", path: path,
        message: "the header could not be read", systemError: error.number)
    }
  }
}
