import Files

extension HistoryStreamWriter {
  /// Begins a stream with a copy of a store.
  ///
  /// Continue with ``write(_:limit:to:)``. The copy is of a snapshot, so commits don't wait.
  ///
  /// Complexity: linear in the size of all records. Memory: a megabyte and the largest record.
  ///
  /// - Parameters:
  ///   - backend: The store, which must keep a history.
  ///   - sink: Receives the bytes.
  /// - Returns: The writer, whose position is after the last commit of the copy.
  /// - Throws: ``StoreError`` with `historyExpired` if the store keeps no history, `damaged`,
  ///   `ioError` or `closed`; an error of the sink.
  public static func copying(
    _ backend: any StoreBackend, to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) -> HistoryStreamWriter {
    try copying(backend, sendsValues: true, to: sink)
  }

  /// Begins a stream with a copy of a store, with or without its values outside of records.
  ///
  /// - Throws: ``StoreError`` as ``copying(_:to:)``.
  package static func copying(
    _ backend: any StoreBackend, sendsValues: Bool,
    to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) -> HistoryStreamWriter {
    let state = try backend.snapshot()
    var writer = HistoryStreamWriter(behind: try state.historyPosition())
    writer.sendsValues = sendsValues
    let last = state.coordinator.journal.last ?? Commit(unnamed: writer.position.number)
    try writer.writeCopy(of: state, last, to: sink)
    writer.append(.copyEnd(last))
    try writer.flush(to: sink)
    return writer
  }

  private mutating func writeCopy(
    of state: any StoreBackend, _ last: Commit, to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var part = CopyPart(last)
    for name in try state.tableNames().sorted() { try writeRecords(name, state, &part, sink) }
    for name in try state.bufferNames().sorted() {
      let buffer = try state.withNamedBuffer(name) { [UInt8](copying: $0) }
      part.entry.buffers.append(.init(name: name, before: nil, after: buffer))
      try write(&part, buffer?.count ?? 0, to: sink)
    }
    try write(&part, CopyPart.byteCount, to: sink)
    if let catalogue = try ExternalCatalogue.ifUsed(in: state) {
      var known: ExternalReference?
      try catalogue.forEach { (reference, _) throws(StoreError) in
        defer { known = reference }
        if reference != known { try writeValues([reference], of: state, to: sink) }
      }
    }
    // The history comes last: once the copy has one, its own commits would get entries.
    let names = try state.orderedTableNames().filter {
      $0 != FollowerMark.table && $0 != SyncTable.name
    }
    for name in names.sorted(by: { $0.fileName < $1.fileName }) where name != HistoryFormat.table {
      try writeKeys(of: name, state, &part, sink)
    }
    try writeKeys(of: HistoryFormat.table, state, &part, sink)
  }

  private mutating func writeRecords(
    _ name: String, _ state: any StoreBackend, _ part: inout CopyPart,
    _ sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    let table = try state.table(named: name)
    var position: ScanPosition?
    repeat {
      var (records, count) = ([HistoryEntry.RecordChange](), 0)
      let end = try state.scan(table, from: position) { rowID, record in
        records.append(.init(rowID: rowID, before: nil, after: [UInt8](copying: record)))
        count += record.byteCount + 16
        return count < CopyPart.byteCount ? .next : .pause
      }
      part.entry.tables = [.init(name: name, records: records)]
      try write(&part, CopyPart.byteCount, to: sink)
      position = if case .paused(let next) = end { next } else { nil }
    } while position != nil
  }

  private mutating func writeKeys(
    of name: OrderedTableName, _ state: any StoreBackend, _ part: inout CopyPart,
    _ sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    let table = try state.orderedTable(name)
    var (range, isDone) = (KeyRange(), false)
    while !isDone {
      var changes = HistoryEntry.OrderedTableChanges(name: name)
      var count = 0
      isDone = try state.scanKeys(of: table, range, isReversed: false) { key, value in
        changes.keys.append(
          .init(key: [UInt8](copying: key), before: nil, after: [UInt8](copying: value)))
        count += key.byteCount + value.byteCount + 16
        return count < CopyPart.byteCount ? .next : .pause
      }
      guard let last = changes.keys.last else { return }
      part.entry.orderedTables = [changes]
      range = KeyRange(after: last.key)
      try write(&part, CopyPart.byteCount, to: sink)
    }
  }

  /// Counts new bytes of a part, and writes the part if it is large enough.
  private mutating func write(
    _ part: inout CopyPart, _ count: Int, to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    part.count += count
    guard part.count >= CopyPart.byteCount else { return }
    defer { part = CopyPart(part.entry.commit) }
    if part.entry.isWithoutChanges { return }
    append(.copyPart(HistoryFormat.encoded(part.entry)))
    try flush(to: sink)
  }
}

/// A part of a copy that is not written yet.
private struct CopyPart {
  static let byteCount = 1 << 20
  var entry: HistoryEntry
  var count = 0

  init(_ last: Commit) { entry = HistoryEntry(commit: last) }
}
