#if DEBUG
  package import StoredObjectsCore
  package import TestFiles

  extension TestedBackend {
    /// Opens a directory that fails when a test says so.
    package func open(
      _ disk: CrashingDirectory, durability: Durability = .full, limits: CheckpointLimits = .init()
    ) throws -> any DirectoryBackend {
      try open(disk.path, durability: durability, limits: limits)
    }
  }

  extension LoggedBackend where Files: DirectoryFiles {
    /// Opens a directory that fails when a test says so.
    package convenience init(
      _ disk: CrashingDirectory, limits: CheckpointLimits = .init(), key: (any StoreKey)? = nil
    ) throws {
      try self.init(directory: disk.path, limits: limits, key: key)
    }
  }
#endif
