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
    if let found = try pendingRecord(rowID, table) {
      return try found.map { try $0.bytes.lend($0.range, body) }
    }
    return try files.withRecord(rowID, in: table, body)
  }

  /// Copies the record of a row: what is pending of it, or what its file has.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws -> Bool {
    guard let found = try pendingRecord(rowID, table) else {
      return try files.copyRecord(rowID, in: table, to: &bytes)
    }
    if let found { bytes.append(contentsOf: found.bytes[found.range]) }
    return found != nil
  }

  /// What is pending of a row: its bytes, or nil when it is deleted; nil when nothing is pending.
  private func pendingRecord(_ rowID: UInt32, _ table: TableID) throws -> PendingRecords.Bytes?? {
    try state.withLock { state in
      try check(state)
      return state.pending.isEmpty ? nil : state.pending.record(rowID, in: table)
    }
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
}
