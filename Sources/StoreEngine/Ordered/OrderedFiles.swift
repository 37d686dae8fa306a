import Files
import Locks

/// The files of a backend's ordered tables, below its commit log, one for each table.
///
/// All backends use the same format for them. Safe on any thread.
public final class OrderedFiles: Sendable {
  let directory: StoreDirectory
  /// Seals the pages of an encrypted store.
  let sealing: Locked<Sealing?>
  /// The sizes of the segments of large tables.
  let segmentLimits = Locked(SegmentLimits())
  let state: Locked<State>

  struct State: Sendable {
    var tables: [Table] = []
    /// The index of each table in the list, by the file's own name.
    var numbers = SortedNames<Int>()
    var isClosed = false
    /// Whether these are the files of a snapshot, independent of later files in the directory.
    var isFrozen = false
    /// Whether a table without a number counts as having no file, whatever others have published.
    var holdsFiles = false
  }

  struct Table: Sendable {
    let name: OrderedTableName
    /// The name of the file; temporary in a reader if a process died before renaming it.
    var fileName: String
    var file = File.unknown
    /// Whether the file has existed, or the manifest lists it; if it is missing, keys are lost.
    var isNeeded = false
    /// Whether there may be files of segments.
    var hasSegments = false
    /// The segments before the file was last replaced, of which most stay the same.
    var earlierSegments: OrderedSegments?
    /// The number of times the file has been replaced.
    var generation: UInt64 = 0
  }

  enum File: Sendable {
    case unknown
    /// There is no file, and never was one.
    case missing
    /// The file of an index, which can be rebuilt, is missing or damaged.
    case lost(reason: String)
    case open(OrderedBase)

    var opened: OrderedBase? { if case .open(let base) = self { base } else { nil } }
    var isLost: Bool { if case .lost = self { true } else { false } }
  }

  /// Creates the access to files in a directory, which the backend has locked.
  public init(_ directory: StoreDirectory) {
    self.directory = directory
    sealing = Locked(nil)
    state = Locked(State())
  }

  private init(_ directory: StoreDirectory, _ sealing: Sealing?, frozen state: State) {
    self.directory = directory
    self.sealing = Locked(sealing)
    self.state = Locked(state)
  }

  /// Returns the present files, which are never replaced; opens those that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func frozen() throws(StoreError) -> OrderedFiles {
    try openAll()
    var frozen = state.withLock { $0 }
    frozen.isFrozen = true
    for index in frozen.tables.indices { frozen.tables[index].isNeeded = false }
    return OrderedFiles(directory, sealing.withLock { $0 }, frozen: frozen)
  }

  /// The number of numbered tables.
  var tableCount: Int { state.withLock { $0.tables.count } }

  /// Sets the sealing of pages; called before anything is read.
  func use(_ sealing: Sealing?) { self.sealing.withLock { $0 = sealing } }

  func pageCodec(of name: OrderedTableName) -> (any OrderedPageCodec)? {
    pageCodec(ofFile: name.fileName)
  }

  /// Returns whether a file name is that of an ordered table.
  public static func isFile(_ name: String) -> Bool { OrderedTableName(fileName: name) != nil }

  /// Returns the number of a table, which is assigned if the table is new.
  func table(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try state.withLock { (state) throws(StoreError) in
      try Self.checkOpen(state)
      if let known = state.numbers[name.fileName] { return OrderedTableID(index: known) }
      try name.check()
      state.numbers[name.fileName] = state.tables.count
      var new = Table(name: name, fileName: name.fileName)
      if state.isFrozen || state.holdsFiles { new.file = .missing }
      state.tables.append(new)
      return OrderedTableID(index: state.tables.count - 1)
    }
  }

  /// Returns the name of a table.
  func name(of table: OrderedTableID) throws(StoreError) -> OrderedTableName {
    try state.withLock { (state) throws(StoreError) in try Self.table(table, in: state).name }
  }

  static func checkOpen(_ state: State) throws(StoreError) {
    if state.isClosed { throw StoreError(.closed, "The backend has been closed.") }
  }

  static func table(_ id: OrderedTableID, in state: State) throws(StoreError) -> Table {
    try checkOpen(state)
    precondition(state.tables.indices.contains(id.index), "an ordered table of another backend")
    return state.tables[id.index]
  }

  /// Returns the file of a table, and the number of times it has been replaced.
  ///
  /// - Throws: ``StoreError`` with `damaged` for a table of data, `ioError` or `closed`.
  func file(of id: OrderedTableID) throws(StoreError) -> (file: File, generation: UInt64) {
    try state.withLock { (state) throws(StoreError) in
      try Self.checkOpen(state)
      precondition(state.tables.indices.contains(id.index), "an ordered table of another backend")
      // Usually the file is known, and nothing else of the table is copied.
      if case .unknown = state.tables[id.index].file {
        let file = try open(state.tables[id.index])
        state.tables[id.index].file = file
        state.tables[id.index].earlierSegments = nil
        if file.opened?.segments != nil { state.tables[id.index].hasSegments = true }
      }
      return (state.tables[id.index].file, state.tables[id.index].generation)
    }
  }

  /// Returns the number of times the file of a table has been replaced.
  func generation(of id: OrderedTableID) throws(StoreError) -> UInt64 {
    try state.withLock { (state) throws(StoreError) in try Self.table(id, in: state).generation }
  }

  /// Returns the file of a table and its number of replacements; nil if it is not opened yet.
  func knownFile(of id: OrderedTableID) throws(StoreError) -> (file: File, generation: UInt64)? {
    try state.withLock { (state) throws(StoreError) in
      try Self.checkOpen(state)
      precondition(state.tables.indices.contains(id.index), "an ordered table of another backend")
      if case .unknown = state.tables[id.index].file { return nil }
      return (state.tables[id.index].file, state.tables[id.index].generation)
    }
  }

  func open(_ table: Table) throws(StoreError) -> File {
    do throws(StoreError) {
      guard let map = try map(table.fileName) else {
        if table.isNeeded { throw StoreError.fileGone(table.fileName, in: directory.path) }
        return .missing
      }
      return .open(try base(in: map, table.name, table.earlierSegments))
    } catch  where error.code == .damaged && table.name.kind == .index {
      return .lost(reason: error.message)
    }
  }

  private func base(
    in map: MappedFile, _ name: OrderedTableName, _ earlier: OrderedSegments?
  ) throws(StoreError) -> OrderedBase {
    let file = try OrderedFile(any: map, codec: pageCodec(of: name))
    switch file.footer.content {
    case .keys: return .file(file)
    case .segments:
      return .segments(
        try openSegments(SegmentList(file), of: name, path: file.path, earlier: earlier))
    case .run: throw file.damage("It is a part of a table, and not the whole table", at: 0)
    }
  }

  func map(_ fileName: String) throws(StoreError) -> MappedFile? {
    do {
      return try directory.map(fileName)
    } catch  where error.refusal?.isOfNoRegularFile == true {
      throw notAFile(fileName)
    }
  }

  /// Records all files of the directory, which only this process changes: no other table has one.
  func know(_ fileNames: [String]) throws(StoreError) {
    for name in fileNames.compactMap(OrderedTableName.init(fileName:)) { _ = try table(name) }
    state.withLock { $0.holdsFiles = true }
  }

  /// Records files that must exist.
  func need(_ fileNames: [String]) throws(StoreError) {
    for name in fileNames.compactMap(OrderedTableName.init(fileName:)) {
      let id = try table(name)
      state.withLock { $0.tables[id.index].isNeeded = true }
    }
  }

  private func notAFile(_ fileName: String) -> StoreError {
    StoreError(
      .damaged,
      """
      "\(fileName)" has the name of one of the store's files, and is a directory or something \
      else. Move it out of the store's directory.
      """, at: .init(path: directory.path + "/" + fileName))
  }

  /// Records that the file of an index is missing or damaged.
  func lose(_ name: OrderedTableName) throws(StoreError) {
    let id = try table(name)
    state.withLock {
      $0.tables[id.index].file = .lost(reason: "The file of the index is gone.")
    }
  }

  /// Records that an index is not lost: a checkpoint in the log has created its file.
  func find(_ fileName: String) throws(StoreError) {
    guard let name = OrderedTableName(fileName: fileName) else { return }
    let id = try table(name)
    state.withLock { state in
      if state.tables[id.index].file.isLost { state.tables[id.index].file = .unknown }
    }
  }

  /// Makes the next access to a file open it again, because another process has replaced it.
  func forget(_ fileName: String) {
    state.withLock { state in
      guard let index = state.numbers[fileName] else { return }
      switch state.tables[index].file {
      case .open, .missing:
        state.tables[index].file = .unknown
        state.tables[index].generation += 1
      case .unknown, .lost: break
      }
    }
  }

  /// Returns the mark in the file of a table, by the file's present or final name.
  func mark(of fileName: String) throws(StoreError) -> FileMark? {
    let redirected = state.withLock { state in
      state.numbers[fileName].map { state.tables[$0].fileName }
    }
    return try mark(ofFile: redirected ?? fileName)
  }

  /// Returns the mark in a file; nil if there is no mark or no file.
  func mark(ofFile fileName: String) throws(StoreError) -> FileMark? {
    do {
      guard let map = try directory.map(fileName) else { return nil }
      return OrderedFileFormat.mark(map)
    } catch  where error.refusal?.isOfNoRegularFile == true {
      // A directory in place of an index must not prevent opening the store.
      return .unreadable
    }
  }

  /// Returns the tables that have files, in no particular order.
  func names() throws(StoreError) -> [OrderedTableName] {
    let (isFrozen, redirected) = try state.withLock { (state) throws(StoreError) in
      try Self.checkOpen(state)
      if state.isFrozen {
        return (true, state.tables.filter { $0.file.opened != nil }.map(\.name))
      }
      return (
        false,
        state.tables.filter { table in
          table.fileName != table.name.fileName || table.isNeeded && table.name.kind == .data
        }.map(\.name)
      )
    }
    if isFrozen { return redirected }
    let found = try systemErrors(at: directory.path) { try directory.entries() }
    return Array(Set(found.compactMap(OrderedTableName.init(fileName:))).union(redirected))
  }

  /// Returns the indexes that are known to be lost.
  func lostNames() -> [OrderedTableName] { lostIndexes().map(\.name) }

  /// Returns the indexes that are known to be lost, with the reasons.
  func lostIndexes() -> [(name: OrderedTableName, reason: String)] {
    state.withLock { state in
      state.tables.compactMap { table in
        if case .lost(let reason) = table.file { (table.name, reason) } else { nil }
      }
    }
  }

  /// Whether a table has a file.
  func hasFile(_ name: OrderedTableName) throws(StoreError) -> Bool {
    let fileName = state.withLock { state in
      state.numbers[name.fileName].map { state.tables[$0].fileName }
    }
    return try systemErrors(at: directory.path) { try directory.hasFile(fileName ?? name.fileName) }
  }

  /// Returns the number of bytes that a fold of tables writes.
  func foldedByteCount(of tables: some Sequence<OrderedTableID>) throws(StoreError) -> Int {
    let limits = segmentLimits.withLock { $0 }
    var count = 0
    for table in tables {
      count += try file(of: table).file.opened.map(limits.foldedByteCount) ?? 0
    }
    return count
  }

  /// Closes the files, which are released when the last reader ends.
  ///
  /// Complexity: linear in the number of tables.
  public func close() {
    state.withLock { state in
      state.isClosed = true
      (state.tables, state.numbers) = ([], SortedNames())
    }
  }
}
