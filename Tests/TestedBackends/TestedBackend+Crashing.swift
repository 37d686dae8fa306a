package import StoredObjectsCore
package import TestFiles

extension TestedBackend {
  /// Opens a directory that fails when a test requests it.
  package func open(
    _ disk: CrashingDirectory, durability: Durability = .full, sharing: StoreSharing = .exclusive,
    limits: CheckpointLimits = .init()
  ) throws -> any DirectoryBackend {
    try open(disk.path, durability: durability, sharing: sharing, limits: limits, in: disk)
  }
}

extension LoggedBackend {
  /// Opens a directory that fails when a test requests it.
  package convenience init(
    _ disk: CrashingDirectory, limits: CheckpointLimits = .init(), key: (any StoreKey)? = nil
  ) throws {
    try self.init(files: ClassFiles(disk), limits: limits, key: key)
  }
}

extension ClassFiles {
  /// Opens a directory that fails when a test requests it.
  package convenience init(_ disk: CrashingDirectory) throws {
    var configuration = ClassFileConfiguration<Format>()
    configuration.fileSystem = disk
    try self.init(directory: disk.path, configuration: configuration)
  }
}
