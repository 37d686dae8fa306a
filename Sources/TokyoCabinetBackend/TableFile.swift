import Files
import Locks
import StoredObjectsCore
import TokyoCabinet
import TokyoCabinetFile

/// The file of one table: opened when it is first needed, and kept open for reading.
///
/// Nobody waits for anybody here. Who reads keeps the file that he has begun with, also when another
/// takes its place, because files are replaced by renaming and never written in place.
final class TableFile: Sendable {
  let name: String
  private let isReadOnly: Bool
  private let current: Locked<Current>

  private struct Current {
    /// Where the file is: under its name, unless a reader found that a writer had died before
    /// renaming.
    var path: String
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

  init(name: String, directory: String, isReadOnly: Bool) {
    self.name = name
    current = Locked(Current(path: directory + "/" + name))
    self.isReadOnly = isReadOnly
  }

  /// Where the file is.
  var path: String { current.withLock { $0.path } }
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
        let found = try open(current.path, isOurs: current.generation > 0)
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
  func redirect(to path: String) {
    current.withLock { current in
      current.path = path
      current.state = .unknown
      current.generation += 1
    }
  }

  /// Puts a new file in the place of this one.
  func replace(by new: String) throws {
    try current.withLock { current in
      try storeErrors(at: current.path, className: name) { try renameFile(new, current.path) }
      current.state = .unknown
      current.generation += 1
    }
  }

  /// Closes the file, for good.
  ///
  /// Who still reads it keeps it.
  func close() { current.withLock { $0.state = .closed } }

  // MARK: Opening

  private func open(_ path: String, isOurs: Bool) throws -> HashFile? {
    guard exists(path) else { return nil }
    return try storeErrors(at: path, className: name) {
      let start = try firstBytes(of: path, count: HashFileHeader.size)
      if let header = HashFileHeader(bytes: start), header.isMarkedOpen {
        try takeBackTransaction(path, header.byteOrder)
      }
      let file = try HashFile(MappedFile(path, isLocked: true))
      if !isOurs { try inspect(file) }
      return file
    }
  }

  /// Up to this size files are looked at when they are opened, which takes some milliseconds.
  ///
  /// Reading believes nothing in a file, but would miss a record that a spoilt link does not lead to.
  /// What this backend itself has made needs no look.
  private static let inspectedSize = 4 << 20

  private func inspect(_ file: HashFile) throws {
    guard file.fileSize <= Self.inspectedSize, let finding = file.check().findings.first else {
      return
    }
    let place = StoreError.Place(path: file.path, className: name)
    let damage = StoreFinding.damage(finding.message, finding.offset, place)
    throw StoreError(.damaged, damage.message, at: damage.place)
  }

  private func libraryByteOrder(_ path: String) throws -> HashFileHeader.ByteOrder {
    try HashDatabase.libraryByteOrder(
      probing: "\(directoryName(path))/\(StoreDirectory.newPrefix)byte-order")
  }

  /// Lets the C library take back the transaction of a writer that died in it.
  ///
  /// This library never leaves a file so; BNRPersistence and others did.
  private func takeBackTransaction(_ path: String, _ order: HashFileHeader.ByteOrder) throws {
    if !isReadOnly, try order == libraryByteOrder(path) {
      return try HashDatabase(path: path, mode: .readWrite([])).close()
    }
    guard let log = FileStatus(path + ".wal"), log.size > 0 else { return }
    throw StoreError(
      .damaged,
      """
      A writer has died in a transaction. Open the store for writing, on a machine whose Tokyo \
      Cabinet has the byte order of the file, to have it taken back.
      """,
      at: .init(path: path, className: name))
  }
}
