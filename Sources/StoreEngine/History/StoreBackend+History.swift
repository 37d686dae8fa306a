import Files
public import FoundationEssentials

extension StoreBackend {
  /// Begins a history, which records the changes of every commit and the state before it.
  ///
  /// From now on each commit gets an entry, which is written with it in the same step: a crash
  /// leaves both or neither. Entries stay until ``purgeHistory(through:)`` or ``endHistory()``
  /// removes them. All programs that save to the store add entries, whichever of them began the
  /// history. If the store already has a history, this does nothing.
  ///
  /// For a value outside of records (`ExternalData`), an entry contains only the reference.
  ///
  /// Complexity: as a commit of one key.
  ///
  /// - Throws: ``StoreError`` with `invalidArgument` if ``remembersCommits`` is false, or an error
  ///   of ``commit(_:_:)``.
  public func beginHistory() throws(StoreError) {
    guard remembersCommits else {
      throw StoreError(
        .invalidArgument,
        "This backend can't keep a history. Convert the store to one in a directory.",
        at: .init(path: location))
    }
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard try historyStart() == nil else { return }
      try commit(try change(to: .init(since: lastCommitNumber + 1, id: UUID())))
    }
  }

  /// Removes the history with all its entries, and records no more commits.
  ///
  /// If there is no history, this does nothing.
  ///
  /// Complexity: linear in the number of entries and of the values outside of records that they
  /// keep.
  ///
  /// - Throws: ``StoreError``, as ``commit(_:_:)``.
  public func endHistory() throws(StoreError) {
    var values: [ExternalID] = []
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard try historyStart() != nil else { return }
      var changes = ChangeSet()
      changes.clear(try orderedTable(HistoryFormat.table))
      values = try releaseAllValues(in: &changes)
      try commit(changes)
    }
    removeReleased(values)
  }

  /// Returns the last commit that has an entry; nil if there is none.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  func lastRememberedCommit() throws(StoreError) -> Commit? {
    var last: UInt64?
    let table = try orderedTable(HistoryFormat.table)
    _ = try scanKeys(of: table, HistoryFormat.keys(after: 0), isReversed: true) { key, _ in
      last = HistoryFormat.number(ofKey: [UInt8](copying: key))
      return .pause
    }
    guard let last else { return nil }
    return try historyEntry(of: last)?.commit
  }

  /// Gives the history a new ID after a salvage, because records may be lost that followers have.
  func renewHistoryID() throws(StoreError) {
    guard var stamp = try historyStamp() else { return }
    stamp.id = UUID()
    try commit(try change(to: stamp))
  }

  /// Returns the number of the last commit before the history; nil if no history is kept.
  ///
  /// Complexity: one look-up.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func historyStart() throws(StoreError) -> UInt64? { try historyStamp()?.since }

  /// Returns the ID of the history; nil if no history is kept.
  ///
  /// Each ``beginHistory()`` generates a new ID; copies of a store have the ID of their source.
  ///
  /// Complexity: one look-up.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func historyID() throws(StoreError) -> UUID? { try historyStamp()?.id }

  func historyStamp() throws(StoreError) -> HistoryFormat.Stamp? {
    var stamp: [UInt8] = []
    let table = try orderedTable(HistoryFormat.table)
    guard try copyValue(of: HistoryFormat.stampKey, in: table, to: &stamp) else { return nil }
    do { return try HistoryFormat.stamp(stamp) } catch { throw damagedHistory(error) }
  }

  /// Calls a closure with the entries of all commits after a number, in the order of their numbers.
  ///
  /// The closure can use the backend. Entries of commits that are made meanwhile are included.
  /// Commits without changes are left out.
  ///
  /// Complexity: linear in the entries. Memory: a megabyte and the largest entry.
  ///
  /// - Parameters:
  ///   - number: The last commit to skip.
  ///   - body: Called with each entry; returns whether to continue.
  /// - Throws: ``StoreError`` with `historyExpired` if some commits after the number are not in the
  ///   history, or with `damaged`, `ioError` or `closed`; or an error of the closure.
  public func forEachHistoryEntry<Failure: Error>(
    after number: UInt64, _ body: (HistoryEntry) throws(Failure) -> ScanStep
  ) throws {
    try forEachCommit(after: number) { try $0.isEmpty ? .next : body($0) }
  }

  /// Passes the entries of all commits after a number to a closure, including those without
  /// changes.
  ///
  /// - Throws: ``StoreError``, as ``forEachHistoryEntry(after:_:)``; an error of the closure.
  package func forEachCommit<Failure: Error>(
    after number: UInt64, _ body: (HistoryEntry) throws(Failure) -> ScanStep
  ) throws {
    try checkHistory(reachesBackTo: number)
    var last = number
    while true {
      let entries = try historyEntries(after: last)
      for entry in entries { if try body(entry) == .pause { return } }
      guard let next = entries.last?.commit.number else { return }
      last = next
    }
  }

  /// Throws if some commits after a number are not in the history.
  ///
  /// - Throws: ``StoreError`` with `historyExpired`, `damaged`, `ioError` or `closed`.
  package func checkHistory(reachesBackTo number: UInt64) throws(StoreError) {
    guard let start = try historyStart() else { throw noHistory() }
    guard number >= start else {
      throw StoreError(
        .historyExpired,
        """
        The history begins after commit \(start), so it has no entries after commit \(number). \
        Read the current state of the store, and continue after commit \(lastCommitNumber).
        """,
        at: .init(path: location))
    }
  }

  /// Returns the entry of a commit; nil if there is none.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  package func historyEntry(of number: UInt64) throws(StoreError) -> HistoryEntry? {
    var entry: [UInt8] = []
    let key = HistoryFormat.key(number)
    guard try copyValue(of: key, in: orderedTable(HistoryFormat.table), to: &entry) else {
      return nil
    }
    do { return try HistoryFormat.entry(entry, of: key) } catch { throw damagedHistory(error) }
  }

  /// Returns the next entries, up to about a megabyte.
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

  func change(to stamp: HistoryFormat.Stamp) throws(StoreError) -> ChangeSet {
    var changes = ChangeSet()
    changes.set(
      HistoryFormat.stampKey, to: HistoryFormat.encoded(stamp),
      in: try orderedTable(HistoryFormat.table))
    return changes
  }

  func noHistory() -> StoreError {
    StoreError(
      .historyExpired, "The store keeps no history. Begin one with beginHistory().",
      at: .init(path: location))
  }

  func damagedHistory(_ error: DataBufferError) -> StoreError {
    StoreError(
      .damaged, "An entry of the history is damaged: \(error). Salvage the store.",
      at: .init(path: location, className: HistoryFormat.table.fileName), underlying: error)
  }
}
