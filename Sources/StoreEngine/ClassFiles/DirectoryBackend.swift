/// A backend that keeps its store in a directory, in any file format.
///
///     let backends: [any DirectoryBackend.Type] = [TokyoCabinetBackend.self, CDBBackend.self]
///     let check = try backends[0].check(directory: "Music", key: nil) { _ in }
///
/// ``LoggedBackend`` over ``ClassFiles`` conforms; see its methods for documentation.
public protocol DirectoryBackend: StoreBackend {
  /// Opens a directory and locks it, without waiting.
  ///
  /// - Parameters:
  ///   - directory: The path.
  ///   - access: The access to the store.
  ///   - createIfMissing: Whether to create a missing directory.
  ///   - durability: The durability of saves.
  ///   - limits: The limits that cause a checkpoint.
  ///   - key: The key of an encrypted store; a new store is encrypted with it.
  /// - Throws: ``StoreError``.
  init(
    directory: String, access: StoreAccess, createIfMissing: Bool, durability: Durability,
    limits: CheckpointLimits, key: (any StoreKey)?
  ) throws(StoreError)

  /// Checks a store without changing it, even if it does not open.
  ///
  /// - Throws: ``StoreError``.
  static func check(
    directory: String, key: (any StoreKey)?, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck

  /// Copies everything readable of a damaged store to a new one.
  ///
  /// - Throws: ``StoreError``.
  static func salvage(
    from directory: String, to target: String, key: (any StoreKey)?,
    progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> SalvageReport

  /// Encrypts a store in place.
  ///
  /// - Throws: ``StoreError``.
  static func encrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void
  ) throws(StoreError)

  /// Decrypts a store in place.
  ///
  /// - Throws: ``StoreError``.
  static func decrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void
  ) throws(StoreError)

  /// Changes the key of an encrypted store.
  ///
  /// - Throws: ``StoreError``.
  static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key
  ) throws(StoreError)

  /// The number of bytes of a torn save at the end of the log, if the opening found one.
  var tornTailByteCount: Int? { get }

  /// Moves the pending saves from the log to the files.
  ///
  /// - Throws: ``StoreError``.
  func checkpoint() throws(StoreError)

  /// Rewrites files without gaps.
  ///
  /// - Returns: The number of bytes saved.
  /// - Throws: ``StoreError``.
  func compact(progress: (IntegrityProgress) -> Void) throws(StoreError) -> Int

  /// Copies the store as it is now.
  ///
  /// - Throws: ``StoreError``.
  func backup(to directory: String, progress: (IntegrityProgress) -> Void) throws(StoreError)

  /// Copies the store record by record, as it is now, and lets a closure change the copy before the
  /// copy gets its name.
  ///
  /// - Throws: ``StoreError``, and errors of the closure.
  func copy(
    to directory: String, progress: (IntegrityProgress) -> Void,
    finishing: (any DirectoryBackend) throws(StoreError) -> Void
  ) throws(StoreError)

  /// Returns the state of the commit log; nil if the store has none.
  ///
  /// - Throws: ``StoreError``.
  func logState() throws(StoreError) -> CommitLogState?

  /// Returns the size of the file of a class, or of the named buffers; 0 if there is no file.
  ///
  /// - Throws: ``StoreError``.
  func fileSize(of name: String) throws(StoreError) -> Int

  /// Returns the states of the files of ordered tables.
  ///
  /// - Throws: ``StoreError``.
  func orderedTableStates() throws(StoreError) -> [OrderedTableState]
}

extension LoggedBackend: DirectoryBackend {
  /// Opens a directory and locks it, without waiting.
  ///
  /// Complexity: linear in the size of the log and in the number of files; an encrypted store also
  /// takes the time of its key. For a store that gets class files for this machine, also linear in
  /// their sizes.
  ///
  /// - Throws: ``StoreError``.
  public convenience init(
    directory: String, access: StoreAccess, createIfMissing: Bool, durability: Durability,
    limits: CheckpointLimits, key: (any StoreKey)?
  ) throws(StoreError) {
    let configuration = Configuration(
      access: access, createIfMissing: createIfMissing, durability: durability)
    try self.init(directory: directory, configuration: configuration, limits: limits, key: key)
  }
}
