import Files
import Locks

extension LoggedBackend {
  /// The number of a table.
  public func table(named name: String) throws -> TableID {
    try checkOpen()
    guard let sealing else { return try files.table(named: name) }
    return try naming { try files.table(named: sealing.fileName(ofTable: name)) }
  }

  /// The names of the tables that have records.
  public func tableNames() throws -> [String] {
    try checkOpen()
    var names = Set(try files.tableNames())
    for id in state.withLock({ $0.tables }) {
      let name = try files.name(of: id)
      if try recordCount(in: id) > 0 { names.insert(name) } else { names.remove(name) }
    }
    // What has a name that this store has not sealed is not of this store: a check tells.
    return sealing.map { sealing in names.compactMap { sealing.name($0) } } ?? Array(names)
  }

  /// The number of rows in a table.
  public func recordCount(in table: TableID) throws -> Int {
    try checkOpen()
    while true {
      let generation = try files.generation(of: table)
      let growth = state.withLock { $0.growth(of: table, fileGeneration: generation) }
      let count = try files.recordCount(in: table)
      // A checkpoint in between has moved rows from one side to the other.
      guard try files.generation(of: table) == generation else { continue }
      return count + (growth ?? 0)
    }
  }

  /// Lends the record of a row: what is pending of it, or what its file has.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    guard let sealing else { return try withStoredRecord(rowID, in: table, body) }
    return try naming {
      let location = try location(rowID, table, sealing)
      return try withStoredRecord(rowID, in: table) { sealed in
        var bytes: [UInt8] = []
        try sealing.open(sealed, location, to: &bytes) { errorLocation(rowID, table) }
        return try bytes.lend(body)
      }
    }
  }

  /// Lends the record of a row as the files have it.
  private func withStoredRecord<Result>(
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
    if let sealing {
      return try naming {
        let location = try location(rowID, table, sealing)
        return try withStoredRecord(rowID, in: table) { sealed in
          try sealing.open(sealed, location, to: &bytes) { errorLocation(rowID, table) }
        } != nil
      }
    }
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
      return state.hasNothingPending ? nil : state.record(rowID, in: table)
    }
  }

  /// Lends the buffer of a name: what is pending of it, or what its file has.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    guard let sealing else { return try withStoredBuffer(name, body) }
    let key = try sealing.key(ofBuffer: name)
    return try withStoredBuffer(key) { sealed in
      var bytes: [UInt8] = []
      try sealing.open(sealed, sealing.location(ofBuffer: key), to: &bytes) {
        .init(path: location, className: StoreDirectory.buffers)
      }
      return try bytes.lend(body)
    }
  }

  /// Lends a buffer as the files have it.
  private func withStoredBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let found = try state.withLock { state in
      try check(state)
      return state.buffer(ExactName(name))
    }
    if let found { return try found.map { try $0.bytes.lend($0.range, body) } }
    return try files.withNamedBuffer(name, body)
  }

  /// The names of all buffers.
  public func bufferNames() throws -> [String] {
    try checkOpen()
    var names = Set(try files.bufferNames().map(ExactName.init))
    let layers = state.withLock { [$0.folding, $0.pending].compactMap(\.self) }
    for (name, entry) in layers.flatMap(\.names) {
      if entry.isDeleted { names.remove(name) } else { names.insert(name) }
    }
    guard let sealing else { return names.map(\.text) }
    return try names.map { key in
      guard let name = sealing.name(key.text) else { throw strangeBuffer }
      return name
    }
  }

  private var strangeBuffer: StoreError {
    StoreError(
      .notAuthentic, "A buffer has a name that this store has not sealed.",
      at: .init(path: location, className: StoreDirectory.buffers))
  }

  var closedError: StoreError {
    StoreError(.closed, "The backend has been closed.", at: .init(path: location))
  }
}
