import Files
import Locks
import Synchronization

/// The class files of a store's directory, of any format, under a commit log.
///
/// A class is in a file of its name, whose keys are row IDs and whose values are records;
/// `NamedBuffers` has names for keys. A class that was never saved has no file. Files are open for
/// reading only, mapped into memory. Changes are made in new files, which then take their place.
///
/// Safe on any threads. Look-ups run at the same time, and wait for no disk.
public final class ClassFiles<Format: ClassFileFormat>: DirectoryFiles {
  /// How a directory is opened, and how new files in it are laid out.
  public typealias Configuration = ClassFileConfiguration<Format>

  /// The path of the directory, without symbolic links.
  public var location: String { directory.path }
  /// Whether the store was opened for reading only, or this is a snapshot.
  public var isReadOnly: Bool { isFrozen || directory.isReadOnly }

  /// The files of ordered tables.
  public let ordered: OrderedFiles
  /// The files of values that are stored outside of records.
  public let external: ExternalFiles?

  /// The directory.
  public let directory: StoreDirectory
  let tables: TableFiles
  /// The size from which on files are laid out for large ones, when a test has set one.
  private let sizeLimit = Locked<UInt64?>(nil)
  /// Whether these are the files of a snapshot, whatever the directory has since.
  let isFrozen: Bool
  /// Whether every table that has a file has a number.
  let areAllNumbered = Atomic(false)

  /// The format, with its settings; the last property, so that the others have fixed places.
  public let format: Format

  /// Opens a directory, and locks it unless it is opened for reading only.
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

  /// Makes the files of a snapshot.
  init(frozen files: ClassFiles, _ tables: TableFiles, _ ordered: OrderedFiles) {
    (directory, format, external) = (files.directory, files.format, files.external)
    (self.tables, self.ordered) = (tables, ordered)
    isFrozen = true
  }

  /// Gives a new store its first file, by which it is known, and refuses stores of other formats.
  private func markAsOwn(_ durability: Durability) throws(StoreError) {
    let hasLog = try directory.hasLog()
    guard try directory.entries().allSatisfy({ Format.tableName(ofFile: $0) == nil }) else {
      return
    }
    if hasLog {
      throw StoreError(
        .ioError,
        """
        There is a store in this directory, and none of \(Format.fileSuffix) files: use its own \
        backend.
        """,
        at: .init(path: location))
    }
    if isReadOnly { return }
    // Under a name by which it is found and removed, should this process die.
    let new = try newFile(
      StoreDirectory.newPrefix + "first", for: tables.buffers, mark: nil,
      isSynced: durability != .none)
    try format.writer(new, sizedAs: nil).finish()
    try systemErrors(at: new.location.path) {
      try renameFile(new.location.file, directory.file(tables.buffers.fileName))
    }
    if durability != .none { try directory.synchronize() }
  }

  /// Closes all files and releases the lock; closing twice is harmless.
  ///
  /// A reader keeps the file that it has.
  public func close() {
    tables.close()
    ordered.close()
    if !isFrozen { directory.unlock() }
  }

  // MARK: Tables

  /// The number of a table; its file is opened when there is one.
  ///
  /// - Throws: ``StoreError`` with `invalidName` when the name can't be the name of a file or is
  ///   longer than 230 bytes, `inUse`, `damaged`, `ioError` or `closed`.
  public func table(named name: String) throws(StoreError) -> TableID {
    if let reason = Format.reasonAgainst(name) {
      throw StoreError(
        .invalidName, "A class can't be stored under the name \"\(name)\": \(reason).")
    }
    let (number, file) = try tables.number(of: name)
    _ = try file.file()
    return TableID(index: number)
  }

  /// The names of the tables that have records, in no order.
  ///
  /// Complexity: linear in the number of files; those that are not open are opened for it.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func tableNames() throws(StoreError) -> [String] {
    var names: [String] = []
    for name in try fileTables().union(tables.needed) where Format.reasonAgainst(name) == nil {
      if try recordCount(in: table(named: name)) > 0 { names.append(name) }
    }
    return names
  }

  /// The tables and named buffers that have files, where a dead writer has left them, too.
  func fileTables() throws(StoreError) -> Set<String> {
    try tables.checkOpen()
    if isFrozen { return try tables.namesOfFiles() }
    var names = Set(tables.all.filter(\.isRedirected).map(\.name))
    for name in try directory.entries().compactMap(Format.tableName) {
      let location = try location(ofTable: name)
      // A directory of such a name is no table, and must not keep the tables from being used.
      guard try isRegular(location.file) else { continue }
      if try format.isClassFile(location) { names.insert(name) }
    }
    return names
  }

  private func isRegular(_ file: FileLocation) throws(StoreError) -> Bool {
    try systemErrors(at: location) { try isRegularFile(file) }
  }

  /// The name in the directory that the file of a table, or of the named buffers, has or would
  /// have.
  public func fileName(ofTable name: String) -> String {
    tables.all.first { $0.name == name }?.fileName ?? Format.fileName(ofTable: name)
  }

  /// Where the file of a table, or of the named buffers, is or would be.
  func location(ofTable name: String) throws(StoreError) -> ClassFileLocation {
    ClassFileLocation(
      try directory.file(fileName(ofTable: name)), className: name, isReadOnly: isReadOnly)
  }

  /// Takes note of files that the manifest lists.
  public func need(_ fileNames: [String]) throws(StoreError) {
    tables.need(fileNames)
  }

  /// The name of a table that has a number.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func name(of table: TableID) throws(StoreError) -> String { try tables.file(table).name }

  /// How often the file of a table has been replaced.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func generation(of table: TableID) throws(StoreError) -> UInt64 {
    try tables.file(table).generation
  }

  /// Refuses the empty name.
  ///
  /// - Throws: ``StoreError`` with `invalidName`.
  public func check(bufferName: String) throws(StoreError) {
    if bufferName.isEmpty {
      throw StoreError(.invalidName, "The name of a buffer must not be empty.")
    }
  }

  /// The file of a table, or of the named buffers.
  func file(named name: String) throws(StoreError) -> TableFile {
    name == StoreDirectory.buffers ? tables.buffers : try tables.file(table(named: name))
  }

  /// The size from which on files are laid out for large ones, when a test has set one.
  package var testedSizeLimit: UInt64? {
    get { sizeLimit.withLock { $0 } }
    set { sizeLimit.withLock { $0 = newValue } }
  }
}
