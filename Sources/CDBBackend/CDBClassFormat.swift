import CDB
import Files
public import StoreEngine

/// The format of class files that are constant databases.
public struct CDBClassFormat: ClassFileFormat {
  /// Creates the format, which has no settings.
  public init() {}

  /// The suffix `.cdb`.
  public static var fileSuffix: String { ".cdb" }

  /// Whether the file of the named buffers shows the kind of a store: true, a new store gets it first.
  public static var isKnownByBuffers: Bool { true }

  /// Returns the row of a key; nil if it is not the key of a row.
  public static func rowID(ofKey key: RawSpan) -> UInt32? { RowKey.rowID(key) }

  /// Opens a file, classic or wide; returns nil if it does not exist.
  ///
  /// Complexity: constant time. A file of up to 4 MiB that this process has not written is read and
  /// verified.
  ///
  /// - Throws: `StoreError` with `damaged` or `ioError`.
  public func open(_ location: ClassFileLocation, isOurs: Bool) throws(StoreError) -> (
    any ClassFile
  )? {
    try cdbErrors(className: location.className) {
      guard let reader = try reader(location) else { return nil }
      if !isOurs, reader.byteCount <= Self.inspectedSize { try reader.verify() }
      return CDBClassFile(reader, name: location.className)
    }
  }

  /// The maximum size of files that are checked at opening, which takes some milliseconds.
  ///
  /// Reading trusts nothing in a file, but would miss a record to which a damaged slot does not
  /// lead. Files that this backend has written need no check.
  private static let inspectedSize = 4 << 20

  private func reader(_ location: ClassFileLocation) throws(CDBError) -> CDBReader? {
    do throws(CDBError) {
      return try CDBReader(location.file)
    } catch {
      switch error.code {
      case .otherFormat: return try CDBReader(location.file, format: .wide)
      case .noFile: return nil
      default: throw error
      }
    }
  }

  // The mark of a constant database follows its last table, where other programs ignore it:
  //
  //     "SOMark" 0 1 | epoch (8) | number (4)

  /// Returns the mark in a file; nil if the file does not exist or has no mark.
  ///
  /// Complexity: one read at the end of the file.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(of location: ClassFileLocation) throws(StoreError) -> FileMark? {
    guard try systemErrors(at: location.path, { try exists(location.file) }) else { return nil }
    let file = try StoreFile(location.file, writable: false)
    defer { file.close() }
    let size = FileMark.magic.count + FileMark.byteCount
    return FileMark(marked: try file.read(size, at: max(0, try file.size() - size))[...])
  }

  /// Writes the first file of a table.
  ///
  /// Complexity: linear in the size of the changes. It waits for the disk if the file is synced.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError) {
    try FilePreparation(changes: changes, reader: nil, new: new).run()
  }

  /// Reads and verifies a whole file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Returns: An empty array, because damage is thrown.
  /// - Throws: `StoreError` with `damaged` or `ioError`.
  public func findings(_ location: ClassFileLocation) throws(StoreError) -> [StoreFinding] {
    try cdbErrors(className: location.className) { try reader(location)?.verify() }
    return []
  }

  /// Opens a file that may be damaged; returns nil if it does not exist.
  ///
  /// Complexity: linear in the keys, and O(n log n) for n records, whose positions are sorted.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func salvage(_ location: ClassFileLocation) throws(StoreError) -> CDBClassSalvage? {
    guard try systemErrors(at: location.path, { try exists(location.file) }) else { return nil }
    return try cdbErrors(className: location.className) {
      CDBClassSalvage(try CDBSalvage(location.file))
    }
  }

  /// Begins a file.
  ///
  /// Complexity: constant time; creates a file.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func writer(
    _ new: NewClassFile, sizedAs old: ClassFileLocation?
  ) throws(StoreError) -> CDBClassWriter { try CDBClassWriter(new) }
}

/// Runs calls of the constant database, and converts their errors to store errors.
func cdbErrors<Result>(
  className: String?, _ body: () throws -> Result
) throws(StoreError) -> Result {
  do {
    return try body()
  } catch let error as CDBError {
    let code: StoreError.Code =
      switch error.code {
      case .damaged, .otherFormat: .damaged
      case .noSpace, .tooLarge: .noSpace
      case .closed: .closed
      default: .ioError
      }
    throw StoreError(
      code, error.message,
      at: .init(path: error.path, className: className, offset: error.offset), underlying: error)
  } catch {
    throw .wrapping(error, .ioError, at: .init(className: className))
  }
}
