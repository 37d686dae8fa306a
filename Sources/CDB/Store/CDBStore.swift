package import Files
internal import Locks

/// A dictionary that is kept in a constant database.
///
///     let store = CDBStringKeyStore("Settings.cdb")
///     try store.open()
///     store["volume"] = 11
///     store["title"] = "Bicycle Race"
///     store["obsolete"] = nil
///     try store.save()
///
/// Keys and values are read from the file when they are asked for, and values that were read stay
/// in memory. Changes are kept in memory until ``save()``, which writes a new file, all of it, and
/// puts it in the place of the old one: the file is whole at any time, and a save that fails has
/// changed nothing and forgotten nothing. A file that is missing is an empty dictionary.
///
/// ``CDBStringKeyStore`` has texts for keys and ``CDBValue`` for values; codecs make it a
/// dictionary of anything else:
///
///     let songs = CDBStore(
///       "Songs.cdb", keys: CDBIntegerKeys<UInt32>(), values: CDBCodableValues<Song>())
///
/// Safe on any number of threads, which take turns; a save makes others wait. Codecs are called
/// meanwhile, and must not call the store.
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
  /// The process that has made it.
  private let process = currentProcess()
  let fileSystem: any FileSystem

  struct State: Sendable {
    var isOpen = false
    /// The file as it was opened or saved last; nil when there was none.
    var reader: CDBReader?
    var identity: FileIdentity?
    /// Values that were read, by the bytes of their keys.
    var cache: [[UInt8]: Value] = [:]
    /// What has not been saved.
    var changes: [[UInt8]: Change] = [:]
    var plan = SavePlan()
    var failure: (any Error)?
  }

  struct Change: Sendable {
    let key: Key
    /// Nil for a key that is to be deleted.
    let value: Value?
  }

  /// Names a file; ``open()`` opens it.
  public convenience init(
    _ path: String, keys: Keys, values: Values, format: CDBFormat = .classic
  ) {
    self.init(path, keys: keys, values: values, format: format, in: SystemFiles.shared)
  }

  /// Names a file of a file system.
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

  // What a child process that was forked has of it is its parent's to save.
  deinit { if process == currentProcess() { try? close() } }

  // MARK: Opening and closing

  /// Opens the file; harmless when it is open.
  ///
  /// What a process has left that died in a save is cleared away, see
  /// ``CDBWriter/removeLeftovers(of:)``.
  ///
  /// Complexity: linear in the number of files in the directory, whose names are read; the file
  /// itself is not.
  ///
  /// - Throws: ``CDBError`` with `noPermission`, `ioError`, `damaged` or `otherFormat`. A missing
  ///   file is no error, and made by the first save.
  public func open() throws {
    try checkProcess()
    try state.withLock { state in
      if state.isOpen { return }
      // Leftovers do no harm, so that a directory that can't be read or written to is no obstacle.
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

  /// Saves what has changed and gives the file back; harmless when it is closed.
  ///
  /// The store closes by itself when nobody holds it any more, but can't say then that saving
  /// failed.
  ///
  /// - Throws: as ``save()``: it stays open then.
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
  /// False, too, when the system does not say; ``open()`` says why.
  public var exists: Bool { (try? fileIdentity()) != nil }

  private var file: FileLocation { FileLocation(path, in: fileSystem) }

  /// Which file the path leads to now; nil when there is none.
  func fileIdentity() throws(CDBError) -> FileIdentity? {
    do throws(SystemError) {
      return try FileStatus.find(file)?.identity
    } catch { throw CDBError(error) }
  }

  /// Forgets the values that were read, but no change that is not saved.
  public func emptyCache() { state.withLock { $0.cache = [:] } }

  /// What went wrong where nothing could be thrown: in a subscript, a sequence or a planned save.
  ///
  /// It stays until ``clearFailure()``.
  public var failure: (any Error)? { state.withLock { $0.failure } }

  /// Forgets ``failure``.
  public func clearFailure() { state.withLock { $0.failure = nil } }

  func note(_ error: any Error) { state.withLock { $0.failure = error } }

  /// Refuses a child process that was forked, whose saves and its parent's would undo each other.
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

/// A store with texts for keys, and values of several types.
public typealias CDBStringKeyStore = CDBStore<CDBStringKeys, CDBValues>

/// A store with bytes for keys, and values of several types.
public typealias CDBDataKeyStore = CDBStore<CDBDataKeys, CDBValues>

extension CDBStore where Keys == CDBStringKeys, Values == CDBValues {
  /// Names a file of texts and values of several types; ``open()`` opens it.
  public convenience init(_ path: String) {
    self.init(path, keys: CDBStringKeys(), values: CDBValues())
  }
}

extension CDBStore where Keys == CDBDataKeys, Values == CDBValues {
  /// Names a file of bytes and values of several types; ``open()`` opens it.
  public convenience init(_ path: String) {
    self.init(path, keys: CDBDataKeys(), values: CDBValues())
  }
}
