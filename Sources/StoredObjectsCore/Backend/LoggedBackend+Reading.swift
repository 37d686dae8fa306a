import Files
import Locks

extension LoggedBackend {
  /// The number of a table.
  public func table(named name: String) throws -> TableID {
    try checkOpen()
    return try files.table(named: name)
  }

  /// The names of the tables that have records.
  public func tableNames() throws -> [String] {
    try checkOpen()
    var names = Set(try files.tableNames())
    for id in state.withLock({ $0.pending }).tables.keys {
      let name = try files.name(of: id)
      if try recordCount(in: id) > 0 { names.insert(name) } else { names.remove(name) }
    }
    return Array(names)
  }

  /// The number of rows in a table.
  public func recordCount(in table: TableID) throws -> Int {
    try checkOpen()
    while true {
      let generation = try files.generation(of: table)
      let pending = state.withLock { $0.pending.tables[table] }
      let count = try files.recordCount(in: table)
      // A checkpoint in between has moved rows from one side to the other.
      guard try files.generation(of: table) == generation else { continue }
      guard let pending, pending.fileGeneration == generation else { return count }
      return count + pending.countDifference
    }
  }

  /// Lends the record of a row: what is pending of it, or what its file has.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let found = try state.withLock { state in
      try check(state)
      return state.pending.tables[table]?.rows[rowID].map { state.pending.bytes(of: $0) }
    }
    if let found { return try found.map { try $0.bytes.lend($0.range, body) } }
    return try files.withRecord(rowID, in: table, body)
  }

  /// Lends the buffer of a name: what is pending of it, or what its file has.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let found = try state.withLock { state in
      try check(state)
      return state.pending.names[ExactName(name)].map { state.pending.bytes(of: $0) }
    }
    if let found { return try found.map { try $0.bytes.lend($0.range, body) } }
    return try files.withNamedBuffer(name, body)
  }

  /// The names of all buffers.
  public func bufferNames() throws -> [String] {
    try checkOpen()
    var names = Set(try files.bufferNames().map(ExactName.init))
    for (name, entry) in state.withLock({ $0.pending }).names {
      if entry.isDeleted { names.remove(name) } else { names.insert(name) }
    }
    return names.map(\.text)
  }

  var closedError: StoreError {
    StoreError(.closed, "The backend has been closed.", at: .init(path: location))
  }

  // MARK: Scans

  /// Lends the records of a table: those of its file that nothing pending replaces, and then those
  /// that are pending, in the order of their rows.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    try checkOpen()
    let fileGeneration = try files.generation(of: table)
    let (pending, generation) = state.withLock { state in
      (state.pending, fileGeneration &+ state.commits[table, default: 0])
    }
    if let position, position.generation != generation { return .disturbed }
    let rows = pending.tables[table]?.rows ?? [:]
    if position?.isPending != true {
      let end = try files.scan(
        table, from: position.map { ScanPosition(place: $0.place, generation: fileGeneration) }
      ) { rowID, record in
        rows[rowID] == nil ? try body(rowID, record) : .next
      }
      switch end {
      case .disturbed: return .disturbed
      case .paused(let pause):
        return .paused(ScanPosition(place: pause.place, generation: generation))
      case .finished: break
      }
    }
    let start = position.flatMap { $0.isPending ? $0.pendingRow : nil } ?? 0
    for rowID in rows.keys.filter({ $0 > start }).sorted() {
      guard let entry = rows[rowID], let found = pending.bytes(of: entry) else { continue }
      if try found.bytes.lend(found.range, { try body(rowID, $0) }) == .pause {
        return .paused(.pending(rowID, generation: generation))
      }
    }
    return .finished
  }
}

extension ScanPosition {
  private static let pendingBit: UInt64 = 1 << 63

  /// Whether the place is behind a pending record.
  fileprivate var isPending: Bool { place & Self.pendingBit != 0 }
  fileprivate var pendingRow: UInt32 { UInt32(truncatingIfNeeded: place) }

  fileprivate static func pending(_ rowID: UInt32, generation: UInt64) -> ScanPosition {
    ScanPosition(place: pendingBit | UInt64(rowID), generation: generation)
  }
}
