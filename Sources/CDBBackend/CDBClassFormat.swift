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
  public func open(_ place: ClassFilePlace, isOurs: Bool) throws -> (any ClassFile)? {
    try cdbErrors(className: place.className) {
      guard let reader = try reader(place) else { return nil }
      if !isOurs, reader.byteCount <= Self.inspectedSize { try reader.verify() }
      return CDBClassFile(reader, name: place.className)
    }
  }

  /// Up to this size files are looked at when they are opened, which takes some milliseconds.
  ///
  /// Reading believes nothing in a file, but would miss a record that a spoilt slot does not lead
  /// to. What this backend itself has made needs no look.
  private static let inspectedSize = 4 << 20

  private func reader(_ place: ClassFilePlace) throws -> CDBReader? {
    do {
      return try CDBReader(place.file)
    } catch {
      switch error.code {
      case .otherFormat: return try CDBReader(place.file, format: .wide)
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
  public func mark(of place: ClassFilePlace) throws -> FileMark? {
    try systemErrors(at: place.path) {
      guard try exists(place.file) else { return nil }
      let file = try FileStorage(place.file, writable: false)
      defer { file.close() }
      let size = FileMark.magic.count + FileMark.byteCount
      return FileMark(marked: try file.read(size, at: max(0, try file.size() - size)))
    }
  }

  /// Makes the first file of a table.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func write(_ changes: ClassFileChanges, to new: NewClassFile) throws {
    try FilePreparation(changes: changes, reader: nil, new: new).run()
  }

  /// Reads a file from its first byte to its last.
  ///
  /// - Returns: Nothing: damage is thrown.
  /// - Throws: `StoreError` with `damaged` or `ioError`.
  public func findings(_ place: ClassFilePlace) throws -> [StoreFinding] {
    try cdbErrors(className: place.className) { try reader(place)?.verify() }
    return []
  }

  /// Opens a file that may be damaged; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func salvage(_ place: ClassFilePlace) throws -> CDBClassSalvage? {
    guard try systemErrors(at: place.path, { try exists(place.file) }) else { return nil }
    return try cdbErrors(className: place.className) { CDBClassSalvage(try CDBSalvage(place.file)) }
  }

  /// Begins a file.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func writer(
    _ new: NewClassFile, sizedAs old: ClassFilePlace?
  ) throws -> CDBClassWriter { try CDBClassWriter(new) }
}

/// Runs calls of the constant database, and makes their errors those of a store.
func cdbErrors<Result>(className: String?, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as CDBError {
    let code: StoreError.Code =
      switch error.code {
      case .damaged, .otherFormat: .damaged
      case .noSpace, .tooLarge: .full
      case .closed: .closed
      default: .ioError
      }
    throw StoreError(
      code, error.message,
      at: .init(path: error.path, className: className, offset: error.offset), underlying: error)
  }
}
