package import Files

/// A ``DirectoryBackend`` whose static methods work on stores in any file system.
package protocol FileSystemBackend {
  /// Checks a store, see ``DirectoryBackend``.
  static func check(
    directory: String, key: (any StoreKey)?, in fileSystem: any FileSystem,
    progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck

  /// Salvages a store, see ``DirectoryBackend``.
  static func salvage(
    from directory: String, to target: String, key: (any StoreKey)?,
    in fileSystem: any FileSystem, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> SalvageReport

  /// Encrypts or decrypts a store; nil means no key.
  static func convert(
    directory: String, from oldKey: (any StoreKey)?, to newKey: (any StoreKey)?,
    in fileSystem: any FileSystem
  ) throws(StoreError)

  /// Changes the key of an encrypted store.
  static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key, in fileSystem: any FileSystem
  ) throws(StoreError)
}

extension LoggedBackend: FileSystemBackend {}
