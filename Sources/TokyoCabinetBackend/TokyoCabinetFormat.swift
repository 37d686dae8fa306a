import Files
public import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// The format of class files that are Tokyo Cabinet hash files.
public struct TokyoCabinetFormat: ClassFileFormat {
  /// The expected number of records of a class, if known, for which new files get enough buckets.
  public var expectedRecordCount: Int?
  /// The alignment of records in new files as a power of two; any byte by default.
  public var alignmentPower: Int8 = 0

  /// Creates the format with its default settings.
  public init() {}

  /// The maximum size that the C library may read as one piece: 512 MiB.
  public static var maximumRecordByteCount: Int { 512 << 20 }

  /// Returns a reason against the names of the store's own files and of work files.
  public static func reason(againstTable name: String) -> String? {
    if StoreDirectory.isLog(name) { return "that is the file of a commit log" }
    if name == StoreDirectory.manifest { return "that is the file that lists the others" }
    if isWorkFile(name) { return "the library's own work files have such names" }
    return nil
  }

  /// Whether the C library uses such a name for a log or an unfinished file.
  private static func isWorkFile(_ name: String) -> Bool {
    if name.hasSuffix(".wal") { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 2 && parts[parts.count - 2] == "tmp"
      && parts[parts.count - 1].allSatisfy { ("0"..."9").contains($0) }
  }

  /// Returns the row of a key; nil if it does not have 4 bytes.
  public static func rowID(ofKey key: RawSpan) -> UInt32? { HashFileKeys.rowID(key) }

  /// Returns whether a file is a hash database; other files in the directory are ignored.
  ///
  /// Complexity: one read of the header.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func isClassFile(_ location: ClassFileLocation) throws(StoreError) -> Bool {
    try header(location)?.type == 0
  }

  private func header(_ location: ClassFileLocation) throws(StoreError) -> HashFileHeader? {
    try storeErrors(at: location) {
      HashFileHeader(bytes: try firstBytes(of: location.file, count: HashFileHeader.size))
    }
  }

  /// Returns the mark in a file; nil if the file does not exist or has no mark.
  ///
  /// Complexity: one read of the header.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(of location: ClassFileLocation) throws(StoreError) -> FileMark? {
    try FileMark.ofHashFile(at: location)
  }

  /// Writes the first file of a table.
  ///
  /// Complexity: linear in the size of the changes and in the number of buckets of the new file. It
  /// waits for the disk if the file is synced.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError) {
    try write(changes, over: nil, to: new)
  }

  func write(_ changes: ClassFileChanges, over old: HashClassFile?, to new: NewClassFile)
    throws(StoreError)
  {
    try FilePreparation(
      changes: changes, old: old, new: new, format: self,
      byteOrder: libraryByteOrder(beside: new.location)
    ).run()
  }

  /// Returns whether a file has another byte order than the installed C library.
  ///
  /// Complexity: one read of the header.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func isForeign(_ location: ClassFileLocation) throws(StoreError) -> Bool {
    guard let order = try header(location)?.byteOrder else { return false }
    return try order != libraryByteOrder(beside: location)
  }

  /// Checks the structure of a file, without the C library.
  ///
  /// Complexity: linear in the size of the file. It needs memory for two bits for each offset at
  /// which a record could begin.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func findings(_ location: ClassFileLocation) throws(StoreError) -> [StoreFinding] {
    do {
      return try HashFile(location.file).check().findings.map {
        .damage($0.message, at: location.errorLocation(offset: $0.offset))
      }
    } catch {
      switch error.code {
      case .notAHashFile, .truncated, .damaged:
        return [.damage(error.message, at: location.errorLocation(offset: error.offset))]
      default: throw StoreError(error, className: location.className)
      }
    }
  }

  /// Returns whether every byte of a file of an encrypted store is as it was when it was stamped.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func isAsWritten(_ location: ClassFileLocation) throws(StoreError) -> Bool {
    try FileStamp.isRight(on: location)
  }

  // MARK: Opening

  /// Opens a file; returns nil if it does not exist.
  ///
  /// Complexity: constant time. A file of up to 4 MiB that this process has not written is read and
  /// checked.
  ///
  /// - Throws: `StoreError` with `damaged`, `inUse` or `ioError`.
  public func open(_ location: ClassFileLocation, isOurs: Bool) throws(StoreError) -> (
    any ClassFile
  )? {
    try storeErrors(at: location) {
      guard var map = try lockedMap(location) else { return nil }
      if let header = HashFileHeader(map), header.isMarkedOpen {
        // The C library needs the lock now.
        map = MappedFile(copying: [])
        try takeBackTransaction(location, header.byteOrder)
        map = try MappedFile(location.file, isLocked: true)
      }
      let file = try HashFile(map)
      if !isOurs { try inspect(file, location) }
      return HashClassFile(file, self, name: location.className, isOurs: isOurs)
    }
  }

  private func lockedMap(_ location: ClassFileLocation) throws(SystemError) -> MappedFile? {
    do throws(SystemError) {
      return try MappedFile(location.file, isLocked: true)
    } catch  where error.isMissing {
      return nil
    }
  }

  /// The maximum size of files that are checked at opening, which takes some milliseconds.
  ///
  /// Reading trusts nothing in a file, but would miss a record that a damaged link does not lead
  /// to. Files that this backend has written need no check.
  private static let inspectedSize = 4 << 20

  private func inspect(_ file: HashFile, _ location: ClassFileLocation) throws(StoreError) {
    guard file.fileSize <= Self.inspectedSize, let finding = file.check().findings.first else {
      return
    }
    let damage = StoreFinding.damage(
      finding.message, at: location.errorLocation(offset: finding.offset))
    throw StoreError(.damaged, damage.message, at: damage.location)
  }

  /// Makes the C library undo the transaction of a writer that died in it.
  ///
  /// This library never leaves a file in that state; BNRPersistence and others did.
  private func takeBackTransaction(
    _ location: ClassFileLocation, _ order: HashFileHeader.ByteOrder
  ) throws {
    let logLocation = location.file.appending(".wal")
    let log = try FileStatus.find(logLocation, followsLink: false)
    if log?.isRegular == false {
      throw StoreError(
        .ioError,
        "Something other than a file has the name of the transaction's file: move it away.",
        at: .init(path: logLocation.path, className: location.className))
    }
    if !location.isReadOnly, try order == libraryByteOrder(beside: location) {
      return try HashDatabase(path: location.openingPath, mode: .readWrite([])).close()
    }
    guard let log, log.size > 0 else { return }
    throw StoreError(
      .damaged,
      """
      A writer died in a transaction. To undo the transaction, open the store for writing, on a \
      machine whose Tokyo Cabinet has the byte order of the file.
      """,
      at: location.errorLocation())
  }

  /// Returns the byte order of the files that the C library reads.
  func libraryByteOrder(
    beside location: ClassFileLocation
  ) throws(StoreError) -> HashFileHeader.ByteOrder {
    try storeErrors(at: location) {
      let name = StoreDirectory.newPrefix + "byte-order"
      return try HashDatabase.libraryByteOrder(probing: location.file.beside(name).libraryPath)
    }
  }
}
