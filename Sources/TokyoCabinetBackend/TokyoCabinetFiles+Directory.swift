public import StoredObjectsCore

extension TokyoCabinetFiles: DirectoryFiles {
  /// Opens a directory for reading only.
  ///
  /// - Throws: `StoreError` with `inUse` or `ioError`.
  public convenience init(reading directory: String) throws {
    try self.init(directory: directory, configuration: Configuration(access: .readOnly))
  }

  /// The size of a file.
  package func fileSize(at path: String) throws -> Int { try sizeOfFile(at: path) }
}
