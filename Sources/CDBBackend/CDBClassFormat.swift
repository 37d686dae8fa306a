import CDB
import Files
public import StoreEngine

/// Constant databases, as class files.
public struct CDBClassFormat: ClassFileFormat {
  /// The format, which has no settings.
  public init() {}

  /// `.cdb`.
  public static var fileSuffix: String { ".cdb" }

  /// A new store gets `NamedBuffers.cdb` first, so that its kind can be told.
  public static var isKnownByBuffers: Bool { true }

  /// The row that a key stands for; nil when it is no key of a row.
  public static func rowID(ofKey key: RawSpan) -> UInt32? { RowKey.rowID(key) }

  /// Opens a file, classic or wide; nil when there is none.
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

  /// Up to this size files are looked at when they are opened, which takes some milliseconds.
  ///
  /// Reading believes nothing in a file, but would miss a record that a spoilt slot does not lead
  /// to. What this backend itself has made needs no look.
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

  // The mark of a constant database is behind its last table, where no program looks:
  //
  //     "SOMark" 0 1 | epoch (8) | number (4)

  /// The mark in a file; nil when there is no file, or none in it.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(of location: ClassFileLocation) throws(StoreError) -> FileMark? {
    guard try systemErrors(at: location.path, { try exists(location.file) }) else { return nil }
    let file = try StoreFile(location.file, writable: false)
    defer { file.close() }
    let size = FileMark.magic.count + FileMark.byteCount
    return FileMark(marked: try file.read(size, at: max(0, try file.size() - size))[...])
  }

  /// Makes the first file of a table.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError) {
    try FilePreparation(changes: changes, reader: nil, new: new).run()
  }

  /// Reads a file from its first byte to its last.
  ///
  /// - Returns: Nothing: damage is thrown.
  /// - Throws: `StoreError` with `damaged` or `ioError`.
  public func findings(_ location: ClassFileLocation) throws(StoreError) -> [StoreFinding] {
    try cdbErrors(className: location.className) { try reader(location)?.verify() }
    return []
  }

  /// Opens a file that may be damaged; nil when there is none.
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
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func writer(
    _ new: NewClassFile, sizedAs old: ClassFileLocation?
  ) throws(StoreError) -> CDBClassWriter { try CDBClassWriter(new) }
}

/// Runs calls of the constant database, and makes their errors those of a store.
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
