import Files

/// A copy of all records, named buffers and ordered tables of a store to another, empty backend.
///
///     try BackendCopy(from: old, to: new).run()
///
/// Every byte is the same afterwards, including the metadata rows; only the format of the files
/// differs. The copy is read back and compared, record by record.
///
/// The commit numbers continue: the next save to the copy gets the number that it would have had in
/// the source. Open stores on the copy afterwards.
public struct BackendCopy {
  /// The number of bytes of records in one commit.
  static let batchSize = 32 << 20

  fileprivate let source: any StoreBackend
  fileprivate let target: any StoreBackend

  /// Creates a copy.
  public init(from source: any StoreBackend, to target: any StoreBackend) {
    self.source = source
    self.target = target
  }

  /// Copies and compares.
  ///
  /// Saves of stores on the source wait meanwhile. Those to a server do not: the copy is a copy of
  /// the commit that was the last one when it began.
  ///
  /// Complexity: linear in the size of all records. It needs memory for 32 MiB and the largest
  /// record.
  ///
  /// - Parameter progress: Called with the progress, in tables.
  /// - Returns: The number of records.
  /// - Throws: ``StoreError`` with `ioError` if the target is not empty, `damaged` if the target
  ///   does not return what was written, or an error of the backends.
  @discardableResult
  public func run(progress: (IntegrityProgress) -> Void = { _ in }) throws(StoreError) -> Int {
    if source.snapshotsHoldConnections {
      return try BackendCopy(from: source.snapshot(), to: target).run(progress: progress)
    }
    guard try target.tableNames().isEmpty, try target.bufferNames().isEmpty,
      try target.orderedTableNames().isEmpty
    else {
      throw StoreError(
        .ioError,
        "The target has records already: choose an empty one.", at: .init(path: target.location))
    }
    let first = target.lastCommitNumber
    let number = source.lastCommitNumber
    var count = 0
    try source.coordinator.whileCommitting { () throws(StoreError) in
      let names = try source.tableNames().sorted()
      for (index, name) in names.enumerated() {
        progress(IntegrityProgress(name, index, of: names.count))
        try copy(name)
        count += try compare(name)
      }
      try copyBuffers()
      try copyValues(from: source, to: target)
      // A copy that is made record by record follows no store, and is no device of a server.
      let ordered = try source.orderedTableNames().filter {
        $0 != FollowerMark.table && $0 != SyncTable.name
      }
      for name in ordered where name != HistoryFormat.table { try copyKeys(of: name) }
      // The history comes last, or it would contain the commits of the copy. A target that does not
      // continue the history would leave a gap in it.
      if ordered.contains(HistoryFormat.table), target.remembersCommits {
        try copyKeys(of: HistoryFormat.table)
      }
      guard try target.tableNames().sorted() == names else { throw differs(nil, nil) }
      // Processes that save to a server can't be kept waiting, so check for new commits.
      guard source.lastCommitNumber == number else { throw savedMeanwhile() }
      try continueNumbers(of: source.coordinator.journal.last, first)
      progress(IntegrityProgress("", names.count, of: names.count))
    }
    return count
  }

  /// Continues the commit numbers, unless the target has higher numbers of its own.
  private func continueNumbers(of last: Commit?, _ first: UInt64) throws(StoreError) {
    guard first == 0 || last?.number ?? 0 > target.lastCommitNumber else { return }
    try target.continueNumbers(after: last)
  }

  fileprivate func differs(_ name: String?, _ rowID: UInt32?) -> StoreError {
    StoreError(
      .damaged, "The copy does not have what was written to it. Copy again, to another disk.",
      at: .init(path: target.location, className: name, rowID: rowID))
  }

  // MARK: Records

  private func copy(_ name: String) throws(StoreError) {
    let (old, new) = (try source.table(named: name), try target.table(named: name))
    var position: ScanPosition?
    repeat {
      var batch = ChangeSet(tables: [.init(table: new, records: [])])
      let end = try source.scan(old, from: position) { rowID, record in
        let start = batch.bytes.count
        batch.bytes.append(copying: record)
        batch.tables[0].records.append(
          .init(kind: .insert, rowID: rowID, range: start..<batch.bytes.count))
        return batch.bytes.count < Self.batchSize ? .next : .pause
      }
      try target.commit(batch)
      position = try nextPosition(end)
    } while position != nil
  }

  private func nextPosition(_ end: ScanEnd) throws(StoreError) -> ScanPosition? {
    switch end {
    case .finished: return nil
    case .paused(let position): return position
    case .disturbed: throw savedMeanwhile()
    }
  }

  private func savedMeanwhile() -> StoreError {
    StoreError(
      .inUse, "The store is being saved while it is copied.", at: .init(path: source.location))
  }

  private func compare(_ name: String) throws(StoreError) -> Int {
    let (old, new) = (try source.table(named: name), try target.table(named: name))
    let count = try source.recordCount(in: old)
    guard try target.recordCount(in: new) == count else { throw differs(name, nil) }
    var different: UInt32?
    let end = try source.scan(old, from: nil) { (rowID, record) throws(StoreError) in
      let isSame = try target.withRecord(rowID, in: new) { $0.hasSameBytes(as: record) }
      if isSame == true { return .next }
      different = rowID
      return .pause
    }
    if let different { throw differs(name, different) }
    _ = try nextPosition(end)
    return count
  }

  // MARK: Named buffers

  private func copyBuffers() throws(StoreError) {
    let names = try source.bufferNames()
    for name in names {
      var change = ChangeSet()
      _ = try source.withNamedBuffer(name) { change.bytes.append(copying: $0) }
      change.names = [.init(name: name, range: 0..<change.bytes.count)]
      try target.commit(change)
      let isSame = try target.withNamedBuffer(name) { copy in
        change.bytes.lend { copy.hasSameBytes(as: $0) }
      }
      guard isSame == true else { throw differs("NamedBuffers", nil) }
    }
    guard try target.bufferNames().count == names.count else { throw differs("NamedBuffers", nil) }
  }
}

// MARK: - Ordered tables

extension BackendCopy {
  private func copyKeys(of name: OrderedTableName) throws(StoreError) {
    let (old, new) = (try source.orderedTable(name), try target.orderedTable(name))
    var range = KeyRange()
    var isDone = false
    while !isDone {
      var batch = ChangeSet()
      var last: [UInt8] = []
      isDone = try source.scanKeys(of: old, range, isReversed: false) { key, value in
        last = [UInt8](copying: key)
        batch.set(last, to: [UInt8](copying: value), in: new)
        return batch.bytes.count < Self.batchSize ? .next : .pause
      }
      try target.commit(batch)
      range = KeyRange(after: last)
    }
    try compareKeys(name, old, new)
  }

  private func compareKeys(
    _ name: OrderedTableName, _ old: OrderedTableID, _ new: OrderedTableID
  ) throws(StoreError) {
    let isSame = try source.scanKeys(of: old, KeyRange(), isReversed: false) {
      (key, value) throws(StoreError) in
      let isSame = try target.withValue(of: [UInt8](copying: key), in: new) {
        $0.hasSameBytes(as: value)
      }
      return isSame == true ? .next : .pause
    }
    let count = try source.keyCount(in: old, KeyRange())
    guard isSame, try target.keyCount(in: new, KeyRange()) == count else {
      throw differs(name.fileName, nil)
    }
  }
}
