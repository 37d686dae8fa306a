/// A backend that keeps its store in a directory, whatever the format of its files is.
///
///     let backends: [any DirectoryBackend.Type] = [TokyoCabinetBackend.self, CDBBackend.self]
///     let check = try backends[0].check(directory: "Music", key: nil) { _ in }
///
/// ``LoggedBackend`` over ``ClassFiles`` is one; its methods have the documentation.
public protocol DirectoryBackend: StoreBackend {
  /// Opens a directory and locks it, without waiting.
  ///
  /// - Parameters:
  ///   - directory: The path.
  ///   - access: The access that the store is opened with.
  ///   - createIfMissing: Whether a missing directory is made.
  ///   - durability: What a save survives.
  ///   - limits: When the log is folded.
  ///   - key: The key of an encrypted store; with one a new store is encrypted.
  /// - Throws: ``StoreError``.
  init(
    directory: String, access: StoreAccess, createIfMissing: Bool, durability: Durability,
    limits: CheckpointLimits, key: (any StoreKey)?
  ) throws(StoreError)

  /// Checks a store that may not even open, without changing it.
  ///
  /// - Throws: ``StoreError``.
  static func check(
    directory: String, key: (any StoreKey)?, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck

  /// Copies all that is still readable of a damaged store into a new one.
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

  /// Gives an encrypted store another key.
  ///
  /// - Throws: ``StoreError``.
  static func changeKey<Key: StoreKey>(
    directory: String, from oldKey: Key, to newKey: Key
  ) throws(StoreError)

  /// The bytes behind the last whole save in the log, when the opening found a torn one there.
  var tornTailByteCount: Int? { get }

  /// Folds what is pending into the files.
  ///
  /// - Throws: ``StoreError``.
  func checkpoint() throws(StoreError)

  /// Writes files without gaps.
  ///
  /// - Returns: The number of bytes saved.
  /// - Throws: ``StoreError``.
  func compact(progress: (IntegrityProgress) -> Void) throws(StoreError) -> Int

  /// Copies the store as it is at this moment.
  ///
  /// - Throws: ``StoreError``.
  func backup(to directory: String, progress: (IntegrityProgress) -> Void) throws(StoreError)

  /// Copies the store record by record, as it is at this moment, and has a closure change the copy
  /// before it gets its name.
  ///
  /// - Throws: ``StoreError``; what the closure throws.
  func copy(
    to directory: String, progress: (IntegrityProgress) -> Void,
    finishing: (any DirectoryBackend) throws(StoreError) -> Void
  ) throws(StoreError)

  /// The state of the commit log; nil when the store has none.
  ///
  /// - Throws: ``StoreError``.
  func logState() throws(StoreError) -> CommitLogState?

  /// The size of the file of a class, or of the named buffers; 0 when it has none.
  ///
  /// - Throws: ``StoreError``.
  func fileSize(of name: String) throws(StoreError) -> Int

  /// The files of ordered tables.
  ///
  /// - Throws: ``StoreError``.
  func orderedTableStates() throws(StoreError) -> [OrderedTableState]
}

extension LoggedBackend: DirectoryBackend where Files: DirectoryFiles {
  /// Opens a directory and locks it, without waiting.
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
