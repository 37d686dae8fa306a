import Files
import Locks
public import StoredObjectsCore

/// Class files on a ``SimulatedDisk``, to put under a ``LoggedBackend``.
///
/// A file is a length, a checksum, and the records; it is read whole, and one that doesn't add up
/// is refused as damaged. So whatever the commit log lets a power cut do to files shows at once.
public final class SimulatedFiles: RecordFiles {
  /// The disk.
  public let disk: SimulatedDisk
  /// "simulated disk".
  public let location = "simulated disk"
  /// Whether nothing may be written.
  public let isReadOnly: Bool
  /// The files of ordered tables.
  public let ordered: OrderedFiles
  private let state = Locked(State())

  private static let buffers = "NamedBuffers"
  private static let log = "Commit.log"
  private static let manifest = "Commit.manifest"
  private static let key = "Commit.key"

  private struct State {
    var tables: [String] = []
    var generations: [UInt64] = []
    var contents: [String: Content] = [:]
  }

  /// Puts files on a disk.
  public init(_ disk: SimulatedDisk, isReadOnly: Bool = false) {
    self.disk = disk
    self.isReadOnly = isReadOnly
    ordered = OrderedFiles(SimulatedOrderedLocation(disk: disk, isReadOnly: isReadOnly))
  }

  typealias Content = [[UInt8]: [UInt8]]

  // MARK: Tables

  /// The number of a table, new or known.
  public func table(named name: String) throws -> TableID {
    TableID(
      index: state.withLock { state in
        if let known = state.tables.firstIndex(of: name) { return known }
        state.tables.append(name)
        state.generations.append(0)
        return state.tables.count - 1
      })
  }

  /// The name of a table.
  public func name(of table: TableID) -> String { state.withLock { $0.tables[table.index] } }

  /// How often the file of a table has been replaced.
  public func generation(of table: TableID) -> UInt64 {
    state.withLock { $0.generations[table.index] }
  }

  /// The names of the tables that have a file with records.
  public func tableNames() throws -> [String] {
    try disk.names.filter { name in
      guard ![Self.buffers, Self.log, Self.manifest, Self.key].contains(name), !name.hasPrefix(".")
      else {
        return false
      }
      return try !OrderedFiles.isFile(name) && !content(name).isEmpty
    }
  }

  private func content(_ name: String) throws -> Content {
    if let known = state.withLock({ $0.contents[name] }) { return known }
    guard let file = try disk.open(name, createIfMissing: false) else { return [:] }
    do {
      let bytes = try file.read(file.size(), at: 0)
      let content = try SimulatedFiles.decode(Array(bytes.dropFirst(FileMark.byteCount)), name)
      state.withLock { $0.contents[name] = content }
      return content
    } catch {
      throw Self.storeError(error)
    }
  }

  // MARK: Reading

  /// The number of records in the file of a table.
  public func recordCount(in table: TableID) throws -> Int { try content(name(of: table)).count }

  /// Lends a record.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try content(name(of: table))[Self.key(rowID)]?.lend(body)
  }

  /// Lends all records in the order of their rows.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    let generation = generation(of: table)
    if let position, position.generation != generation { return .disturbed }
    let content = try content(name(of: table))
    let records = content.map { (Self.row($0), $1) }.sorted { $0.0 < $1.0 }
    for (row, record) in records where UInt64(row) > position?.location ?? 0 {
      if try record.lend({ try body(row, $0) }) == .pause {
        return .paused(ScanPosition(location: UInt64(row), generation: generation))
      }
    }
    return .finished
  }

  /// Lends a named buffer.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try content(Self.buffers)[Array(name.utf8)]?.lend(body)
  }

  /// The names of the buffers.
  public func bufferNames() throws -> [String] {
    try content(Self.buffers).keys.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Takes any name.
  public func check(bufferName: String) {}

  // MARK: Replacing

  /// Makes new files, synced unless the level is `none`.
  public func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws -> [Replacement] {
    var made: [Replacement] = []
    do {
      for change in changes.tables where !change.records.isEmpty {
        let name = name(of: change.table)
        var content = try content(name)
        for record in change.records {
          let key = Self.key(record.rowID)
          if record.kind == .insert && content[key] != nil {
            throw StoreError(.rowExists, "The row is there.", at: .init(rowID: record.rowID))
          }
          content[key] = record.kind == .delete ? nil : Array(changes.bytes[record.range])
        }
        try make(content, in: name, mark, &made, isSynced: durability != .none)
      }
      if !changes.names.isEmpty {
        var content = try content(Self.buffers)
        for change in changes.names {
          content[Array(change.name.utf8)] = change.range.map { Array(changes.bytes[$0]) }
        }
        try make(content, in: Self.buffers, mark, &made, isSynced: durability != .none)
      }
      if durability != .none && !made.isEmpty { try disk.synchronizeDirectory() }
      return made
    } catch {
      discard(made)
      throw Self.storeError(error)
    }
  }

  private static func storeError(_ error: any Error) -> any Error {
    (error as? SystemError).map { StoreError($0) } ?? error
  }

  private func make(
    _ content: Content, in name: String, _ mark: FileMark, _ made: inout [Replacement],
    isSynced: Bool
  ) throws {
    let newName = ".new.\(made.count)"
    made.append(Replacement(newName: newName, name: name, mark: mark))
    guard let file = try disk.open(newName, createIfMissing: true) else { return }
    try file.resize(to: 0)
    let bytes = mark.bytes + Self.encode(content)
    try file.write(Array(bytes[..<(bytes.count / 2)]), at: 0)
    try file.write(Array(bytes[(bytes.count / 2)...]), at: bytes.count / 2)
    if isSynced { try file.synchronize() }
  }

  /// The mark of a file, which it begins with.
  public func mark(of name: String) throws -> FileMark? { try mark(ofNewFile: name) }

  /// The mark of a file, which it begins with.
  public func mark(ofNewFile newName: String) throws -> FileMark? {
    try disk.open(newName, createIfMissing: false).flatMap { file in
      FileMark(try file.read(FileMark.byteCount, at: 0))
    }
  }

  /// Gives new files their final names.
  public func publish(_ replacements: [Replacement]) throws {
    for replacement in replacements where disk.names.contains(replacement.newName) {
      try disk.rename(replacement.newName, to: replacement.name)
      state.withLock { state in
        state.contents[replacement.name] = nil
        if let table = state.tables.firstIndex(of: replacement.name) {
          state.generations[table] += 1
        }
      }
    }
  }

  /// Brings the names to the disk.
  public func synchronizeNames() throws {
    do { try disk.synchronizeDirectory() } catch { throw Self.storeError(error) }
  }

  /// Removes new files that will not be published.
  public func discard(_ replacements: [Replacement]) {
    for replacement in replacements { try? disk.remove(replacement.newName) }
  }

  /// Removes new files that were left behind.
  public func removeStrays() throws {
    for name in disk.names where name.hasPrefix(".new.") { try disk.remove(name) }
  }

  /// The size of the files that a change touches.
  public func byteCount(touchedBy changes: PendingFootprint) throws -> Int {
    let names = changes.tables.map(name(of:)) + (changes.hasNames ? [Self.buffers] : [])
    return try names.reduce(0) { $0 + (try disk.open($1, createIfMissing: false)?.size() ?? 0) }
  }

  /// The log's file.
  public func openLog() throws -> (any Storage)? {
    try disk.open(Self.log, createIfMissing: !isReadOnly)
  }

  /// The bytes of the manifest.
  public func manifest() throws -> [UInt8]? {
    try disk.open(Self.manifest, createIfMissing: false).map { try $0.read($0.size(), at: 0) }
  }

  /// Puts a manifest in place by a rename.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws {
    guard let file = try disk.open(".new.manifest", createIfMissing: true) else { return }
    try file.resize(to: 0)
    try file.write(bytes, at: 0)
    if durability != .none { try file.synchronize() }
    try disk.rename(".new.manifest", to: Self.manifest)
  }

  /// Whether there is a log.
  public func hasLog() -> Bool { disk.names.contains(Self.log) }

  /// The bytes of the key file.
  public func keyFile() throws -> [UInt8]? {
    try disk.open(Self.key, createIfMissing: false).map { try $0.read($0.size(), at: 0) }
  }

  /// Puts a key file in place by a rename.
  public func setKeyFile(_ bytes: [UInt8]) throws {
    guard let file = try disk.open(".new.key", createIfMissing: true) else { return }
    try file.resize(to: 0)
    try file.write(bytes, at: 0)
    try file.synchronize()
    try disk.rename(".new.key", to: Self.key)
    try disk.synchronizeDirectory()
  }

  /// The files that hold records or buffers.
  public func filesForManifest() -> [String] {
    disk.names.filter {
      $0 != Self.log && $0 != Self.manifest && $0 != Self.key && !$0.hasPrefix(".")
        && !OrderedFiles.isFile($0)
    }
  }

  /// Whether there is a file of this name.
  public func hasFile(_ name: String) -> Bool { disk.names.contains(name) }

  /// Lets go of the ordered tables.
  public func close() { ordered.close() }
}
