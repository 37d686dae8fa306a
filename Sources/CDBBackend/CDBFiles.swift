import CDB
import Files
import Locks
public import StoreEngine

/// The constant databases of a store's directory, under its commit log.
public final class CDBFiles: DirectoryFiles {
  /// The path of the directory, without symbolic links.
  public var location: String { directory.path }
  /// Whether the store was opened for reading only.
  public var isReadOnly: Bool { directory.isReadOnly }

  /// The files of ordered tables.
  public let ordered: OrderedFiles

  /// The directory.
  public let directory: StoreDirectory
  let buffers: TableFile
  private let tables = Locked(Tables())
  /// How large classic files may grow, when a test has said so.
  private let sizeLimit = Locked<UInt64?>(nil)

  private struct Tables {
    var files: [TableFile] = []
    /// The files that the manifest lists.
    var needed: Set<String> = []
    var isClosed = false

    /// There are at most 255, so that a table is soon found.
    func number(_ name: String) -> Int? { files.firstIndex { $0.name == name } }
  }

  /// Opens a directory and locks it, without waiting.
  ///
  /// - Throws: `StoreError` with `inUse` or `ioError`.
  public init(directory: String, configuration: Configuration = .init()) throws {
    let directory = try StoreDirectory(
      directory, isReadOnly: configuration.access == .readOnly,
      createIfMissing: configuration.createIfMissing)
    self.directory = directory
    ordered = OrderedFiles(directory)
    buffers = TableFile(name: StoreDirectory.buffers, directory: directory)
    try markAsCDB(configuration.durability)
  }

  /// Gives a new store its first file, by which it is known, and refuses stores of other backends.
  private func markAsCDB(_ durability: Durability) throws {
    let hasLog = try directory.hasLog()
    guard try directory.entries().allSatisfy({ Names.table(ofFile: $0) == nil }) else { return }
    if hasLog {
      throw StoreError(
        .ioError,
        "There is a store in this directory, and none of constant databases: use its own backend.",
        at: .init(path: location))
    }
    if isReadOnly { return }
    // Under a name by which it is found and removed, should this process die.
    let new = try directory.file(StoreDirectory.newPrefix + "first")
    let rights = try directory.rights(ofNew: buffers.fileName)
    try cdbErrors(className: nil) {
      try CDBWriter(new, format: .classic, rights: rights)
        .finish(synchronize: durability != .none)
    }
    try systemErrors(at: new.path) { try renameFile(new, directory.file(buffers.fileName)) }
    if durability != .none { try directory.synchronize() }
  }

  /// Opens a directory for reading only.
  ///
  /// - Throws: `StoreError` with `inUse` or `ioError`.
  public convenience init(reading directory: String) throws {
    try self.init(directory: directory, configuration: Configuration(access: .readOnly))
  }

  /// Opens a directory that exists for reading and writing.
  ///
  /// - Throws: `StoreError` with `inUse` or `ioError`.
  public convenience init(writing directory: String) throws {
    try self.init(directory: directory, configuration: Configuration(createIfMissing: false))
  }

  /// Gives all maps and the lock back; closing twice is harmless.
  public func close() {
    let files = tables.withLock { tables in
      tables.isClosed = true
      return tables.files
    }
    for file in files + [buffers] { file.close() }
    ordered.close()
    directory.unlock()
  }

  // MARK: Tables

  /// The number of a table; its file is mapped when there is one.
  ///
  /// - Throws: `StoreError` with `invalidName` when the name can't be the name of a file or is
  ///   longer than 230 bytes, `damaged`, `ioError` or `closed`.
  public func table(named name: String) throws -> TableID {
    try Names.check(name)
    let (number, file) = try tables.withLock { tables in
      if tables.isClosed { throw Self.closedError }
      if let known = tables.number(name) { return (known, tables.files[known]) }
      let file = TableFile(
        name: name, directory: directory, isNeeded: tables.needed.contains(name))
      tables.files.append(file)
      return (tables.files.count - 1, file)
    }
    _ = try file.reader()
    return TableID(index: number)
  }

  /// The names of the tables that have records, in no order.
  ///
  /// Complexity: linear in the number of files; those that are not open are opened for it.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func tableNames() throws -> [String] {
    try Set(fileNames()).union(neededNames).filter { name in
      guard name != StoreDirectory.buffers, !OrderedFiles.isFile(name) else { return false }
      return try recordCount(in: table(named: name)) > 0
    }
  }

  /// The tables without whose files records are lost, among other files.
  private var neededNames: Set<String> {
    tables.withLock { tables in
      tables.needed.union(tables.files.filter(\.isNeeded).map(\.name))
    }
  }

  /// The tables and named buffers that have files, where a dead writer has left them, too.
  func fileNames() throws -> [String] {
    try checkOpen()
    // A directory of such a name is no table, and must not keep the tables from being used.
    let names = try directory.entries().compactMap(Names.table)
      .filter { name in
        let file = try directory.file(Names.file(of: name))
        return try systemErrors(at: location) { try FileStatus.find(file)?.isRegular ?? true }
      }
    let redirected = allFiles.filter { $0.fileName != Names.file(of: $0.name) }
    return Array(Set(names).union(redirected.map(\.name)))
  }

  private var allFiles: [TableFile] { tables.withLock { $0.files } + [buffers] }

  /// The name in the directory that the file of a table, or of the named buffers, has or would
  /// have.
  public func fileName(ofTable name: String) -> String {
    allFiles.first { $0.name == name }?.fileName ?? Names.file(of: name)
  }

  /// Takes note of files that the manifest lists.
  public func need(_ fileNames: [String]) throws {
    if fileNames.contains(buffers.name) { buffers.need() }
    let known = tables.withLock { tables in
      tables.needed.formUnion(fileNames)
      return tables.files
    }
    for file in known where fileNames.contains(file.name) { file.need() }
  }

  /// The name of a table that has a number.
  public func name(of table: TableID) throws -> String { try file(table).name }

  /// How often the file of a table has been replaced.
  public func generation(of table: TableID) throws -> UInt64 { try file(table).generation }

  /// Refuses the empty name.
  public func check(bufferName: String) throws { try Names.check(buffer: bufferName) }

  /// The file of a table that this backend has numbered.
  func file(_ table: TableID) throws -> TableFile {
    try tables.withLock { tables in
      if tables.isClosed { throw Self.closedError }
      precondition(tables.files.indices.contains(table.index), "a table of another backend")
      return tables.files[table.index]
    }
  }

  /// How large a classic file may grow, when a test has said so.
  package var testedSizeLimit: UInt64? {
    get { sizeLimit.withLock { $0 } }
    set { sizeLimit.withLock { $0 = newValue } }
  }

  func checkOpen() throws {
    if tables.withLock({ $0.isClosed }) { throw Self.closedError }
  }

  private static var closedError: StoreError { StoreError(.closed, "The backend has been closed.") }
}
