package import Files

extension ClassFiles {
  /// Opens a directory for reading only, without a lock.
  ///
  /// Complexity: constant time; opens the directory.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public convenience init(reading directory: String) throws(StoreError) {
    try self.init(reading: directory, in: SystemFiles.shared)
  }

  /// Opens a directory in a file system for reading only.
  package convenience init(
    reading directory: String, in fileSystem: any FileSystem
  ) throws(StoreError) {
    var configuration = ClassFileConfiguration<Format>(access: .readOnly)
    configuration.fileSystem = fileSystem
    try self.init(directory: directory, configuration: configuration)
  }

  /// Opens an existing directory for reading and writing.
  ///
  /// Complexity: constant time; opens and locks the directory.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  public convenience init(writing directory: String) throws(StoreError) {
    try self.init(writing: directory, in: SystemFiles.shared)
  }

  /// Opens an existing directory in a file system for reading and writing.
  package convenience init(
    writing directory: String, in fileSystem: any FileSystem
  ) throws(StoreError) {
    var configuration = ClassFileConfiguration<Format>(createIfMissing: false)
    configuration.fileSystem = fileSystem
    try self.init(directory: directory, configuration: configuration)
  }
}
