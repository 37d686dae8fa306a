import Files
import Locks
public import StoreEngine
import Synchronization
import TokyoCabinetFile

/// Keeps a store in a directory with one Tokyo Cabinet hash file for each class.
///
///     let backend = try TokyoCabinetBackend(directory: "Music")
///
/// The directory is that of a BNRPersistence store: a file is named as its class, its keys are row
/// IDs (4 bytes, least significant first), its values records; the file `NamedBuffers` has names
/// for keys. A class that was never saved has no file. `Commit.log` holds the saves that are not in
/// the class files yet. What happens to them is told at `LoggedBackend`.
///
/// Safe on any threads. Look-ups run at the same time, and wait for no disk.
public typealias TokyoCabinetBackend = LoggedBackend<TokyoCabinetFiles>

extension LoggedBackend where Files == TokyoCabinetFiles {
  /// How a store's directory is opened, and how new files in it are laid out.
  public typealias Configuration = TokyoCabinetFiles.Configuration

  /// Opens a directory and locks it, without waiting.
  ///
  /// What an earlier process has left unfinished is finished first. Class files are opened when
  /// they are first needed. But a store that this library opens for writing for the first time,
  /// such as one of BNRPersistence, gets class files in the byte order of the C library here, made
  /// like those of `compact()`; one that is damaged stays as it is.
  ///
  /// With a key the store is encrypted, if it is new, and opened, if it is encrypted.
  ///
  /// - Throws: `StoreError` with `inUse` when another process, or another backend in this one, has
  ///   it open, and one of the two for writing; `damaged` when saves in the log are spoilt;
  ///   `encrypted`, `notEncrypted` or `wrongKey` when the key is not that of the store;
  ///   `ioError` when there is no such directory, or no permission.
  public convenience init(
    directory: String, configuration: Configuration = .init(), key: (any StoreKey)? = nil
  ) throws {
    let files = try TokyoCabinetFiles(directory: directory, configuration: configuration)
    let isNew: Bool
    do {
      isNew = try !files.isReadOnly && !files.directory.hasFile(StoreDirectory.manifest)
    } catch {
      files.close()
      throw error
    }
    try self.init(files: files, durability: configuration.durability, key: key)
    if isNew { try convertForeignFiles() }
  }

  private func convertForeignFiles() throws {
    do {
      let names = try files.foreignFileNames()
      if names.isEmpty { return }
      _ = try replaceFiles {
        try files.prepareConversion(of: names, mark: $0, durability: durability)
      }
    } catch {
      // The opening has failed; what can't be folded now is in the log.
      try? close()
      throw error
    }
  }
}

/// The hash files of a store's directory, under its commit log.
///
/// They are open for reading only, mapped into memory. Changes are made in new files, which then
/// take their place.
public final class TokyoCabinetFiles: DirectoryFiles {
  /// The path of the directory, without symbolic links.
  public var location: String { directory.path }
  /// Whether the store was opened for reading only.
  public var isReadOnly: Bool { directory.isReadOnly }

  /// The files of ordered tables.
  public let ordered: OrderedFiles

  /// The directory.
  public let directory: StoreDirectory
  let configuration: Configuration
  let buffers: TableFile
  private let tables = Locked(Tables())
  /// How large files may grow, when a test has said so.
  private let sizeLimitForTesting = Atomic<UInt64>(0)

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
    self.configuration = configuration
    buffers = TableFile(name: StoreDirectory.buffers, directory: directory)
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

  /// Closes all files and releases the lock; closing twice is harmless.
  ///
  /// Who is reading goes on with the file that he has.
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

  /// The number of a table; its file is opened when there is one.
  ///
  /// - Throws: `StoreError` with `invalidName` when the name can't be the name of a file or is
  ///   longer than 230 bytes, `inUse`, `damaged`, `ioError` or `closed`.
  public func table(named name: String) throws -> TableID {
    try Names.check(name)
    let (id, file) = try tables.withLock { tables in
      if tables.isClosed { throw Self.closedError }
      if let known = tables.number(name) { return (known, tables.files[known]) }
      let file = TableFile(
        name: name, directory: directory, isNeeded: tables.needed.contains(name))
      tables.files.append(file)
      return (tables.files.count - 1, file)
    }
    _ = try file.file()
    return TableID(index: id)
  }

  /// The names of the tables that have records, in no order.
  ///
  /// Complexity: linear in the number of files; those that are not open are opened for it.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func tableNames() throws -> [String] {
    try checkOpen()
    let needed = neededNames
    return try fileNames().union(needed).filter { name in
      guard Names.isTable(name), try needed.contains(name) || isHashFile(name) else {
        return false
      }
      return try recordCount(in: table(named: name)) > 0
    }
  }

  /// The files without which records are lost.
  private var neededNames: Set<String> {
    tables.withLock { tables in
      tables.needed.union(tables.files.filter(\.isNeeded).map(\.name))
    }
  }

  /// Whether a file is a hash database; anything else that lies in the directory is passed over.
  func isHashFile(_ name: String) throws -> Bool {
    let place = try directory.file(fileName(ofTable: name))
    return try storeErrors(at: place.path) {
      guard try isRegularFile(place) else { return false }
      let bytes = try firstBytes(of: place, count: HashFileHeader.size)
      return HashFileHeader(bytes: bytes)?.type == 0
    }
  }

  /// The names of all files, those included that a dead writer has left under other names.
  func fileNames() throws -> Set<String> {
    let files = tables.withLock { $0.files } + [buffers]
    let redirected = files.filter { $0.fileName != $0.name }.map(\.name)
    return Set(try directory.entries()).union(redirected)
  }

  /// The name in the directory that the file of a table, or of the named buffers, has.
  public func fileName(ofTable name: String) -> String {
    if name == buffers.name { return buffers.fileName }
    let file = tables.withLock { tables in tables.number(name).map { tables.files[$0] } }
    return file?.fileName ?? name
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

  /// Refuses the empty name, and names with a NUL.
  public func check(bufferName: String) throws { try Names.check(buffer: bufferName) }

  /// The file of a table that this backend has numbered.
  func file(_ table: TableID) throws -> TableFile {
    try tables.withLock { tables in
      if tables.isClosed { throw Self.closedError }
      precondition(tables.files.indices.contains(table.index), "a table of another backend")
      return tables.files[table.index]
    }
  }

  func checkOpen() throws {
    if tables.withLock({ $0.isClosed }) { throw Self.closedError }
  }

  static var closedError: StoreError { StoreError(.closed, "the backend has been closed") }

  /// How large a file without 64-bit offsets may grow, when a test has said so; 0 otherwise.
  package var testedSizeLimit: UInt64 {
    get { sizeLimitForTesting.load(ordering: .relaxed) }
    set { sizeLimitForTesting.store(newValue, ordering: .relaxed) }
  }
}
