import Files
import FoundationEssentials

/// A rule for the part of a history to keep.
public struct HistoryRetention: Sendable, Hashable {
  /// The age from which entries are removed; nil keeps entries of any age.
  public var age: Duration?
  /// The maximum size of all entries in bytes; nil for no limit.
  ///
  /// The newest entries are kept.
  public var byteCount: Int?
  /// Whether entries that a named consumer has not seen are kept, whatever their age and size.
  ///
  /// See ``StoreBackend/noteHistorySeen(by:through:until:)``. True by default.
  public var waitsForConsumers = true

  /// Creates a rule that keeps entries up to an age and a size.
  ///
  /// With neither age nor size, all entries that every consumer has seen are removed. If there are
  /// no consumers, no entries are removed.
  public init(age: Duration? = nil, byteCount: Int? = nil, waitsForConsumers: Bool = true) {
    (self.age, self.byteCount, self.waitsForConsumers) = (age, byteCount, waitsForConsumers)
  }
}

extension StoreBackend {
  /// Removes the entries of all commits up to and including a number.
  ///
  /// Values outside of records are removed with the last entry that needs them. This method does
  /// not check what consumers have seen.
  ///
  /// Complexity: linear in the number of these entries.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if no history is kept, or an error of
  ///   ``commit(_:_:)``.
  public func purgeHistory(through number: UInt64) throws(StoreError) {
    var values: [ExternalID] = []
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard var stamp = try historyStamp() else { throw noHistory() }
      let end = min(number, lastCommitNumber)
      if end <= stamp.since { return }
      let first = stamp.since
      stamp.since = end
      var changes = try change(to: stamp)
      values = try forget(from: first, through: end, in: &changes)
      try commit(changes)
    }
    removeReleased(values)
  }

  /// Adds the removal of entries to a change set, and returns the values that they have held.
  private func forget(
    from first: UInt64, through end: UInt64, in changes: inout ChangeSet
  ) throws(StoreError) -> [ExternalID] {
    var values: [ExternalID] = []
    let table = try orderedTable(HistoryFormat.table)
    do {
      try forEachCommit(after: first) { entry in
        if entry.commit.number > end { return .pause }
        changes.set(HistoryFormat.key(entry.commit.number), to: nil, in: table)
        values += try release(entry, in: &changes)
        return .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: location)) }
    return values
  }

  /// Removes the oldest entries that a rule does not keep.
  ///
  ///     // Keeps two weeks, and all entries that the search engine has not seen.
  ///     try backend.purgeHistory(keeping: HistoryRetention(age: .seconds(14 * 86_400)))
  ///
  /// Complexity: linear in the number of removed entries; with a size, in the size of the history.
  ///
  /// - Returns: The number of the last commit before the history.
  /// - Throws: ``StoreError`` with `historyExpired` if no history is kept, or an error of
  ///   ``commit(_:_:)``.
  @discardableResult
  public func purgeHistory(keeping retention: HistoryRetention) throws(StoreError) -> UInt64 {
    guard let start = try historyStart() else { throw noHistory() }
    let consumers = retention.waitsForConsumers ? try historyConsumers() : [:]
    var end: UInt64 = 0
    if retention.age == nil, retention.byteCount == nil {
      end = consumers.isEmpty ? 0 : .max
    }
    if let age = retention.age {
      end = try commitNumber(at: Date.now.addingTimeInterval(-(age / .seconds(1))))
    }
    if let byteCount = retention.byteCount { end = max(end, try number(before: byteCount)) }
    if let seen = consumers.values.min() { end = min(end, seen) }
    if end > start { try purgeHistory(through: end) }
    return try historyStart() ?? 0
  }

  /// Returns the number of the last commit whose entry is not among the newest entries of a size.
  private func number(before byteCount: Int) throws(StoreError) -> UInt64 {
    var (sum, number) = (0, UInt64(0))
    let table = try orderedTable(HistoryFormat.table)
    _ = try scanKeys(of: table, HistoryFormat.keys(after: 0), isReversed: true) { key, value in
      sum += key.byteCount + value.byteCount
      if sum <= byteCount { return .next }
      number = HistoryFormat.number(ofKey: [UInt8](copying: key)) ?? number
      return .pause
    }
    return number
  }
}
