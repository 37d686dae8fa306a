import Files
import Locks

/// The files of a backend's ordered tables, under its commit log: one for each table.
///
/// They have the same format, whatever the backend keeps its records in. Safe on any threads.
public final class OrderedFiles: Sendable {
  let directory: StoreDirectory
  /// What an encrypted store's pages are sealed with.
  private let sealing = Locked<Sealing?>(nil)
  private let state = Locked(State())

  private struct State {
    var tables: [Table] = []
    /// Where in the list each table is.
    var numbers: [OrderedTableName: Int] = [:]
    var isClosed = false
  }

  private struct Table {
    let name: OrderedTableName
    /// Where the file is: under its name, unless a reader found that a writer had died before
    /// renaming.
    var fileName: String
    var file = File.unknown
    /// Whether the file was there, or the manifest says so: without it keys are lost.
    var isNeeded = false
    /// How often the file has been replaced.
    var generation: UInt64 = 0
  }

  enum File: Sendable {
    case unknown
    /// There is none, and never was.
    case missing
    /// There was one, which is gone or damaged, and why; the table is an index, which can be made
    /// again.
    case lost(reason: String)
    case open(OrderedFile)

    var opened: OrderedFile? { if case .open(let file) = self { file } else { nil } }
    var isLost: Bool { if case .lost = self { true } else { false } }
  }

  /// The files in a directory, which the backend has locked.
  public init(_ directory: StoreDirectory) { self.directory = directory }

  /// Has pages sealed; before anything is read.
  func use(_ sealing: Sealing?) { self.sealing.withLock { $0 = sealing } }

  private func pageCodec(of name: OrderedTableName) -> (any OrderedPageCodec)? {
    sealing.withLock { $0 }.map { SealedPages($0.seal, fileName: name.fileName) }
  }

  /// Whether a file is named as one of an ordered table.
  public static func isFile(_ name: String) -> Bool { OrderedTableName(fileName: name) != nil }

  /// The number of a table.
  func table(_ name: OrderedTableName) throws -> OrderedTableID {
    try name.check()
    return try state.withLock { state in
      try Self.checkOpen(state)
      if let known = state.numbers[name] { return OrderedTableID(index: known) }
      state.numbers[name] = state.tables.count
      state.tables.append(Table(name: name, fileName: name.fileName))
      return OrderedTableID(index: state.tables.count - 1)
    }
  }

  /// The name of a table that has a number.
  func name(of table: OrderedTableID) throws -> OrderedTableName {
    try state.withLock { try Self.table(table, in: $0).name }
  }

  private static func checkOpen(_ state: State) throws {
    if state.isClosed { throw StoreError(.closed, "The backend has been closed.") }
  }

  private static func table(_ id: OrderedTableID, in state: State) throws -> Table {
    try checkOpen(state)
    precondition(state.tables.indices.contains(id.index), "an ordered table of another backend")
    return state.tables[id.index]
  }

  /// The file of a table, and how often it has been replaced.
  ///
  /// - Throws: ``StoreError`` with `damaged` for what is no index, `ioError` or `closed`.
  func file(of id: OrderedTableID) throws -> (file: File, generation: UInt64) {
    try state.withLock { state in
      try Self.checkOpen(state)
      precondition(state.tables.indices.contains(id.index), "an ordered table of another backend")
      // Most often it is known, and nothing else of the table is copied.
      if case .unknown = state.tables[id.index].file {
        state.tables[id.index].file = try open(state.tables[id.index])
      }
      return (state.tables[id.index].file, state.tables[id.index].generation)
    }
  }

  /// How often the file of a table has been replaced.
  func generation(of id: OrderedTableID) throws -> UInt64 {
    try state.withLock { try Self.table(id, in: $0).generation }
  }

  /// The file of a table, and how often it has been replaced; nil when it has not been opened yet.
  func knownFile(of id: OrderedTableID) throws -> (file: File, generation: UInt64)? {
    try state.withLock { state in
      try Self.checkOpen(state)
      precondition(state.tables.indices.contains(id.index), "an ordered table of another backend")
      if case .unknown = state.tables[id.index].file { return nil }
      return (state.tables[id.index].file, state.tables[id.index].generation)
    }
  }

  private func open(_ table: Table) throws -> File {
    do {
      let map = try systemErrors(at: directory.path) {
        do {
          return try directory.map(table.fileName)
        } catch let error as SystemError where error.isOfNoRegularFile {
          throw notAFile(table.fileName)
        }
      }
      guard let map else {
        if table.isNeeded { throw StoreError.fileGone(table.fileName, in: directory.path) }
        return .missing
      }
      return .open(try OrderedFile(map, codec: pageCodec(of: table.name)))
    } catch let error as StoreError where error.code == .damaged && table.name.kind == .index {
      return .lost(reason: error.message)
    }
  }

  /// Takes note of files that must be there.
  func need(_ fileNames: [String]) throws {
    for name in fileNames.compactMap(OrderedTableName.init(fileName:)) {
      let id = try table(name)
      state.withLock { $0.tables[id.index].isNeeded = true }
    }
  }

  private func notAFile(_ fileName: String) -> StoreError {
    StoreError(
      .damaged,
      """
      "\(fileName)" is a directory, or something else that is no file, and has the name of one of the \
      store's. Move it out of the store's directory.
      """, at: .init(path: directory.path + "/" + fileName))
  }

  /// Takes note that the file of an index should be there and is not, or is damaged.
  func lose(_ name: OrderedTableName) throws {
    let id = try table(name)
    state.withLock {
      $0.tables[id.index].file = .lost(reason: "The file of the index is gone.")
    }
  }

  /// Takes back that an index is lost: a checkpoint in the log has made its file.
  func find(_ fileName: String) throws {
    guard let name = OrderedTableName(fileName: fileName) else { return }
    let id = try table(name)
    state.withLock { state in
      if state.tables[id.index].file.isLost { state.tables[id.index].file = .unknown }
    }
  }

  /// The mark in the file of a table, by the name that the file has or is to get.
  func mark(of fileName: String) throws -> FileMark? {
    let redirected = state.withLock { state in
      OrderedTableName(fileName: fileName).flatMap { state.numbers[$0] }
        .map { state.tables[$0].fileName }
    }
    return try mark(ofFile: redirected ?? fileName)
  }

  /// The mark in a file; nil when there is none, or no such file.
  func mark(ofFile fileName: String) throws -> FileMark? {
    do {
      guard let map = try directory.map(fileName) else { return nil }
      return OrderedFileFormat.mark(map)
    } catch let error as SystemError {
      // A directory in the place of an index is no reason to open nothing.
      if error.isOfNoRegularFile { return .unreadable }
      throw StoreError(error)
    }
  }

  /// The tables that have files, in no order.
  func names() throws -> [OrderedTableName] {
    let redirected = try state.withLock { state in
      try Self.checkOpen(state)
      return state.tables.filter { table in
        table.fileName != table.name.fileName || table.isNeeded && table.name.kind == .data
      }.map(\.name)
    }
    let found = try systemErrors(at: directory.path) { try directory.entries() }
    return Array(Set(found.compactMap(OrderedTableName.init(fileName:))).union(redirected))
  }

  /// The indexes that are known to be lost.
  func lostNames() -> [OrderedTableName] { lostIndexes().map(\.name) }

  /// The indexes that are known to be lost, and why.
  func lostIndexes() -> [(name: OrderedTableName, reason: String)] {
    state.withLock { state in
      state.tables.compactMap { table in
        if case .lost(let reason) = table.file { (table.name, reason) } else { nil }
      }
    }
  }

  /// Whether there is a file of a table.
  func hasFile(_ name: OrderedTableName) throws -> Bool {
    let fileName = state.withLock { state in
      state.numbers[name].map { state.tables[$0].fileName }
    }
    return try systemErrors(at: directory.path) { try directory.hasFile(fileName ?? name.fileName) }
  }

  // MARK: Replacing

  /// Makes new files of the old ones and what is pending.
  ///
  /// Complexity: linear in the sizes of the files.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError`, `damaged` or `closed`. No new file is left
  ///   then.
  func prepare(
    _ pending: [(OrderedTableID, PendingKeys)], mark: FileMark, durability: Durability
  ) throws -> [Replacement] {
    var made: [Replacement] = []
    do {
      for (table, keys) in pending {
        // For a table of data whose name something else has, this throws.
        let (file, _) = try file(of: table)
        if file.isLost && !keys.isCleared { continue }
        let replacement = Replacement(
          newName: "\(StoreDirectory.newPrefix)ordered-\(made.count)",
          name: try name(of: table).fileName, mark: mark)
        made.append(replacement)
        try systemErrors(at: directory.path) {
          try write(
            keys.view(over: file.opened), to: replacement, isSynced: durability != .none)
        }
      }
      return made
    } catch {
      for replacement in made { directory.remove(replacement.newName) }
      throw error
    }
  }

  /// Makes a new file of the keys that a closure appends in their order.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`; what the closure throws. No new
  ///   file is left then.
  func prepare(
    _ table: OrderedTableID, mark: FileMark, durability: Durability,
    _ body: (inout OrderedFileWriter) throws -> Void
  ) throws -> Replacement {
    let name = try name(of: table)
    let replacement = Replacement(
      newName: "\(StoreDirectory.newPrefix)ordered-0", name: name.fileName, mark: mark)
    do {
      try systemErrors(at: directory.path) {
        var writer = OrderedFileWriter(
          try NewOrderedFile(replacement.newName, in: directory, replacing: replacement.name),
          codec: pageCodec(of: name), mark: mark)
        try body(&writer)
        try writer.finish(isSynced: durability != .none)
      }
      return replacement
    } catch {
      directory.remove(replacement.newName)
      throw error
    }
  }

  /// Begins a temporary file.
  func makeScratchFile(_ number: Int) throws -> ScratchFile {
    let name = "\(ScratchFile.prefix)\(number)"
    let codec = sealing.withLock { $0 }.map { SealedPages($0.seal, fileName: name) }
    return try ScratchFile(name, in: directory, codec: codec)
  }

  private func write(_ view: OrderedView, to replacement: Replacement, isSynced: Bool) throws {
    do {
      try writeKeys(of: view, to: replacement, isSynced: isSynced)
    } catch let error as StoreError where error.code == .damaged {
      guard OrderedTableName(fileName: replacement.name)?.kind == .index else { throw error }
      // An index that is empty is made anew, and one that is not is believed.
      let nothing = OrderedView(file: nil, runs: KeyRuns())
      try writeKeys(of: nothing, to: replacement, isSynced: isSynced)
    }
  }

  private func writeKeys(
    of view: OrderedView, to replacement: Replacement, isSynced: Bool
  ) throws {
    let codec = OrderedTableName(fileName: replacement.name).flatMap { pageCodec(of: $0) }
    var writer = OrderedFileWriter(
      try NewOrderedFile(replacement.newName, in: directory, replacing: replacement.name),
      codec: codec, mark: replacement.mark)
    try view.scanOnce { key, value in try writer.append(key, value) }
    try writer.finish(isSynced: isSynced)
  }

  /// Gives new files their final names, or, where nothing may be written, reads them where they
  /// are.
  func publish(_ replacements: [Replacement]) throws {
    for replacement in replacements {
      guard replacement.newName.hasPrefix(StoreDirectory.newPrefix),
        !replacement.newName.contains("/"),
        let name = OrderedTableName(fileName: replacement.name)
      else {
        throw StoreError(
          .damaged, "The log names a file that it can't mean.", at: .init(path: directory.path))
      }
      try publish(replacement.newName, table(name).index)
    }
  }

  private func publish(_ newName: String, _ index: Int) throws {
    try state.withLock { state in
      var table = state.tables[index]
      try systemErrors(at: directory.path) {
        guard try directory.hasFile(newName) else { return }
        if directory.isReadOnly {
          table.fileName = newName
        } else {
          try rename(newName, to: table.name)
        }
        table.file = .unknown
        table.isNeeded = true
        table.generation += 1
      }
      state.tables[index] = table
    }
  }

  /// An index whose name something else has that is no file is lost, which can be made good; nobody
  /// could open the store if it were an error.
  private func rename(_ newName: String, to name: OrderedTableName) throws {
    do {
      try directory.rename(newName, to: name.fileName)
    } catch let error as SystemError where name.kind == .index && error.isOfNoRegularFile {
      directory.remove(newName)
    }
  }

  /// The files among some that have marks and no keys.
  func emptyFiles(among fileNames: [String]) -> [String] {
    fileNames.filter { fileName in
      guard let name = OrderedTableName(fileName: fileName), let id = try? table(name),
        let file = try? file(of: id).file.opened, file.count == 0,
        let mark = try? mark(of: fileName)
      else { return false }
      return mark != .unreadable
    }
  }

  /// Removes such files, as far as that can be done; generations stay.
  func removeEmpty(_ fileNames: [String]) {
    for fileName in fileNames {
      guard let name = OrderedTableName(fileName: fileName), let id = try? table(name) else {
        continue
      }
      state.withLock { state in
        guard (try? removeFile(directory.file(fileName))) != nil else { return }
        (state.tables[id.index].file, state.tables[id.index].isNeeded) = (.missing, false)
      }
    }
  }

  /// The size of the files of some tables.
  func byteCount(of tables: some Sequence<OrderedTableID>) throws -> Int {
    try tables.reduce(0) { $0 + (try file(of: $1).file.opened?.byteCount ?? 0) }
  }

  /// Gives the files back, as soon as nobody reads them any more.
  public func close() {
    state.withLock { state in
      state.isClosed = true
      (state.tables, state.numbers) = ([], [:])
    }
  }
}
