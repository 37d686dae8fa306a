/// A backend that keeps its store in a directory, in any file format.
///
///     let backends: [any DirectoryBackend.Type] = [TokyoCabinetBackend.self, CDBBackend.self]
///     let check = try backends[0].check(directory: "Music", key: nil) { _ in }
///
/// ``LoggedBackend`` over ``ClassFiles`` conforms; see its methods for documentation.
public protocol DirectoryBackend: StoreBackend {
  /// Opens a directory and locks it, without waiting.
  ///
  /// Complexity: linear in the size of the log and in the number of files; an encrypted store also
  /// takes the time of its key.
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
  /// Complexity: linear in the size of the store.
  ///
  /// - Throws: ``StoreError``.
  static func check(
    directory: String, key: (any StoreKey)?, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck

  /// Copies everything readable of a damaged store to a new one.
  ///
  /// Complexity: linear in the size of the store.
  ///
  /// - Throws: ``StoreError``.
  static func salvage(
    from directory: String, to target: String, key: (any StoreKey)?,
    progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> SalvageReport

  /// Encrypts a store in place.
  ///
  /// Complexity: linear in the size of the store, which is written once more.
  ///
  /// - Throws: ``StoreError``.
  static func encrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void
  ) throws(StoreError)

  /// Decrypts a store in place.
  ///
  /// Complexity: linear in the size of the store, which is written once more.
  ///
  /// - Throws: ``StoreError``.
  static func decrypt(
    directory: String, key: any StoreKey, progress: (IntegrityProgress) -> Void
  ) throws(StoreError)

  /// Changes the key of an encrypted store.
  ///
  /// Complexity: the time of the costs of both keys. It waits for the disk twice, for the key file
  /// and its name.
  ///
  /// - Throws: ``StoreError``.
  static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key
  ) throws(StoreError)

  /// The number of bytes of a torn save at the end of the log, if the opening found one.
  var tornTailByteCount: Int? { get }

  /// Moves the pending saves from the log to the files.
  ///
  /// Complexity: linear in the size of the log and of the files that it changes.
  ///
  /// - Throws: ``StoreError``.
  func checkpoint() throws(StoreError)

  /// Rewrites files without gaps.
  ///
  /// Complexity: linear in the size of the files that it rewrites.
  ///
  /// - Returns: The number of bytes saved.
  /// - Throws: ``StoreError``.
  func compact(progress: (IntegrityProgress) -> Void) throws(StoreError) -> Int

  /// Copies the store as it is now.
  ///
  /// Complexity: linear in the size of the store.
  ///
  /// - Throws: ``StoreError``.
  func backup(to directory: String, progress: (IntegrityProgress) -> Void) throws(StoreError)

  /// Copies the store record by record, as it is now, and lets a closure change the copy before the
  /// copy gets its name.
  ///
  /// Complexity: linear in the size of the store, plus the time of the closure.
  ///
  /// - Throws: ``StoreError``, and errors of the closure.
  func copy(
    to directory: String, progress: (IntegrityProgress) -> Void,
    finishing: (any DirectoryBackend) throws(StoreError) -> Void
  ) throws(StoreError)

  /// Returns the state of the commit log; nil if the store has none.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError``.
  func logState() throws(StoreError) -> CommitLogState?

  /// Returns the size of the file of a class, or of the named buffers; 0 if there is no file.
  ///
  /// Complexity: linear in the number of tables.
  ///
  /// - Throws: ``StoreError``.
  func fileSize(of name: String) throws(StoreError) -> Int

  /// Returns the states of the files of ordered tables.
  ///
  /// Complexity: O(log n) for each table; it opens the files that are not open.
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
