import Files
import Locks

extension LoggedBackend {
  /// Returns the number of a table.
  ///
  /// Complexity: linear in the number of tables; the first call opens the file.
  ///
  /// - Throws: ``StoreError`` with `invalidName`, `inUse`, `damaged`, `ioError`, `reopenNeeded` or
  ///   `closed`.
  public func table(named name: String) throws(StoreError) -> TableID {
    try checkOpen()
    return try naming { () throws(StoreError) in
      try files.table(named: sealedName(ofTable: name))
    }
  }

  /// Returns the names of the tables that have records.
  ///
  /// Complexity: linear in the number of files and of tables with pending changes; it opens files
  /// that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
  public func tableNames() throws(StoreError) -> [String] {
    try checkOpen()
    try refresh()
    var names = Set(try files.tableNames())
    for id in state.withLock({ $0.tables }) {
      let name = try files.name(of: id)
      if try recordCount(in: id) > 0 { names.insert(name) } else { names.remove(name) }
    }
    // A name that this store has not sealed does not belong to it; a check reports it.
    return names.compactMap { openedName($0) }
  }

  /// Returns the number of rows in a table.
  ///
  /// Complexity: constant time on average. In a store that processes share, also linear in their
  /// new commits.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try checkOpen()
    try refresh()
    while true {
      let generation = try files.generation(of: table)
      let growth = state.withLock { $0.growth(of: table, fileGeneration: generation) }
      let count = try files.recordCount(in: table)
      // A checkpoint in between has moved rows from the pending changes to the file.
      guard try files.generation(of: table) == generation else { continue }
      return count + (growth ?? 0)
    }
  }

  /// Calls a closure with the record of a row: the pending one, or the one in the file.
  ///
  /// Complexity: constant time on average. In an encrypted store, linear in the size of the record,
  /// which is opened.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`, or an error of the closure.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try refresh()
    return try withKnownRecord(rowID, in: table, body)
  }

  /// Calls a closure with a record, without looking for commits of other processes.
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

  /// Returns a copy of a record, without looking for commits of other processes.
  func knownRecord(_ rowID: UInt32, _ table: TableID) throws(StoreError) -> [UInt8]? {
    try withKnownRecord(rowID, in: table) { (record) throws(StoreError) in
      [UInt8](copying: record)
    }
  }

  /// Calls a closure with the record of a row in the files.
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

  /// Copies the record of a row: the pending one, or the one in the file.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try refresh()
    return try copyKnownRecord(rowID, in: table, to: &bytes)
  }

  /// Copies the record of a row, without looking for commits of other processes.
  func copyKnownRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
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
    if let found { found.bytes.lend(found.range) { bytes.append(copying: $0) } }
    return found != nil
  }

  /// Copies the records of rows: the pending ones, and the ones in the file for all other rows.
  ///
  /// Each of the two is read once. With a commit in between, one row may be in the state before it,
  /// and another in the state after it.
  ///
  /// Complexity: linear in the number of rows and the size of their records, on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
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

  /// Returns the pending bytes of some rows, nil for a deleted one, each with its index.
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

  /// Returns the pending bytes of a row, or nil inside for a deleted row; nil if nothing is
  /// pending.
  private func pendingRecord(_ rowID: UInt32, _ table: TableID) throws(StoreError) -> PendingRecords
    .Bytes??
  {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      return state.hasNothingPending ? nil : state.record(rowID, in: table)
    }
  }

  /// Calls a closure with the buffer of a name: the pending one, or the one in the file.
  ///
  /// Complexity: constant time on average. In an encrypted store, linear in the size of the buffer,
  /// which is opened.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`, or an error of the closure.
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

  /// Copies the buffer of a name: the pending one, or the one in the file.
  ///
  /// Complexity: constant time on average, and linear in the size of the buffer.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
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

  /// Calls a closure with a buffer in the files.
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

  /// Returns the pending bytes of a buffer, or nil inside if it is removed; nil if nothing is
  /// pending.
  private func pendingBuffer(_ name: String) throws(StoreError) -> PendingRecords.Bytes?? {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      if state.hasNothingPending { return nil }
      return state.buffer(ExactName(name))
    }
  }

  /// Returns the names of all buffers.
  ///
  /// Complexity: linear in the size of the buffers' file and in the number of pending buffers.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
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
