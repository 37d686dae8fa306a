import CDBBackend
package import Files
package import StoreEngine
import TokyoCabinetBackend

/// The formats of stores in directories, for tools and tests that support all of them.
package enum StoreFormat: String, CaseIterable, Sendable {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb

  /// The backend of such stores.
  package var backend: any DirectoryBackend.Type {
    switch self {
    case .tokyoCabinet: TokyoCabinetBackend.self
    case .cdb: CDBBackend.self
    }
  }

  /// Returns the format of a store, which may be damaged, by the names in its directory.
  package init(ofDirectoryWith names: [String]) {
    self = names.contains { $0.hasSuffix(".cdb") } ? .cdb : .tokyoCabinet
  }

  /// Opens a directory.
  package func open(
    _ directory: String, access: StoreAccess = .readWrite, createIfMissing: Bool = true,
    durability: Durability = .full, sharing: StoreSharing = .exclusive,
    lockTimeout: Duration = .zero, limits: CheckpointLimits = .init(),
    key: (any StoreKey)? = nil, in fileSystem: any FileSystem = SystemFiles.shared
  ) throws(StoreError) -> any DirectoryBackend {
    func open<Format>(
      _: LoggedBackend<Format>.Type
    ) throws(StoreError) -> LoggedBackend<Format> {
      var configuration = ClassFileConfiguration<Format>(
        access: access, createIfMissing: createIfMissing, durability: durability)
      (configuration.sharing, configuration.lockTimeout) = (sharing, lockTimeout)
      configuration.fileSystem = fileSystem
      return try LoggedBackend(
        directory: directory, configuration: configuration, limits: limits, key: key)
    }
    return switch self {
    case .tokyoCabinet: try open(TokyoCabinetBackend.self)
    case .cdb: try open(CDBBackend.self)
    }
  }

  private var fileSystemBackend: any FileSystemBackend.Type {
    switch self {
    case .tokyoCabinet: TokyoCabinetBackend.self
    case .cdb: CDBBackend.self
    }
  }

  /// Checks a store in a file system.
  package func check(
    _ directory: String, key: (any StoreKey)?, in fileSystem: any FileSystem
  ) throws(StoreError) -> StoreCheck {
    try fileSystemBackend.check(directory: directory, key: key, in: fileSystem) { _ in }
  }

  /// Salvages a store in a file system.
  package func salvage(
    from directory: String, to target: String, key: (any StoreKey)?, in fileSystem: any FileSystem
  ) throws(StoreError) -> SalvageReport {
    try fileSystemBackend.salvage(from: directory, to: target, key: key, in: fileSystem) { _ in }
  }

  /// Encrypts or decrypts a store in a file system.
  package func convert(
    _ directory: String, from old: (any StoreKey)?, to new: (any StoreKey)?,
    in fileSystem: any FileSystem
  ) throws(StoreError) {
    try fileSystemBackend.convert(directory: directory, from: old, to: new, in: fileSystem)
  }

  /// Changes the key of an encrypted store in a file system.
  package func changeKey<Key: StoreKey>(
    _ directory: String, from old: Key, to new: Key, in fileSystem: any FileSystem
  ) throws(StoreError) {
    try fileSystemBackend.changeKey(directory: directory, from: old, to: new, in: fileSystem)
  }
}
