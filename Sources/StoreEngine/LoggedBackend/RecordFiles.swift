/// The class files under a commit log: what a ``LoggedBackend`` needs of a file format.
///
/// Files are changed in two steps, so that any number of them change at one instant, that of the
/// log record between the steps. ``prepare(_:mark:durability:)`` makes new files beside the old
/// ones, and ``publish(_:)`` puts them in their place. A crash before the record leaves the old
/// files, one after it is made good by publishing again.
public protocol RecordFiles: RecordSource {
  /// The files of ordered tables, which are of one format for all: make them with the others, close
  /// them with the others, and pass over them in ``inspect()``.
  ///
  /// Their names end with `.ordered` and `.index`.
  var ordered: OrderedFiles { get }

  /// The files of values that are stored outside of records; nil, as by default, for none.
  ///
  /// Their names end with `.external`.
  var external: ExternalFiles? { get }

  /// The name of a table that has a number.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func name(of table: TableID) throws(StoreError) -> String

  /// How often the file of a table has been replaced; scan positions count it.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func generation(of table: TableID) throws(StoreError) -> UInt64

  /// Returns which rows have a record in the file of a table, in the order of the rows.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func hasRecords(_ rows: [UInt32], in table: TableID) throws(StoreError) -> [Bool]

  /// Refuses names of buffers that the files can't keep.
  ///
  /// - Throws: ``StoreError`` with `invalidName`.
  func check(bufferName: String) throws(StoreError)

  /// Makes new files beside those that a change set touches, and brings them to the disk.
  ///
  /// Nothing changes for readers. A failure leaves nothing behind.
  ///
  /// Files that can keep a mark get one, where nobody looks who does not know of it, and their
  /// replacements have it. It is given back by ``mark(of:)`` and ``mark(ofNewFile:)``.
  ///
  /// - Returns: the names of the new files and of those whose place they take.
  /// - Throws: `rowExists`, `noSpace`, `ioError`, `damaged`.
  func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws(StoreError) -> [Replacement]

  /// The mark in the file of a table, or of the named buffers; nil when there is no file, or none
  /// in it.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func mark(of name: String) throws(StoreError) -> FileMark?

  /// The mark in a new file that was not published; nil when there is no file, or none in it.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func mark(ofNewFile newName: String) throws(StoreError) -> FileMark?

  /// How many bytes a record, or a named buffer with its name, may have; larger ones are refused.
  var maximumRecordByteCount: Int { get }

  /// Puts new files in the place of old ones, and lets readers see them.
  ///
  /// Nobody reads meanwhile who has not begun before, so that all files change at one instant; the
  /// names are brought to the disk afterwards, see ``synchronizeNames()``.
  ///
  /// Files that have been put in place before, by a process that then died, are passed over.
  ///
  /// Where the files are open for reading only, readers see them all the same.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func publish(_ replacements: [Replacement]) throws(StoreError)

  /// Brings the names of all files to the disk.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func synchronizeNames() throws(StoreError)

  /// Removes new files that were not published, and never will be.
  func discard(_ replacements: [Replacement])

  /// Removes new files that a process has left which died before it could say so in the log, and
  /// earlier logs that are not of these epochs.
  ///
  /// - Returns: the names of the files of tables and ordered tables that are there; none where
  ///   files without records stay.
  /// - Throws: ``StoreError`` with `ioError`.
  func removeStrays(keepingLogs epochs: [UInt64]) throws(StoreError) -> [String]

  /// The tables among some whose files have marks and no records; by default none.
  func emptyTables(among names: [String]) -> [String]

  /// Removes the files of such tables, as far as that can be done, so that they are like tables
  /// that were never saved; by default none.
  ///
  /// Generations stay: readers see no rows before and after.
  func removeEmpty(_ names: [String])

  /// The size of all files that a change set touches: what ``prepare(_:mark:durability:)`` copies.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func byteCount(touchedBy changes: PendingFootprint) throws(StoreError) -> Int

  /// The files that a change set touches, open, to be held; by default none.
  func openFiles(touchedBy changes: PendingFootprint) -> [any Sendable]

  /// Makes new files without gaps beside those that have any; by default none.
  ///
  /// Nothing changes for readers. A failure leaves nothing behind.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError`, `damaged`.
  func prepareCompaction(
    mark: FileMark, durability: Durability, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> Compaction

  /// Looks at the files, before a check reads their records, see ``StoreBackend/inspect()``.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func inspect() throws(StoreError) -> StoreInspection

  /// The file of the commit log; nil when there is none and it is not to be made.
  ///
  /// The log sees to it that its name is brought to the disk.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func openLog() throws(StoreError) -> StoreFile?

  /// An earlier log, which is needed until what it holds is in the files; nil when there is none of
  /// this epoch, as by default.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile?

  /// Puts a new log in the place of the log, which becomes an earlier one of its epoch; nil, as by
  /// default, where there can be only one log.
  ///
  /// - Parameters:
  ///   - epoch: The epoch of the log.
  ///   - isSynced: Whether the names are brought to the disk.
  ///   - prepare: Writes the header of the new log.
  /// - Returns: The new log.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`: everything is as it was then. With
  ///   `reopenNeeded` it is not.
  func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile?

  /// Removes an earlier log, whose saves are in the files; its room may be kept for the next log.
  func endEarlierLog(_ epoch: UInt64)

  /// Gives back the room that was kept for the next log.
  func removeSpareLog()

  /// Whether there is a log that somebody has made before.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func hasLog() throws(StoreError) -> Bool

  /// The bytes of the key file, by which a store is known to be encrypted; nil when there is none.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func keyFile() throws(StoreError) -> [UInt8]?

  /// Puts a key file in the place of the old one: afterwards the one or the other is there, whole,
  /// and on the disk.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`, also when the files keep none.
  func setKeyFile(_ bytes: [UInt8]) throws(StoreError)

  /// The bytes of the manifest, which says what the directory must hold; nil when there is none.
  ///
  /// Files that keep none, as by default, can't tell a lost log from one that never was.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func manifest() throws(StoreError) -> [UInt8]?

  /// Puts a manifest in the place of the old one: afterwards the one or the other is there, whole.
  ///
  /// Its bytes are brought to the disk; ``synchronizeNames()`` follows, and brings its name there.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError)

  /// The names of the files of tables and named buffers, which a new manifest lists.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func filesForManifest() throws(StoreError) -> [String]

  /// Takes note of files that the manifest lists: one that is not there when it is opened is
  /// damage, and no empty table.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func need(_ fileNames: [String]) throws(StoreError)

  /// Gives a number to every table and ordered table that has a file, and opens the files, so that
  /// ``frozen()`` has little left to do.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func openAll() throws(StoreError)

  /// Opens all files, and no others until ``reopen()``: those that other processes put in place are of
  /// later commits than this one may know. By default as ``openAll()``.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func hold() throws(StoreError)

  /// Opens all files again when they are next needed, under the same numbers: another process has
  /// put others in their place. By default it does nothing.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  func reopen() throws(StoreError)

  /// The files as they are now, which are never replaced, under the same numbers; to be read only.
  ///
  /// Nobody publishes new files meanwhile.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func frozen() throws(StoreError) -> Self

  /// Whether a file that the manifest lists is there, sound or not.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func hasFile(_ name: String) throws(StoreError) -> Bool
}

extension RecordFiles {
  /// Opens all files.
  public func hold() throws(StoreError) { try openAll() }
  /// Does nothing.
  public func reopen() throws(StoreError) {}
  /// None.
  public func mark(of name: String) throws(StoreError) -> FileMark? { nil }
  /// None.
  public func mark(ofNewFile newName: String) throws(StoreError) -> FileMark? { nil }
  /// The most that the log can hold: 4 GiB, less one byte.
  public var maximumRecordByteCount: Int { ChangeSet.maximumRecordByteCount }
  /// None.
  public func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile? { nil }
  /// There is only one.
  public func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile? { nil }
  /// None.
  public func openFiles(touchedBy changes: PendingFootprint) -> [any Sendable] { [] }
  /// Does nothing.
  public func endEarlierLog(_ epoch: UInt64) {}
  /// Does nothing.
  public func removeSpareLog() {}
  /// None.
  public func hasLog() throws(StoreError) -> Bool { false }
  /// None.
  public func keyFile() throws(StoreError) -> [UInt8]? { nil }
  /// Refuses.
  public func setKeyFile(_ bytes: [UInt8]) throws(StoreError) {
    throw StoreError(
      .ioError, "These files have no place for a key file, so they can't be encrypted.",
      at: .init(path: location))
  }
  /// None.
  public func manifest() throws(StoreError) -> [UInt8]? { nil }
  /// Does nothing.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError) {}
  /// None.
  public func filesForManifest() throws(StoreError) -> [String] { [] }
  /// Does nothing.
  public func need(_ fileNames: [String]) throws(StoreError) {}
  /// Always.
  public func hasFile(_ name: String) throws(StoreError) -> Bool { true }
}

/// A new file and the one whose place it takes, by their names in the directory.
public struct Replacement: Hashable, Sendable {
  /// The name under which the file was made.
  public let newName: String
  /// The name that it gets.
  public let name: String
  /// The mark in the new file; nil when it has none.
  public let mark: FileMark?

  /// Names a new file and its place.
  public init(newName: String, name: String, mark: FileMark? = nil) {
    self.newName = newName
    self.name = name
    self.mark = mark
  }
}

/// New files that are smaller than those whose place they take.
public struct Compaction: Sendable {
  /// The files.
  public var replacements: [Replacement]
  /// By how many bytes they are smaller, together.
  public var bytesSaved: Int

  /// Describes new files; by default none.
  public init(replacements: [Replacement] = [], bytesSaved: Int = 0) {
    self.replacements = replacements
    self.bytesSaved = bytesSaved
  }
}

/// Which files a checkpoint would touch.
public struct PendingFootprint: Sendable {
  /// The tables whose files would change.
  public var tables: [TableID]
  /// Whether the file of the named buffers would.
  public var hasNames: Bool
}
