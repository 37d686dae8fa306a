import Files
import Locks

extension LoggedBackend {
  /// The number of a table.
  public func table(named name: String) throws(StoreError) -> TableID {
    try checkOpen()
    return try naming { () throws(StoreError) in
      try files.table(named: sealedName(ofTable: name))
    }
  }

  /// The names of the tables that have records.
  public func tableNames() throws(StoreError) -> [String] {
    try checkOpen()
    try refresh()
    var names = Set(try files.tableNames())
    for id in state.withLock({ $0.tables }) {
      let name = try files.name(of: id)
      if try recordCount(in: id) > 0 { names.insert(name) } else { names.remove(name) }
    }
    // What has a name that this store has not sealed is not of this store: a check tells.
    return names.compactMap { openedName($0) }
  }

  /// The number of rows in a table.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try checkOpen()
    try refresh()
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
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try refresh()
    return try withKnownRecord(rowID, in: table, body)
  }

  /// Lends a record, without a look at what other processes have committed.
  private func withKnownRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let sealing else { return try withStoredRecord(rowID, in: table, body) }
    return try naming { () throws(StoreError) in
      let location = try location(rowID, table, sealing)
      return try withStoredRecord(rowID, in: table) { (sealed) throws(StoreError) in
        var bytes: [UInt8] = []
        try sealing.open(sealed, location, to: &bytes) { errorLocation(rowID, table) }
        return try bytes.lend(body)
      }
    }
  }

  /// A copy of a record, without a look at what other processes have committed.
  func knownRecord(_ rowID: UInt32, _ table: TableID) throws(StoreError) -> [UInt8]? {
    try withKnownRecord(rowID, in: table) { (record) throws(StoreError) in
      [UInt8](copying: record)
    }
  }

  /// Lends the record of a row as the files have it.
  private func withStoredRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let found = try pendingRecord(rowID, table) {
      return try found.map { (found) throws(StoreError) in
        try found.bytes.lend(found.range, body)
      }
    }
    return try files.withRecord(rowID, in: table, body)
  }

  /// Copies the record of a row: what is pending of it, or what its file has.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try refresh()
    if let sealing {
      return try naming { () throws(StoreError) in
        let location = try location(rowID, table, sealing)
        return try withStoredRecord(rowID, in: table) { (sealed) throws(StoreError) in
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

  /// Copies the records of rows: what is pending of them, and what the file has of the others.
  ///
  /// Both are asked once. A commit in between may leave one row as it was before, and another as it
  /// is after it.
  public func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    try refresh()
    if sealing != nil {
      return try batch.append(rows) { (row, bytes) throws(StoreError) in
        try copyRecord(row, in: table, to: &bytes)
      }
    }
    let pending = try pendingRecords(rows, table)
    if pending.isEmpty { return try files.copyRecords(rows, of: table, to: &batch) }
    var start = 0
    for (index, record) in pending {
      if start < index {
        try files.copyRecords(Array(rows[start..<index]), of: table, to: &batch)
      }
      if batch.stopsWhenFull, batch.isFull { return }
      if let record { record.bytes.lend(record.range) { batch.append(rows[index], $0) } }
      start = index + 1
    }
    if start < rows.count { try files.copyRecords(Array(rows[start...]), of: table, to: &batch) }
  }

  /// The pending bytes of some rows, or nil for a deleted one, each with its index.
  private func pendingRecords(
    _ rows: [UInt32], _ table: TableID
  ) throws(StoreError) -> [(index: Int, record: PendingRecords.Bytes?)] {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      if state.hasNothingPending { return [] }
      return rows.indices.compactMap { index in
        state.record(rows[index], in: table).map { (index, $0) }
      }
    }
  }

  /// What is pending of a row: its bytes, or nil when it is deleted; nil when nothing is pending.
  private func pendingRecord(_ rowID: UInt32, _ table: TableID) throws(StoreError) -> PendingRecords
    .Bytes??
  {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      return state.hasNothingPending ? nil : state.record(rowID, in: table)
    }
  }

  /// Lends the buffer of a name: what is pending of it, or what its file has.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try refresh()
    guard let sealing else { return try withStoredBuffer(name, body) }
    let key = try sealing.key(ofBuffer: name)
    return try withStoredBuffer(key) { (sealed) throws(StoreError) in
      var bytes: [UInt8] = []
      try sealing.open(sealed, sealing.location(ofBuffer: key), to: &bytes) {
        .init(path: location, className: StoreDirectory.buffers)
      }
      return try bytes.lend(body)
    }
  }

  /// Copies the buffer of a name: what is pending of it, or what its file has.
  public func copyNamedBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try refresh()
    if sealing != nil {
      return try withNamedBuffer(name) { bytes.append(copying: $0) } != nil
    }
    guard let found = try pendingBuffer(name) else {
      return try files.copyNamedBuffer(name, to: &bytes)
    }
    if let found { bytes.append(contentsOf: found.bytes[found.range]) }
    return found != nil
  }

  /// Lends a buffer as the files have it.
  private func withStoredBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let found = try pendingBuffer(name) {
      return try found.map { (found) throws(StoreError) in
        try found.bytes.lend(found.range, body)
      }
    }
    return try files.withNamedBuffer(name, body)
  }

  /// The pending bytes of a buffer, or nil when it is removed; nil when nothing is pending.
  private func pendingBuffer(_ name: String) throws(StoreError) -> PendingRecords.Bytes?? {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      if state.hasNothingPending { return nil }
      return state.buffer(ExactName(name))
    }
  }

  /// The names of all buffers.
  public func bufferNames() throws(StoreError) -> [String] {
    try checkOpen()
    try refresh()
    var names = Set(try files.bufferNames().map(ExactName.init))
    let layers = state.withLock { [$0.folding, $0.pending].compactMap(\.self) }
    for (name, entry) in layers.flatMap(\.names) {
      if entry.isDeleted { names.remove(name) } else { names.insert(name) }
    }
    return try names.map { (key) throws(StoreError) in
      guard let name = openedName(key.text) else { throw strangeBuffer }
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
