import Files
import Locks
import StoredObjectsCore
import Synchronization
import TokyoCabinet

/// The file of one table: opened when it is first needed, kept open, guarded by a lock of its own.
final class TableFile: Sendable {
  let name: String
  private let isReadOnly: Bool
  private let currentPath: Locked<String>
  /// Held by look-ups while they copy bytes out, and by a commit that touches the table.
  let lock = ReadWriteLock()
  private let state = Locked<State>(.unknown)
  private let replacements = Atomic<UInt64>(0)
  private let scans = Locked<[ObjectIdentifier: TableScan]>([:])

  private enum State: Sendable {
    case unknown
    /// There is no file; nobody else can make one while the directory is locked.
    case missing
    case open(HashDatabase)
    case closed
  }

  init(name: String, directory: String, isReadOnly: Bool) {
    self.name = name
    currentPath = Locked(directory + "/" + name)
    self.isReadOnly = isReadOnly
  }

  /// Where the file is: under its name, unless a reader found that a writer had died before renaming.
  var path: String { currentPath.withLock { $0 } }

  /// How often the file has been replaced.
  var generation: UInt64 { replacements.load(ordering: .acquiring) }

  /// The database, or nil when the table was never written.
  func database() throws -> HashDatabase? {
    try state.withLock { state in
      switch state {
      case .open(let database) where !database.isClosed: return database
      case .missing: return nil
      case .closed: throw StoreError(.closed, "the backend has been closed")
      case .unknown, .open: break
      }
      let found = try open()
      state = found.map { .open($0) } ?? .missing
      return found
    }
  }

  private func open() throws -> HashDatabase? {
    guard exists(path) else { return nil }
    return try storeErrors(at: path, className: name) {
      if generation == 0 { try inspect() }
      if !isReadOnly { try repairAfterCrash() }
      return try SharedReaders.open(path)
    }
  }

  /// The C library trusts its files; up to this size they are looked at before it gets them.
  ///
  /// That takes about 20 ms at most. What this backend itself has made needs no look.
  private static let inspectedSize = 4 << 20

  private func inspect() throws {
    guard let size = FileStatus(path)?.size, (1...Self.inspectedSize).contains(size),
      !SharedReaders.isOpen(path)
    else { return }
    if let finding = try HashFileInspection(path, className: name).findings.first {
      throw StoreError(.damaged, finding.message, at: finding.place)
    }
  }

  /// Lets the C library take back the transaction of a writer that died in it.
  ///
  /// This library never leaves a file so; BNRPersistence and others did.
  private func repairAfterCrash() throws {
    guard let header = try HashFileHeader.read(path: path), header.isMarkedOpen else { return }
    try HashDatabase(path: path, mode: .readWrite([])).close()
  }

  /// Whether the table has a file.
  func isThere() throws -> Bool { try reading { _ in true } ?? false }

  /// Copies the file, which nobody writes to; false when there is none.
  func copy(to copy: String) throws -> Bool {
    guard try isThere() else { return false }
    try storeErrors(at: copy) { try copyFile(path, to: copy) }
    return true
  }

  /// Reads a file that stands ready under another name, instead of renaming it.
  func redirect(to path: String) throws {
    lock.lockForWriting()
    defer { lock.unlock() }
    try willBeReplaced()
    currentPath.withLock { $0 = path }
  }

  /// Lets go of the file, because another one takes its place; called with the lock held.
  func willBeReplaced() throws {
    if let database = try database() {
      for scan in scans.withLock({ Array($0.values) }) {
        try storeErrors(at: path, className: name) { try scan.readRest(of: database) }
      }
      try storeErrors(at: path, className: name) { try SharedReaders.close(path) }
    } else {
      for scan in scans.withLock({ Array($0.values) }) { scan.finish() }
    }
    state.withLock { $0 = .unknown }
    replacements.wrappingAdd(1, ordering: .acquiringAndReleasing)
  }

  /// Closes the file, for good.
  func close() throws {
    let old = state.withLock { state in
      defer { state = .closed }
      return state
    }
    guard case .open = old else { return }
    try storeErrors(at: path, className: name) {
      try SharedReaders.close(path)
    }
  }

  /// Runs a look-up beside others; nil when the table was never written.
  func reading<Result>(_ body: (HashDatabase) throws -> Result?) throws -> Result? {
    try lock.reading {
      guard let database = try database() else { return nil }
      return try storeErrors(at: path, className: name) { try body(database) }
    }
  }

  // MARK: Scans

  func begin(_ scan: TableScan) { scans.withLock { $0[ObjectIdentifier(scan)] = scan } }
  func end(_ scan: TableScan) { scans.withLock { $0[ObjectIdentifier(scan)] = nil } }
}

/// Files that are open for reading, shared by the backends of this process.
///
/// The C library refuses to open a file twice in one process, even for reading.
enum SharedReaders {
  private static let files = Locked<[String: (database: HashDatabase, users: Int)]>([:])

  static func open(_ path: String) throws -> HashDatabase {
    try files.withLock { files in
      if let known = files[path] {
        files[path] = (known.database, known.users + 1)
        return known.database
      }
      let database = try HashDatabase(path: path, mode: .readOnly)
      files[path] = (database, 1)
      return database
    }
  }

  static func isOpen(_ path: String) -> Bool { files.withLock { $0[path] != nil } }

  static func close(_ path: String) throws {
    try files.withLock { files in
      guard let known = files[path] else { return }
      files[path] = known.users > 1 ? (known.database, known.users - 1) : nil
      if known.users == 1 { try known.database.close() }
    }
  }
}
