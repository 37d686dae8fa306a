import Files
import Locks
import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// The file of one table: opened when it is first needed, and kept open for reading.
///
/// Nobody waits for anybody here. Who reads keeps the file that he has begun with, also when
/// another takes its place, because files are replaced by renaming and never written in place.
final class TableFile: Sendable {
  let name: String
  private let directory: StoreDirectory
  private let current: Locked<Current>

  private struct Current {
    /// The name under which the file was found: a temporary one if a writer died before renaming
    /// it.
    var fileName: String
    /// Whether the manifest lists the file, or it has been there.
    var isNeeded: Bool
    var state = State.unknown
    /// How often the file has been replaced.
    var generation: UInt64 = 0
  }

  private enum State: Sendable {
    case unknown
    /// There is no file; nobody else can make one while the directory is locked.
    case missing
    case open(HashFile)
    case closed
  }

  init(name: String, directory: StoreDirectory, isNeeded: Bool = false) {
    (self.name, self.directory) = (name, directory)
    current = Locked(Current(fileName: name, isNeeded: isNeeded))
  }

  /// The name in the directory.
  var fileName: String { current.withLock { $0.fileName } }
  /// Where the file is, for people.
  var path: String { directory.path(fileName) }

  /// Where the file is.
  func place() throws -> FilePlace { try directory.file(fileName) }

  /// Whether the manifest lists the file, or it has been there.
  var isNeeded: Bool { current.withLock { $0.isNeeded } }

  /// Takes note that the manifest lists the file.
  func need() { current.withLock { $0.isNeeded = true } }

  /// How often the file has been replaced.
  var generation: UInt64 { current.withLock { $0.generation } }

  /// The file, or nil when the table was never written.
  func file() throws -> HashFile? { try fileAndGeneration().file }

  /// The file, if there is one, and how often it had been replaced when it was this one.
  func fileAndGeneration() throws -> (file: HashFile?, generation: UInt64) {
    try current.withLock { current in
      switch current.state {
      case .open(let file): return (file, current.generation)
      case .missing: return (nil, current.generation)
      case .closed: throw StoreError(.closed, "the backend has been closed")
      case .unknown:
        let found = try open(directory.file(current.fileName), isOurs: current.generation > 0)
        if found == nil, current.isNeeded { throw StoreError.fileGone(name, in: directory.path) }
        current.state = found.map { .open($0) } ?? .missing
        return (found, current.generation)
      }
    }
  }

  /// Whether the table has a file.
  func isThere() throws -> Bool { try file() != nil }

  /// Runs a look-up; nil when the table was never written.
  func reading<Result>(_ body: (HashFile) throws -> Result?) throws -> Result? {
    guard let file = try file() else { return nil }
    return try storeErrors(at: file.path, className: name) { try body(file) }
  }

  /// Reads a file that stands ready under another name, instead of renaming it.
  func redirect(to fileName: String) {
    current.withLock { current in
      current.fileName = fileName
      current.state = .unknown
      current.isNeeded = true
      current.generation += 1
    }
  }

  /// Puts a new file in the place of this one.
  func replace(by new: String) throws {
    try current.withLock { current in
      try storeErrors(at: directory.path(current.fileName), className: name) {
        try renameFile(directory.file(new), directory.file(current.fileName))
      }
      current.state = .unknown
      current.isNeeded = true
      current.generation += 1
    }
  }

  /// Closes the file, for good.
  ///
  /// Who still reads it keeps it.
  func close() { current.withLock { $0.state = .closed } }

  // MARK: Opening

  private func open(_ place: FilePlace, isOurs: Bool) throws -> HashFile? {
    try storeErrors(at: place.path, className: name) {
      let start: [UInt8]
      do {
        start = try firstBytes(of: place, count: HashFileHeader.size)
      } catch let error as SystemError where error.isMissing {
        return nil
      }
      if let header = HashFileHeader(bytes: start), header.isMarkedOpen {
        try takeBackTransaction(place, header.byteOrder)
      }
      let file = try HashFile(MappedFile(place, isLocked: true))
      if !isOurs { try inspect(file) }
      return file
    }
  }

  /// Up to this size files are looked at when they are opened, which takes some milliseconds.
  ///
  /// Reading believes nothing in a file, but would miss a record that a spoilt link does not lead
  /// to. What this backend itself has made needs no look.
  private static let inspectedSize = 4 << 20

  private func inspect(_ file: HashFile) throws {
    guard file.fileSize <= Self.inspectedSize, let finding = file.check().findings.first else {
      return
    }
    let place = StoreError.Place(path: file.path, className: name)
    let damage = StoreFinding.damage(finding.message, finding.offset, place)
    throw StoreError(.damaged, damage.message, at: damage.place)
  }

  private func libraryByteOrder() throws -> HashFileHeader.ByteOrder {
    let place = try directory.file(StoreDirectory.newPrefix + "byte-order")
    return try HashDatabase.libraryByteOrder(probing: place.libraryPath)
  }

  /// Lets the C library take back the transaction of a writer that died in it.
  ///
  /// This library never leaves a file so; BNRPersistence and others did.
  private func takeBackTransaction(_ place: FilePlace, _ order: HashFileHeader.ByteOrder) throws {
    let log = try FileStatus.find(place.appending(".wal"), followsLink: false)
    if log?.isRegular == false {
      throw StoreError(
        .ioError, "What has the name of the file's transaction is no file: move it away.",
        at: .init(path: place.path + ".wal", className: name))
    }
    if !directory.isReadOnly, try order == libraryByteOrder() {
      return try HashDatabase(path: place.libraryPath, mode: .readWrite([])).close()
    }
    guard let log, log.size > 0 else { return }
    throw StoreError(
      .damaged,
      """
      A writer has died in a transaction. Open the store for writing, on a machine whose Tokyo \
      Cabinet has the byte order of the file, to have it taken back.
      """,
      at: .init(path: place.path, className: name))
  }
}
