package import Files
internal import Locks

/// A dictionary that is stored in a constant database.
///
///     let store = CDBStringKeyStore("Settings.cdb")
///     try store.open()
///     store["volume"] = 11
///     store["title"] = "Bicycle Race"
///     store["obsolete"] = nil
///     try store.save()
///
/// Keys and values are read from the file on demand, and values stay in memory afterwards. Changes
/// are kept in memory until ``save()``, which writes a whole new file and replaces the old one. So
/// the file is complete at any time, and a failed save has changed nothing and lost no changes. A
/// missing file is an empty dictionary.
///
/// ``CDBStringKeyStore`` has strings as keys and ``CDBValue`` as values; codecs make it a
/// dictionary of any other types:
///
///     let songs = CDBStore(
///       "Songs.cdb", keys: CDBIntegerKeys<UInt32>(), values: CDBCodableValues<Song>())
///
/// Safe on any thread; threads take turns, and wait for a save. Codecs are called meanwhile, and
/// must not call the store.
public final class CDBStore<Keys: CDBKeyCodec, Values: CDBValueCodec>: Sendable {
  /// The type of the keys.
  public typealias Key = Keys.Key
  /// The type of the values.
  public typealias Value = Values.Value

  /// The file.
  public let path: String
  /// The width of the numbers in the file.
  public let format: CDBFormat
  let keyCodec: Keys
  let valueCodec: Values
  let state: Locked<State>
  /// The process that created the store.
  private let process = currentProcess()
  let fileSystem: any FileSystem

  struct State: Sendable {
    var isOpen = false
    /// The file as it was last opened or saved; nil if there was none.
    var reader: CDBReader?
    var identity: FileIdentity?
    /// The values that were read, by the bytes of their keys.
    var cache: [[UInt8]: Value] = [:]
    /// The unsaved changes.
    var changes: [[UInt8]: Change] = [:]
    var plan = SavePlan()
    var failure: (any Error)?
  }

  struct Change: Sendable {
    let key: Key
    /// The new value; nil to delete the key.
    let value: Value?
  }

  /// Creates a store for a file; ``open()`` opens it.
  public convenience init(
    _ path: String, keys: Keys, values: Values, format: CDBFormat = .classic
  ) {
    self.init(path, keys: keys, values: values, format: format, in: SystemFiles.shared)
  }

  /// Creates a store for a file in a file system.
  package init(
    _ path: String, keys: Keys, values: Values, format: CDBFormat = .classic,
    in fileSystem: any FileSystem
  ) {
    self.path = path
    self.format = format
    self.fileSystem = fileSystem
    keyCodec = keys
    valueCodec = values
    state = Locked(State())
  }

  // A forked child process must not save; that is left to its parent.
  deinit { if process == currentProcess() { try? close() } }

  // MARK: Opening and closing

  /// Opens the file; has no effect if it is open.
  ///
  /// It removes the files of processes that died while saving, see
  /// ``CDBWriter/removeLeftovers(of:)``.
  ///
  /// Complexity: linear in the number of files in the directory, whose names are read; the file
  /// itself is not read.
  ///
  /// - Throws: ``CDBError`` with `noPermission`, `ioError`, `damaged`, `otherFormat` or `forked`. A
  ///   missing file is not an error; the first save creates it.
  public func open() throws {
    try checkProcess()
    try state.withLock { state in
      if state.isOpen { return }
      // Leftovers are harmless, so failing to read or change the directory is not an error.
      try? CDBWriter.removeLeftovers(of: path, in: fileSystem)
      try openFile(&state)
      state.isOpen = true
    }
  }

  /// Opens the file that has the name now; a failure changes nothing.
  func openFile(_ state: inout State) throws {
    let identity = try fileIdentity()
    let reader = identity == nil ? nil : try CDBReader(file, format: format)
    (state.identity, state.reader) = (identity, reader)
  }

  /// Saves changes and closes the file; has no effect if it is closed.
  ///
  /// A store closes automatically when it is released, but can't report a failed save then.
  ///
  /// Complexity: as ``save()``.
  ///
  /// - Throws: ``CDBError``, as ``save()`` does; the store stays open then.
  public func close() throws {
    if process != currentProcess() { return }
    try state.withLock { state in
      guard state.isOpen else { return }
      try save(&state)
      state.plan.cancel()
      (state.isOpen, state.reader, state.identity) = (false, nil, nil)
      state.cache = [:]
    }
  }

  /// Whether the store is open.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Whether there is a file.
  ///
  /// It is also false if the system can't tell; ``open()`` throws the reason.
  public var exists: Bool { (try? fileIdentity()) != nil }

  private var file: FileLocation { FileLocation(path, in: fileSystem) }

  /// Returns the identity of the file to which the path leads now; nil if there is none.
  func fileIdentity() throws(CDBError) -> FileIdentity? {
    do throws(SystemError) {
      return try FileStatus.find(file)?.identity
    } catch { throw CDBError(error) }
  }

  /// Removes the values that were read from memory, but no unsaved changes.
  ///
  /// Complexity: linear in the number of values that were read.
  public func emptyCache() { state.withLock { $0.cache = [:] } }

  /// The last error where none could be thrown: in a subscript, a sequence or a scheduled save.
  ///
  /// It remains until ``clearFailure()``.
  public var failure: (any Error)? { state.withLock { $0.failure } }

  /// Removes ``failure``.
  public func clearFailure() { state.withLock { $0.failure = nil } }

  func note(_ error: any Error) { state.withLock { $0.failure = error } }

  /// Throws in a forked child process.
  ///
  /// Its saves and those of its parent would undo each other.
  func checkProcess() throws(CDBError) {
    guard process != currentProcess() else { return }
    throw CDBError(
      .forked, path: path,
      message: "The store was made before this process was forked, and belongs to its parent. "
        + "Make another one in the child.")
  }

  func checkOpen(_ state: State) throws(CDBError) {
    if !state.isOpen {
      throw CDBError(.closed, path: path, message: "The store is closed; call open() first.")
    }
  }
}

/// A store with string keys and values of several types.
public typealias CDBStringKeyStore = CDBStore<CDBStringKeys, CDBValues>

/// A store with data keys and values of several types.
public typealias CDBDataKeyStore = CDBStore<CDBDataKeys, CDBValues>

extension CDBStore where Keys == CDBStringKeys, Values == CDBValues {
  /// Creates a store for a file with string keys and values of several types.
  public convenience init(_ path: String) {
    self.init(path, keys: CDBStringKeys(), values: CDBValues())
  }
}

extension CDBStore where Keys == CDBDataKeys, Values == CDBValues {
  /// Creates a store for a file with data keys and values of several types.
  public convenience init(_ path: String) {
    self.init(path, keys: CDBDataKeys(), values: CDBValues())
  }
}
