/// The class files below a commit log: the requirements of a ``LoggedBackend`` for a file format.
///
/// Files are changed in two steps, so that any number of them change at the same moment, that of
/// the log record between the steps. ``prepare(_:mark:durability:)`` writes new files beside the
/// old ones, and ``publish(_:)`` replaces the old ones. A crash before the record leaves the old
/// files; after a later crash, the next opening publishes the new files.
public protocol RecordFiles: RecordSource {
  /// The files of ordered tables, which have the same format for all.
  ///
  /// Create them with the other files, close them with the others, and skip them in ``inspect()``.
  /// Their names end with `.ordered` and `.index`.
  var ordered: OrderedFiles { get }

  /// The files of values that are stored outside of records; nil, the default, for none.
  ///
  /// Their names end with `.external`.
  var external: ExternalFiles? { get }

  /// Returns the name of a table.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func name(of table: TableID) throws(StoreError) -> String

  /// Returns the number of times the file of a table has been replaced, which scan positions use.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func generation(of table: TableID) throws(StoreError) -> UInt64

  /// Returns whether each row has a record in the file of a table, in the order of the rows.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func hasRecords(_ rows: [UInt32], in table: TableID) throws(StoreError) -> [Bool]

  /// Refuses names of buffers that the files can't store.
  ///
  /// - Throws: ``StoreError`` with `invalidName`.
  func check(bufferName: String) throws(StoreError)

  /// Writes and syncs new files beside those that a change set touches.
  ///
  /// Nothing changes for readers. A failure leaves nothing behind.
  ///
  /// Files that can store a mark get one, in a place that other programs ignore, and their
  /// replacements contain it. It is returned by ``mark(of:)`` and ``mark(ofNewFile:)``.
  ///
  /// - Returns: The names of the new files and of the files that they replace.
  /// - Throws: `rowExists`, `noSpace`, `ioError`, `damaged`.
  func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws(StoreError) -> [Replacement]

  /// Returns the mark in the file of a table, or of the named buffers; nil if the file does not
  /// exist or has no mark.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func mark(of name: String) throws(StoreError) -> FileMark?

  /// Returns the mark in an unpublished new file; nil if the file does not exist or has no mark.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func mark(ofNewFile newName: String) throws(StoreError) -> FileMark?

  /// The maximum size of a record, or of a named buffer with its name; larger ones are refused.
  var maximumRecordByteCount: Int { get }

  /// Replaces old files with new ones, and makes them visible to readers.
  ///
  /// Meanwhile no new reads begin, so that all files change at the same moment. The names are
  /// synced later, see ``synchronizeNames()``.
  ///
  /// Files that were already published, by a process that then died, are skipped.
  ///
  /// If the files are open for reading only, readers see the new ones nevertheless.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func publish(_ replacements: [Replacement]) throws(StoreError)

  /// Syncs the names of all files.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func synchronizeNames() throws(StoreError)

  /// Removes new files that have not been published and never will be.
  func discard(_ replacements: [Replacement])

  /// Removes unpublished new files of a process that died before it could record them in the log,
  /// and earlier logs of other epochs.
  ///
  /// - Returns: The names of the existing files of tables and ordered tables; none if files without
  ///   records are kept.
  /// - Throws: ``StoreError`` with `ioError`.
  func removeStrays(keepingLogs epochs: [UInt64]) throws(StoreError) -> [String]

  /// Returns the tables whose files have marks and no records; by default none.
  func emptyTables(among names: [String]) -> [String]

  /// Removes the files of such tables where possible, so that they are like tables that were never
  /// saved; by default none.
  ///
  /// Generations don't change: readers see no rows before and after.
  func removeEmpty(_ names: [String])

  /// Returns the size of all files that a change set touches.
  ///
  /// These are the files that ``prepare(_:mark:durability:)`` copies.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func byteCount(touchedBy changes: PendingFootprint) throws(StoreError) -> Int

  /// Returns the open files that a change set touches, so that they can be held; by default none.
  func openFiles(touchedBy changes: PendingFootprint) -> [any Sendable]

  /// Writes new files without gaps beside those that have gaps; by default none.
  ///
  /// Nothing changes for readers. A failure leaves nothing behind.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError`, `damaged`.
  func prepareCompaction(
    mark: FileMark, durability: Durability, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> Compaction

  /// Inspects the files before a check reads their records, see ``StoreBackend/inspect()``.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func inspect() throws(StoreError) -> StoreInspection

  /// Returns the file of the commit log; nil if it does not exist and must not be created.
  ///
  /// The log syncs its name.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func openLog() throws(StoreError) -> StoreFile?

  /// Returns an earlier log, which is needed until its content is in the files; nil, the default,
  /// if there is none of this epoch.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile?

  /// Replaces the log with a new one; the old log becomes the earlier log of its epoch.
  ///
  /// - Parameters:
  ///   - epoch: The epoch of the log.
  ///   - isSynced: Whether the names are synced.
  ///   - prepare: Writes the header of the new log.
  /// - Returns: The new log; nil, the default, if there can be only one log.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError` if nothing has changed, or with
  ///   `reopenNeeded` if something has.
  func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile?

  /// Removes an earlier log whose saves are in the files; its file may be kept for the next log.
  func endEarlierLog(_ epoch: UInt64)

  /// Removes the file that was kept for the next log.
  func removeSpareLog()

  /// Whether a log already exists.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func hasLog() throws(StoreError) -> Bool

  /// Returns the key file, which identifies an encrypted store; nil if it does not exist.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func keyFile() throws(StoreError) -> [UInt8]?

  /// Replaces the key file: afterwards either the old or the new one is complete and durable.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`, also if these files can't store a key
  ///   file.
  func setKeyFile(_ bytes: [UInt8]) throws(StoreError)

  /// Returns the manifest, which lists the files of the directory; nil if it does not exist.
  ///
  /// Without manifests, the default, a lost log can't be distinguished from one that never existed.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func manifest() throws(StoreError) -> [UInt8]?

  /// Replaces the manifest: afterwards either the old or the new one is complete.
  ///
  /// Its bytes are synced; ``synchronizeNames()`` follows, and syncs its name.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError)

  /// Returns the names of the files of tables and named buffers, which a new manifest lists.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func filesForManifest() throws(StoreError) -> [String]

  /// Marks files as listed in the manifest: if one is missing when it is opened, that is damage and
  /// no empty table.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func need(_ fileNames: [String]) throws(StoreError)

  /// Assigns a number to every table and ordered table that has a file, and opens the files, so
  /// that ``frozen()`` has little work left.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func openAll() throws(StoreError)

  /// Opens all files, and no others until ``reopen()``: files that other processes publish may
  /// contain later commits than this process knows. By default the same as ``openAll()``.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func hold() throws(StoreError)

  /// Opens all files again when they are next needed, under the same numbers, because another
  /// process has published others. By default it does nothing.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func reopen() throws(StoreError)

  /// Returns the current files for reading only, under the same numbers; they are never replaced.
  ///
  /// Nobody publishes new files meanwhile.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func frozen() throws(StoreError) -> Self

  /// Whether a file that the manifest lists exists, damaged or not.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func hasFile(_ name: String) throws(StoreError) -> Bool
}

extension RecordFiles {
  /// Opens all files.
  ///
  /// Complexity: as ``openAll()``.
  ///
  /// - Throws: ``StoreError``, as ``openAll()``.
  public func hold() throws(StoreError) { try openAll() }
  /// Does nothing.
  public func reopen() throws(StoreError) {}
  /// Returns nil: the files have no marks.
  public func mark(of name: String) throws(StoreError) -> FileMark? { nil }
  /// Returns nil: the files have no marks.
  public func mark(ofNewFile newName: String) throws(StoreError) -> FileMark? { nil }
  /// The maximum of the log: 4 GiB minus 1 byte.
  public var maximumRecordByteCount: Int { ChangeSet.maximumRecordByteCount }
  /// Returns nil: there are no earlier logs.
  public func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile? { nil }
  /// Returns nil: there can be only one log.
  ///
  /// - Throws: Nothing; files with several logs can throw ``StoreError``.
  public func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile? { nil }
  /// Returns no files.
  public func openFiles(touchedBy changes: PendingFootprint) -> [any Sendable] { [] }
  /// Does nothing.
  public func endEarlierLog(_ epoch: UInt64) {}
  /// Does nothing.
  public func removeSpareLog() {}
  /// False: there is no log.
  public func hasLog() throws(StoreError) -> Bool { false }
  /// Returns nil: there is no key file.
  public func keyFile() throws(StoreError) -> [UInt8]? { nil }
  /// Throws: these files can't store a key.
  public func setKeyFile(_ bytes: [UInt8]) throws(StoreError) {
    throw StoreError(
      .ioError, "These files have no place for a key file, so they can't be encrypted.",
      at: .init(path: location))
  }
  /// Returns nil: there is no manifest.
  public func manifest() throws(StoreError) -> [UInt8]? { nil }
  /// Does nothing.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError) {}
  /// Returns no names.
  public func filesForManifest() throws(StoreError) -> [String] { [] }
  /// Does nothing.
  public func need(_ fileNames: [String]) throws(StoreError) {}
  /// Returns true.
  public func hasFile(_ name: String) throws(StoreError) -> Bool { true }
}

/// A new file and the file that it replaces, by their names in the directory.
public struct Replacement: Hashable, Sendable {
  /// The name of the new file before it is published.
  public let newName: String
  /// The name of the file that it replaces.
  public let name: String
  /// The mark in the new file; nil if it has none.
  public let mark: FileMark?

  /// Creates a replacement.
  public init(newName: String, name: String, mark: FileMark? = nil) {
    self.newName = newName
    self.name = name
    self.mark = mark
  }
}

/// New files that are smaller than those that they replace.
public struct Compaction: Sendable {
  /// The files.
  public var replacements: [Replacement]
  /// The number of bytes by which they are smaller in total.
  public var bytesSaved: Int

  /// Creates a compaction; by default of no files.
  public init(replacements: [Replacement] = [], bytesSaved: Int = 0) {
    self.replacements = replacements
    self.bytesSaved = bytesSaved
  }
}

/// The files that a checkpoint would touch.
public struct PendingFootprint: Sendable {
  /// The tables whose files would change.
  public var tables: [TableID]
  /// Whether the file of the named buffers would change.
  public var hasNames: Bool
}
