package import Files

extension LoggedBackend where Files: DirectoryFiles {
  /// Encrypts a store in place.
  ///
  ///     try TokyoCabinetBackend.encrypt(directory: "Music", key: key)
  ///
  /// A copy is made beside the store, in a directory with `.converting` at the end of its name,
  /// read back and compared. The two then change names, in one step, and the old files are removed.
  /// After a crash the store is whole, encrypted or not; the same call finishes the job. Of a store
  /// that is encrypted with this key already only leftovers are removed.
  ///
  /// Removed files may be on the disk for some time: see <doc:Encryption>.
  ///
  /// Complexity: linear in the size of the store. There must be room for it twice.
  ///
  /// - Parameters:
  ///   - directory: The store; nobody may have it open.
  ///   - key: What it opens with afterwards.
  ///   - progress: Hears of each class.
  /// - Throws: ``StoreError`` with `inUse`, `wrongKey` (it is encrypted with another key),
  ///   `ioError` (there are files in the directory that are no part of the store, or the file
  ///   system can't exchange names), `noSpace`, `damaged`. The store is as it was then, unless it
  ///   could only not be removed.
  public static func encrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try StoreConversion<Files>(directory, from: nil, to: key).run(progress: progress)
  }

  /// Decrypts a store in place, by the same steps as ``encrypt(directory:key:progress:)``.
  ///
  /// - Throws: as that; `wrongKey` when the key is not that of the store.
  public static func decrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try StoreConversion<Files>(directory, from: key, to: nil).run(progress: progress)
  }

  /// Converts a store that is not encrypted, reading its records through another backend.
  package static func convert(
    directory: String, to key: (any StoreKey)?, progress: (IntegrityProgress) -> Void,
    view: @escaping (any StoreBackend) -> any StoreBackend
  ) throws(StoreError) {
    try StoreConversion<Files>(directory, from: nil, to: key, view: view).run(progress: progress)
  }

  /// Encrypts or decrypts a store of a file system; a key that is nil is none.
  package static func convert(
    directory: String, from oldKey: (any StoreKey)?, to newKey: (any StoreKey)?,
    in fileSystem: any FileSystem
  ) throws(StoreError) {
    try StoreConversion<Files>(directory, from: oldKey, to: newKey, in: fileSystem).run { _ in }
  }

  /// Gives an encrypted store another key, or passphrase.
  ///
  /// Only its key file is written: after a crash the one or the other opens it. What the records
  /// are sealed with stays the same, see <doc:Encryption>.
  ///
  /// - Throws: ``StoreError`` with `inUse`, `wrongKey`, `notEncrypted`, `noSpace` or `ioError`.
  public static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key
  ) throws(StoreError) {
    try changeKey(directory: directory, from: oldKey, to: newKey, in: SystemFiles.shared)
  }

  /// Gives an encrypted store of a file system another key.
  package static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key, in fileSystem: any FileSystem
  ) throws(StoreError) {
    let files = try Files(writing: directory, in: fileSystem)
    defer { try? files.close() }
    try Sealing.changeKey(of: files, from: oldKey, to: newKey)
  }
}

extension Sealing {
  /// Writes the key file anew, for another key.
  package static func changeKey<Key: StoreKey>(
    of files: some RecordFiles, from oldKey: Key, to newKey: Key
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

  /// Gives errors of a key the path of the store.
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
