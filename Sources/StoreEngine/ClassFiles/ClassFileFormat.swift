/// A format of class files: it opens, checks and rewrites them.
///
/// ``ClassFiles`` does the rest: it finds the files of a directory, maps them on demand, replaces
/// them at a checkpoint, inspects them and salvages damaged ones.
///
///     public typealias CDBFiles = ClassFiles<CDBClassFormat>
///     public typealias CDBBackend = LoggedBackend<CDBClassFormat>
///
/// A value of the format holds the settings for the layout of new files. Files are never written in
/// place: a format reads a whole file and writes a new one beside it.
public protocol ClassFileFormat: Sendable, Hashable {
  /// A search for the records of a file that may be damaged.
  associatedtype Salvage: ClassFileSalvage
  /// A writer of a new file, one record after another.
  associatedtype Writer: ClassFileWriter

  /// Creates the format with its default settings.
  init()

  /// The suffix of file names, such as `.cdb`; empty by default.
  static var fileSuffix: String { get }

  /// Whether a store of this format is recognized by its file of named buffers; false by default.
  ///
  /// A new store of such a format gets that file first.
  static var isKnownByBuffers: Bool { get }

  /// The maximum size in bytes of a record, or of a named buffer with its name.
  ///
  /// It is 4 GiB minus one byte by default.
  static var maximumRecordByteCount: Int { get }

  /// Returns why a table can't have a name that all formats allow; nil, the default, if it can.
  static func reason(againstTable name: String) -> String?

  /// Returns the row of a key; nil if it is not the key of a row.
  static func rowID(ofKey key: RawSpan) -> UInt32?

  /// Returns whether a regular file has this format; by default every file with the suffix has.
  ///
  /// Complexity: at most one read of the file's header.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func isClassFile(_ location: ClassFileLocation) throws(StoreError) -> Bool

  /// Opens a file; returns nil if it does not exist.
  ///
  /// Complexity: constant time, plus the time of the check.
  ///
  /// - Parameters:
  ///   - location: The file.
  ///   - isOurs: Whether this process has written it. Other files are checked if that is quick.
  /// - Returns: The file, or nil.
  /// - Throws: ``StoreError`` with `damaged`, `inUse` or `ioError`.
  func open(_ location: ClassFileLocation, isOurs: Bool) throws(StoreError) -> (any ClassFile)?

  /// Returns the mark in a file; nil if the file does not exist or has no mark.
  ///
  /// Complexity: one read of a few bytes.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func mark(of location: ClassFileLocation) throws(StoreError) -> FileMark?

  /// Writes the first file of a table, replacing any file of its name.
  ///
  /// Complexity: linear in the size of the changes. It waits for the disk if the file is synced.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError)

  /// Returns whether a file was written elsewhere, so that it must be rewritten before a change.
  ///
  /// ``ClassFile/compact(to:)`` rewrites it for this machine. The default is false.
  ///
  /// Complexity: at most one read of the file's header.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func isForeign(_ location: ClassFileLocation) throws(StoreError) -> Bool

  /// Reads a whole file, and returns findings about its structure.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func findings(_ location: ClassFileLocation) throws(StoreError) -> [StoreFinding]

  /// Returns whether every byte of a file of an encrypted store is as it was written.
  ///
  /// A format that can't tell returns true, the default.
  ///
  /// Complexity: linear in the size of the file, if the format has a checksum of it.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func isAsWritten(_ location: ClassFileLocation) throws(StoreError) -> Bool

  /// Opens a file that may be damaged; returns nil if it does not exist.
  ///
  /// Complexity: at most O(n log n) for a file of n bytes.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func salvage(_ location: ClassFileLocation) throws(StoreError) -> Salvage?

  /// Creates a file with a layout for the records of another one.
  ///
  /// Complexity: at most linear in the number of records that the file has room for.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func writer(_ new: NewClassFile, sizedAs old: ClassFileLocation?) throws(StoreError) -> Writer
}

extension ClassFileFormat {
  /// The suffix of file names: none.
  public static var fileSuffix: String { "" }
  /// Whether a store is recognized by its file of named buffers: false.
  public static var isKnownByBuffers: Bool { false }
  /// The maximum of the log: 4 GiB minus one byte.
  public static var maximumRecordByteCount: Int { ChangeSet.maximumRecordByteCount }
  /// Returns nil.
  public static func reason(againstTable name: String) -> String? { nil }
  /// Returns true.
  ///
  /// Complexity: constant time.
  public func isClassFile(_ location: ClassFileLocation) throws(StoreError) -> Bool { true }
  /// Returns false.
  ///
  /// Complexity: constant time.
  public func isForeign(_ location: ClassFileLocation) throws(StoreError) -> Bool { false }
  /// Returns true.
  ///
  /// Complexity: constant time.
  public func isAsWritten(_ location: ClassFileLocation) throws(StoreError) -> Bool { true }
}

extension ClassFileFormat {
  /// Returns the reason why a table can't have this name; nil if it can.
  static func reasonAgainst(_ name: String) -> String? {
    StoreDirectory.reason(againstTable: name) ?? reason(againstTable: name)
  }

  /// Returns the name of the file of a table, or of the named buffers.
  static func fileName(ofTable name: String) -> String { name + fileSuffix }

  /// Returns the table of a file, or the name of the named buffers; nil for other files.
  static func tableName(ofFile file: String) -> String? {
    guard file.hasSuffix(fileSuffix), !file.hasPrefix(".") else { return nil }
    let name = String(file.dropLast(fileSuffix.count))
    return name == StoreDirectory.buffers || reasonAgainst(name) == nil ? name : nil
  }
}
