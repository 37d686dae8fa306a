import Files
import Locks
import Synchronization

/// The class files of a store's directory, of any format, below a commit log.
///
/// A class has a file of its name, whose keys are row IDs and whose values are records; the keys of
/// `NamedBuffers` are names. A class that was never saved has no file. Files are opened for reading
/// only and mapped into memory. Changes are written to new files, which then replace the old ones.
///
/// Safe on any thread. Look-ups run concurrently, and wait for no disk.
public final class ClassFiles<Format: ClassFileFormat>: RecordSource {
  /// The options for opening a directory and for the layout of new files in it.
  public typealias Configuration = ClassFileConfiguration<Format>

  /// The path of the directory, without symbolic links.
  public var location: String { directory.path }
  /// Whether the store is open for reading only, or this is a snapshot.
  public var isReadOnly: Bool { isFrozen || directory.isReadOnly }

  /// The files of ordered tables.
  public let ordered: OrderedFiles
  /// The files of external values.
  public let external: ExternalFiles

  /// The directory.
  public let directory: StoreDirectory
  let tables: TableFiles
  /// The size from which files get the layout of large files, if a test has set it.
  private let sizeLimit = Locked<UInt64?>(nil)
  /// Whether these are the files of a snapshot, independent of later files in the directory.
  let isFrozen: Bool
  /// Whether every table with a file has a number.
  let areAllNumbered = Atomic(false)

  /// The format and its settings; the last property, so that the others have fixed offsets.
  public let format: Format

  /// Opens a directory, and locks it unless it is opened for reading only.
  ///
  /// Complexity: constant time, after waiting for the lock. If a store of the format is known by
  /// its file of named buffers, also linear in the number of files in the directory.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  public init(directory: String, configuration: Configuration = .init()) throws(StoreError) {
    let isReadOnly = configuration.access == .readOnly
    let directory = try StoreDirectory(
      directory, isReadOnly: isReadOnly,
      lock: isReadOnly ? .none : configuration.sharing == .processes ? .shared : .alone,
      createIfMissing: configuration.createIfMissing, timeout: configuration.lockTimeout,
      in: configuration.fileSystem)
    self.directory = directory
    isFrozen = false
    format = configuration.format
    ordered = OrderedFiles(directory)
    external = ExternalFiles(directory)
    tables = TableFiles(directory, configuration.format)
    if Format.isKnownByBuffers { try markAsOwn(configuration.durability) }
  }

  /// Creates the files of a snapshot.
  init(frozen files: ClassFiles, _ tables: TableFiles, _ ordered: OrderedFiles) {
    (directory, format, external) = (files.directory, files.format, files.external)
    (self.tables, self.ordered) = (tables, ordered)
    isFrozen = true
  }

  /// Creates the file by which a new store is recognized; throws for a store of another format.
  private func markAsOwn(_ durability: Durability) throws(StoreError) {
    let hasLog = try directory.hasLog()
    guard try directory.entries().allSatisfy({ Format.tableName(ofFile: $0) == nil }) else {
      return
    }
    if hasLog {
      throw StoreError(
        .ioError,
        """
        The directory has a store without \(Format.fileSuffix) files: open it with the backend \
        that made it.
        """,
        at: .init(path: location))
    }
    if isReadOnly { return }
    // With this temporary name the file is found and removed if the process dies.
    let new = try newFile(
      StoreDirectory.newPrefix + "first", for: tables.buffers, mark: nil,
      isSynced: durability != .none)
    try format.writer(new, sizedAs: nil).finish()
    try systemErrors(at: new.location.path) {
      try renameFile(new.location.file, directory.file(tables.buffers.fileName))
    }
    if durability != .none { try directory.synchronize() }
  }

  /// Closes all files and releases the lock; closing twice has no effect.
  ///
  /// A reader keeps its file.
  ///
  /// Complexity: linear in the number of tables.
  public func close() {
    tables.close()
    ordered.close()
    if !isFrozen { directory.unlock() }
  }

  // MARK: Tables

  /// Returns the number of a table, and opens its file if there is one.
  ///
  /// Complexity: linear in the number of tables; the first call opens the file.
  ///
  /// - Throws: ``StoreError`` with `invalidName` if the name can't be a file name or is longer than
  ///   230 bytes, `inUse`, `damaged`, `ioError` or `closed`.
  public func table(named name: String) throws(StoreError) -> TableID {
    if let reason = Format.reasonAgainst(name) {
      throw StoreError(
        .invalidName, "A class can't be stored under the name \"\(name)\": \(reason).")
    }
    let (number, file) = try tables.number(of: name)
    _ = try file.file()
    return TableID(index: number)
  }

  /// Returns the names of the tables that have records, in no particular order.
  ///
  /// Complexity: linear in the number of files; it opens those that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func tableNames() throws(StoreError) -> [String] {
    var names: [String] = []
    for name in try fileTables().union(tables.needed) where Format.reasonAgainst(name) == nil {
      if try recordCount(in: table(named: name)) > 0 { names.append(name) }
    }
    return names
  }

  /// Returns the tables and named buffers with files, including those that a dead process left.
  func fileTables() throws(StoreError) -> Set<String> {
    try tables.checkOpen()
    if isFrozen { return try tables.namesOfFiles() }
    var names = Set(tables.all.filter(\.isRedirected).map(\.name))
    for name in try directory.entries().compactMap(Format.tableName) {
      let location = try location(ofTable: name)
      // A directory with such a name is not a table, and must not block access to the tables.
      guard try isRegular(location.file) else { continue }
      if try format.isClassFile(location) { names.insert(name) }
    }
    return names
  }

  private func isRegular(_ file: FileLocation) throws(StoreError) -> Bool {
    try systemErrors(at: location) { try isRegularFile(file) }
  }

  /// Returns the name of the file of a table, or of the named buffers, whether or not it exists.
  ///
  /// Complexity: linear in the number of tables.
  public func fileName(ofTable name: String) -> String {
    tables.all.first { $0.name == name }?.fileName ?? Format.fileName(ofTable: name)
  }

  /// Returns the location of the file of a table, or of the named buffers, even if it is missing.
  func location(ofTable name: String) throws(StoreError) -> ClassFileLocation {
    ClassFileLocation(
      try directory.file(fileName(ofTable: name)), className: name, isReadOnly: isReadOnly)
  }

  /// Records the files that the manifest lists.
  ///
  /// If one of them is missing when it is opened, that is damage and no empty table.
  ///
  /// Complexity: O(t · n) for t tables and n names.
  public func need(_ fileNames: [String]) { tables.need(fileNames) }

  /// Returns the name of a table.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func name(of table: TableID) throws(StoreError) -> String { try tables.file(table).name }

  /// Returns the number of times the file of a table has been replaced.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func generation(of table: TableID) throws(StoreError) -> UInt64 {
    try tables.file(table).generation
  }

  /// Throws if a name is empty.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `invalidName`.
  public func check(bufferName: String) throws(StoreError) {
    if bufferName.isEmpty {
      throw StoreError(.invalidName, "The name of a buffer must not be empty.")
    }
  }

  /// Returns the file of a table, or of the named buffers.
  func file(named name: String) throws(StoreError) -> TableFile {
    name == StoreDirectory.buffers ? tables.buffers : try tables.file(table(named: name))
  }

  /// The size from which files get the layout of large files, if a test has set it.
  package var testedSizeLimit: UInt64? {
    get { sizeLimit.withLock { $0 } }
    set { sizeLimit.withLock { $0 = newValue } }
  }
}
