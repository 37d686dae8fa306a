import Files
import Locks

extension LoggedBackend {
  /// Calls a closure with the records of a table: first those of its file that no pending change
  /// replaces, then the pending ones in the order of their rows.
  ///
  /// Complexity: linear in the size of the records that are visited. A call that reaches the
  /// pending records also sorts their k rows: O(k log k).
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`, or an error of the closure.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    guard let sealing else { return try scanStored(table, from: position, body) }
    return try naming { () throws(StoreError) in
      let scope = try scope(of: table, sealing)
      var bytes: [UInt8] = []
      return try scanStored(table, from: position) { (rowID, sealed) throws(StoreError) in
        bytes.removeAll(keepingCapacity: true)
        try sealing.open(sealed, sealing.location(rowID, in: scope), to: &bytes) {
          errorLocation(rowID, table)
        }
        return try bytes.lend { (record) throws(StoreError) in try body(rowID, record) }
      }
    }
  }

  /// Calls a closure with the records of a table in the files.
  private func scanStored(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    let view = try view(of: table)
    var lent: TableView? = view
    defer { giveBack(&lent) }
    if let position, position.generation != view.generation { return .disturbed }
    if position?.isPending != true {
      let end = try files.scan(table, from: view.positionInFile(position)) {
        (rowID, record) throws(StoreError) in
        view.isPending(rowID) ? .next : try body(rowID, record)
      }
      if let end = view.end(end) { return end }
    }
    for rowID in view.pendingRows(after: position) {
      guard let found = view.record(rowID) else { continue }
      let step = try found.bytes.lend(found.range) { (record) throws(StoreError) in
        try body(rowID, record)
      }
      if step == .pause {
        return .paused(.pending(rowID, generation: view.generation))
      }
    }
    return .finished
  }

  /// Copies the next records of a table into a batch, in the same order.
  ///
  /// Complexity: linear in the size of the batch. A call that reaches the pending records also
  /// sorts their k rows: O(k log k).
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
  public func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd {
    guard let sealing else { return try copyStored(table, from: position, to: &batch) }
    return try naming { () throws(StoreError) in
      let end = try copyStored(table, from: position, to: &batch)
      try OpenedRecords.open(&batch, in: scope(of: table, sealing), by: sealing) {
        self.errorLocation($0, table)
      }
      return end
    }
  }

  /// Copies records in the files.
  private func copyStored(
    _ table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd {
    let view = try view(of: table)
    var lent: TableView? = view
    defer { giveBack(&lent) }
    if let position, position.generation != view.generation { return .disturbed }
    if position?.isPending != true {
      let end = try files.copyRecords(
        of: table, from: view.positionInFile(position), to: &batch)
      if view.hasRows { batch.removeAll { view.isPending($0) } }
      if let end = view.end(end) { return end }
    }
    for rowID in view.pendingRows(after: position) {
      guard let found = view.record(rowID) else { continue }
      found.bytes.lend(found.range) { batch.append(rowID, $0) }
      if batch.isFull { return .paused(.pending(rowID, generation: view.generation)) }
    }
    return .finished
  }

  /// Releases a view under the lock of the state that it was copied from.
  ///
  /// The next save may then change the pending rows in place. That its thread sees the view
  /// released would be enough, but the thread sanitizer knows nothing of reference counts.
  private func giveBack(_ view: inout TableView?) {
    state.withLock { _ in view = nil }
  }

  private func view(of table: TableID) throws(StoreError) -> TableView {
    try checkOpen()
    try refresh()
    let fileGeneration = try files.generation(of: table)
    return state.withLock { state in
      TableView(
        fileGeneration: fileGeneration,
        generation: fileGeneration &+ (state.commits[table] ?? 0),
        layers: [state.pending, state.folding].compactMap { layer in
          layer?.tables[table].flatMap { $0.rows.isEmpty ? nil : $0.rows }
            .map { .init(pending: layer ?? PendingRecords(), rows: $0) }
        })
    }
  }
}

/// A table at one moment: its file, and the pending changes that cover it.
private struct TableView: Sendable {
  let fileGeneration: UInt64
  /// The combined generation of both.
  let generation: UInt64
  /// The layers of pending changes, the newest first.
  let layers: [Layer]

  struct Layer: Sendable {
    let pending: PendingRecords
    let rows: PendingRows
  }

  /// Whether any rows are pending.
  var hasRows: Bool { !layers.isEmpty }

  /// Whether a pending change replaces the file's record of a row.
  func isPending(_ rowID: UInt32) -> Bool {
    for layer in layers where layer.rows[rowID] != nil { return true }
    return false
  }

  /// Returns the position to continue from in the file.
  func positionInFile(_ position: ScanPosition?) -> ScanPosition? {
    position.map { ScanPosition(location: $0.location, generation: fileGeneration) }
  }

  /// Returns the end of the scan for an end of the file's scan; nil if the scan continues.
  func end(_ end: ScanEnd) -> ScanEnd? {
    switch end {
    case .disturbed: .disturbed
    case .paused(let pause): .paused(ScanPosition(location: pause.location, generation: generation))
    case .finished: nil
    }
  }

  /// Returns the pending rows after a position.
  func pendingRows(after position: ScanPosition?) -> [UInt32] {
    let start = position.flatMap { $0.isPending ? $0.pendingRow : nil } ?? 0
    guard let first = layers.first else { return [] }
    var rows = first.rows.rowIDs.filter { $0 > start }
    for layer in layers.dropFirst() {
      rows += layer.rows.rowIDs.filter { $0 > start && first.rows[$0] == nil }
    }
    return rows.sorted()
  }

  /// Returns the bytes of a pending row; nil for a deleted one.
  func record(_ rowID: UInt32) -> PendingRecords.Bytes? {
    for layer in layers {
      if let entry = layer.rows[rowID] { return layer.pending.bytes(of: entry) }
    }
    return nil
  }
}

extension ScanPosition {
  private static let pendingBit: UInt64 = 1 << 63

  /// Whether the position is after a pending record.
  fileprivate var isPending: Bool { location & Self.pendingBit != 0 }
  fileprivate var pendingRow: UInt32 { UInt32(truncatingIfNeeded: location) }

  fileprivate static func pending(_ rowID: UInt32, generation: UInt64) -> ScanPosition {
    ScanPosition(location: pendingBit | UInt64(rowID), generation: generation)
  }
}
