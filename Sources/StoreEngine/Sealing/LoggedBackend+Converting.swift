package import Files

extension LoggedBackend {
  /// Encrypts a store in place.
  ///
  ///     try TokyoCabinetBackend.encrypt(directory: "Music", key: key)
  ///
  /// It makes a copy beside the store, in a directory whose name ends with `.converting`, reads it
  /// back and compares it. The two then exchange their names in one step, and the old files are
  /// removed. After a crash the store is whole, either encrypted or not; the same call finishes the
  /// work. If the store is encrypted with this key already, the call only removes leftovers.
  ///
  /// The content of removed files may stay on the disk for some time: see <doc:Encryption>.
  ///
  /// Complexity: linear in the size of the store. There must be room for it twice.
  ///
  /// - Parameters:
  ///   - directory: The store, which must not be open anywhere.
  ///   - key: The key that opens the store afterwards.
  ///   - progress: Called with the progress of each class.
  /// - Throws: ``StoreError`` with `inUse`, `wrongKey` (the store is encrypted with another key),
  ///   `ioError` (the directory has files that don't belong to the store, or the file system can't
  ///   exchange names), `noSpace` or `damaged`. The store is unchanged then, except if only the
  ///   removal of the old files failed: it is encrypted in that case.
  public static func encrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try StoreConversion<Format>(directory, from: nil, to: key).run(progress: progress)
  }

  /// Decrypts a store in place, by the same steps as ``encrypt(directory:key:progress:)``.
  ///
  /// Complexity: as ``encrypt(directory:key:progress:)``.
  ///
  /// - Throws: ``StoreError``, as ``encrypt(directory:key:progress:)`` does; `wrongKey` if the key
  ///   is not that of the store.
  public static func decrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try StoreConversion<Format>(directory, from: key, to: nil).run(progress: progress)
  }

  /// Converts an unencrypted store, reading its records through another backend.
  package static func convert(
    directory: String, to key: (any StoreKey)?, progress: (IntegrityProgress) -> Void,
    view: @escaping (any StoreBackend) -> any StoreBackend
  ) throws(StoreError) {
    try StoreConversion<Format>(directory, from: nil, to: key, view: view).run(progress: progress)
  }

  /// Encrypts or decrypts a store in a file system; nil means no key.
  package static func convert(
    directory: String, from oldKey: (any StoreKey)?, to newKey: (any StoreKey)?,
    in fileSystem: any FileSystem
  ) throws(StoreError) {
    try StoreConversion<Format>(directory, from: oldKey, to: newKey, in: fileSystem).run { _ in }
  }

  /// Changes the key or passphrase of an encrypted store.
  ///
  /// Only the key file is written: after a crash, either the old or the new key opens the store.
  /// The key that seals the records stays the same, see <doc:Encryption>.
  ///
  /// Complexity: the time of the costs of both keys. It waits for the disk twice, for the key file
  /// and its name.
  ///
  /// - Throws: ``StoreError`` with `inUse`, `wrongKey`, `notEncrypted`, `noSpace` or `ioError`.
  public static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key
  ) throws(StoreError) {
    try changeKey(directory: directory, from: oldKey, to: newKey, in: SystemFiles.shared)
  }

  /// Changes the key of an encrypted store in a file system.
  package static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key, in fileSystem: any FileSystem
  ) throws(StoreError) {
    let files = try ClassFiles<Format>(writing: directory, in: fileSystem)
    defer { files.close() }
    try Sealing.changeKey(of: files, from: oldKey, to: newKey)
  }
}

extension Sealing {
  /// Rewrites the key file for another key.
  package static func changeKey<Key: StoreKey>(
    of files: ClassFiles<some ClassFileFormat>, from oldKey: Key, to newKey: Key
  ) throws(StoreError) {
    let path = files.location
    guard let bytes = try files.keyFile() else {
      throw StoreError(.notEncrypted, "The store has no key to change.", at: .init(path: path))
    }
    let content = try naming(path) { () throws(StoreError) in
      try oldKey.rewrap(KeyFile.content(bytes, path: path), for: newKey)
    }
    try files.setKeyFile(KeyFile.bytes(content))
  }

  /// Runs a closure, and adds the path of the store to errors of its key.
  package static func naming<Result>(_ path: String, _ body: () throws(StoreError) -> Result)
    throws(StoreError) -> Result
  {
    do {
      return try body()
    } catch  where error.location.path == nil {
      throw StoreError(error.code, error.message, at: .init(path: path))
    }
  }
}
