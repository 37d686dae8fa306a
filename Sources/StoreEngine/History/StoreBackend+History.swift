import Files
public import FoundationEssentials

extension StoreBackend {
  /// Begins to remember every commit: what it changes, and what was there before.
  ///
  /// From now on each commit gets an entry, which is written with it, in the same step: a crash
  /// leaves both or neither. Entries stay until ``purgeHistory(through:)`` or ``endHistory()`` removes
  /// them. All programs that save to the store add entries, whichever of them began the history. Does
  /// nothing where there is one.
  ///
  /// Of a value outside of records (`ExternalData`) an entry only has the reference.
  ///
  /// - Throws: ``StoreError`` with `invalidArgument` where ``remembersCommits`` is false, and as
  ///   ``commit(_:_:)``.
  public func beginHistory() throws(StoreError) {
    guard remembersCommits else {
      throw StoreError(
        .invalidArgument,
        "This backend keeps no history. Convert the store to one in a directory.",
        at: .init(path: location))
    }
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard try historyStart() == nil else { return }
      try commit(try change(to: .init(since: lastCommitNumber + 1, id: UUID())))
    }
  }

  /// Forgets all entries, and remembers no more commits.
  ///
  /// Does nothing where there is no history.
  ///
  /// - Throws: ``StoreError`` as ``commit(_:_:)``.
  public func endHistory() throws(StoreError) {
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard try historyStart() != nil else { return }
      var changes = ChangeSet()
      changes.clear(try orderedTable(HistoryFormat.table))
      try commit(changes)
    }
  }

  /// Forgets the entries of all commits up to and with a number.
  ///
  /// Complexity: linear in the number of these entries.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` where no history is kept, and as
  ///   ``commit(_:_:)``.
  public func purgeHistory(through number: UInt64) throws(StoreError) {
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard var stamp = try historyStamp() else { throw noHistory() }
      if number <= stamp.since { return }
      let (table, end) = (try orderedTable(HistoryFormat.table), min(number, lastCommitNumber))
      stamp.since = end
      var changes = try change(to: stamp)
      _ = try scanKeys(of: table, HistoryFormat.keys(through: end), isReversed: false) { key, _ in
        changes.set([UInt8](copying: key), to: nil, in: table)
        return .next
      }
      try commit(changes)
    }
  }

  /// The number of the last commit before the remembered ones; nil where no history is kept.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func historyStart() throws(StoreError) -> UInt64? { try historyStamp()?.since }

  /// The ID of the history; nil where no history is kept.
  ///
  /// Each ``beginHistory()`` draws another one; copies of a store have that of their source.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func historyID() throws(StoreError) -> UUID? { try historyStamp()?.id }

  private func historyStamp() throws(StoreError) -> HistoryFormat.Stamp? {
    var stamp: [UInt8] = []
    let table = try orderedTable(HistoryFormat.table)
    guard try copyValue(of: HistoryFormat.stampKey, in: table, to: &stamp) else { return nil }
    do { return try HistoryFormat.stamp(stamp) } catch { throw damagedHistory(error) }
  }

  /// Passes the entries of all commits behind a number to a closure, in order of their numbers.
  ///
  /// The closure may use the backend. Entries of commits that are made meanwhile are among them.
  /// Commits that have changed nothing are left out.
  ///
  /// Complexity: linear in the entries. Memory: a megabyte, and the largest entry.
  ///
  /// - Parameters:
  ///   - number: The last commit that is of no interest.
  ///   - body: Receives each entry, and says whether to go on.
  /// - Throws: ``StoreError`` with `historyExpired` when not all commits behind the number are
  ///   remembered, `damaged`, `ioError` or `closed`; what the closure throws.
  public func forEachHistoryEntry<Failure: Error>(
    after number: UInt64, _ body: (HistoryEntry) throws(Failure) -> ScanStep
  ) throws {
    guard let start = try historyStart() else { throw noHistory() }
    guard number >= start else {
      throw StoreError(
        .historyExpired,
        """
        The history begins behind commit \(start), and not behind \(number). Read the store as it \
        is, and go on from commit \(lastCommitNumber).
        """,
        at: .init(path: location))
    }
    var last = number
    while true {
      let entries = try historyEntries(after: last)
      for entry in entries where !entry.isEmpty {
        if try body(entry) == .pause { return }
      }
      guard let next = entries.last?.commit.number else { return }
      last = next
    }
  }

  /// The next entries, about a megabyte of them.
  private func historyEntries(after number: UInt64) throws(StoreError) -> [HistoryEntry] {
    var (entries, byteCount, failure) = ([HistoryEntry](), 0, DataBufferError?.none)
    _ = try scanKeys(
      of: orderedTable(HistoryFormat.table), HistoryFormat.keys(after: number), isReversed: false
    ) { key, value in
      do throws(DataBufferError) {
        entries.append(try HistoryFormat.entry([UInt8](copying: value), of: [UInt8](copying: key)))
      } catch {
        failure = error
        return .pause
      }
      byteCount += value.byteCount
      return byteCount < 1 << 20 ? .next : .pause
    }
    if let failure { throw damagedHistory(failure) }
    return entries
  }

  private func change(to stamp: HistoryFormat.Stamp) throws(StoreError) -> ChangeSet {
    var changes = ChangeSet()
    changes.set(
      HistoryFormat.stampKey, to: HistoryFormat.encoded(stamp),
      in: try orderedTable(HistoryFormat.table))
    return changes
  }

  func noHistory() -> StoreError {
    StoreError(
      .historyExpired, "The store keeps no history: begin one with beginHistory().",
      at: .init(path: location))
  }

  func damagedHistory(_ error: DataBufferError) -> StoreError {
    StoreError(
      .damaged, "An entry of the history makes no sense: \(error). Salvage the store.",
      at: .init(path: location, className: HistoryFormat.table.fileName), underlying: error)
  }
}
