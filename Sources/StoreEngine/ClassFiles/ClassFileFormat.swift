/// A format of class files: how a file is opened, checked and rewritten.
///
/// ``ClassFiles`` does the rest: it finds the files of a directory, maps them when they are needed,
/// has them replaced when the log is folded, inspects them and salvages what is left of them.
///
///     public typealias CDBFiles = ClassFiles<CDBClassFormat>
///     public typealias CDBBackend = LoggedBackend<CDBFiles>
///
/// A value of the format has the settings by which new files are laid out. Files are never written
/// in place: a format reads a whole file and makes another one beside it.
public protocol ClassFileFormat: Sendable, Hashable {
  /// A look for the records of a file that may be damaged.
  associatedtype Salvage: ClassFileSalvage
  /// A new file that takes one record after the other.
  associatedtype Writer: ClassFileWriter

  /// The format with its default settings.
  init()

  /// The end of the names of files, such as `.cdb`; by default there is none.
  static var fileSuffix: String { get }

  /// Whether a store of this format is known by the file of its named buffers, which a new store
  /// gets first; by default it is not.
  static var isKnownByBuffers: Bool { get }

  /// The size in bytes that a record, or a named buffer with its name, may have; by default 4 GiB,
  /// less one byte.
  static var maximumRecordByteCount: Int { get }

  /// Why a table can't have a name that all formats allow; nil, as by default, when it can.
  static func reason(againstTable name: String) -> String?

  /// The row that a key stands for; nil when it is no key of a row.
  static func rowID(ofKey key: RawSpan) -> UInt32?

  /// Whether a regular file is one of this format; by default every file that has the suffix is.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func isClassFile(_ location: ClassFileLocation) throws(StoreError) -> Bool

  /// Opens a file; nil when there is none.
  ///
  /// - Parameters:
  ///   - location: The file.
  ///   - isOurs: Whether this process has made it. Any other file is checked if that is quick.
  /// - Returns: The file, or nil.
  /// - Throws: ``StoreError`` with `damaged`, `inUse` or `ioError`.
  func open(_ location: ClassFileLocation, isOurs: Bool) throws(StoreError) -> (any ClassFile)?

  /// The mark in a file; nil when there is no file, or none in it.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func mark(of location: ClassFileLocation) throws(StoreError) -> FileMark?

  /// Makes the first file of a table, in place of one of its name.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError)

  /// Whether a file was made elsewhere in a way that ``ClassFile/compact(to:)`` undoes, and must be
  /// rewritten before the store is changed; by default none is.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func isForeign(_ location: ClassFileLocation) throws(StoreError) -> Bool

  /// Reads a file from its first byte to its last, and reports what is wrong with its structure.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func findings(_ location: ClassFileLocation) throws(StoreError) -> [StoreFinding]

  /// Whether every byte of a file of an encrypted store is as it was written; by default a format
  /// can't tell.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func isAsWritten(_ location: ClassFileLocation) throws(StoreError) -> Bool

  /// Opens a file that may be damaged; nil when there is none.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func salvage(_ location: ClassFileLocation) throws(StoreError) -> Salvage?

  /// Begins a file that is laid out for the records of another one.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func writer(_ new: NewClassFile, sizedAs old: ClassFileLocation?) throws(StoreError) -> Writer
}

extension ClassFileFormat {
  /// None.
  public static var fileSuffix: String { "" }
  /// It is not.
  public static var isKnownByBuffers: Bool { false }
  /// The most that the log can hold: 4 GiB, less one byte.
  public static var maximumRecordByteCount: Int { ChangeSet.maximumRecordByteCount }
  /// None.
  public static func reason(againstTable name: String) -> String? { nil }
  /// Every file that has the suffix.
  public func isClassFile(_ location: ClassFileLocation) throws(StoreError) -> Bool { true }
  /// None is.
  public func isForeign(_ location: ClassFileLocation) throws(StoreError) -> Bool { false }
  /// It can't tell.
  public func isAsWritten(_ location: ClassFileLocation) throws(StoreError) -> Bool { true }
}

extension ClassFileFormat {
  /// Why no file can be made for a table of this name; nil when one can.
  static func reasonAgainst(_ name: String) -> String? {
    StoreDirectory.reason(againstTable: name) ?? reason(againstTable: name)
  }

  /// The name of the file of a table, or of the named buffers.
  static func fileName(ofTable name: String) -> String { name + fileSuffix }

  /// The table that a file is for, or the named buffers; nil for other files.
  static func tableName(ofFile file: String) -> String? {
    guard file.hasSuffix(fileSuffix), !file.hasPrefix(".") else { return nil }
    let name = String(file.dropLast(fileSuffix.count))
    return name == StoreDirectory.buffers || reasonAgainst(name) == nil ? name : nil
  }
}
