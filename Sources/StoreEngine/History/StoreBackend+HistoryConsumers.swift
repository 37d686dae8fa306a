import Files
public import FoundationEssentials

/// A named reader of a history.
package struct HistoryConsumer: Sendable, Hashable {
  /// The last commit that it has seen.
  package var number: UInt64
  /// The time until which it counts, in microseconds since 1970; nil for ever.
  var endMicroseconds: Int64?

  init(number: UInt64, endMicroseconds: Int64?) {
    (self.number, self.endMicroseconds) = (number, endMicroseconds)
  }

  /// The time until which it counts; nil for ever.
  package var end: Date? {
    endMicroseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
  }
}

extension StoreBackend {
  /// Records that a consumer of the history has seen all commits up to and including a number.
  ///
  /// ``purgeHistory(keeping:)`` keeps the entries that a consumer has not seen. The first call
  /// registers the consumer.
  ///
  ///     try backend.noteHistorySeen(by: "search engine", through: commit.number)
  ///
  /// Complexity: as a commit of one key.
  ///
  /// - Parameters:
  ///   - consumer: The name of the consumer, not empty.
  ///   - number: The last commit that the consumer has seen; nil removes the consumer.
  ///   - end: The time until which the consumer counts, so that one that never returns does not keep
  ///     the history; nil for ever.
  /// - Throws: ``StoreError`` with `historyExpired` if no history is kept, `invalidName` for an
  ///   empty name, or an error of ``commit(_:_:)``.
  public func noteHistorySeen(
    by consumer: String, through number: UInt64?, until end: Date? = nil
  ) throws(StoreError) {
    guard !consumer.isEmpty else {
      throw StoreError(
        .invalidName, "The name of a consumer must not be empty.", at: .init(path: location))
    }
    guard try historyStart() != nil else { throw noHistory() }
    var changes = ChangeSet()
    let microseconds = end.map { Int64(clamping: $0.timeIntervalSince1970 * 1_000_000) }
    let value = number.map { HistoryConsumer(number: $0, endMicroseconds: microseconds) }
    changes.set(
      HistoryFormat.key(ofConsumer: consumer), to: value.map(HistoryFormat.encoded),
      in: try orderedTable(HistoryFormat.table))
    try commit(changes)
  }

  /// Returns the consumers of the history that count now, with the last commit that each of them has
  /// seen.
  ///
  /// Complexity: linear in the number of consumers.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func historyConsumers() throws(StoreError) -> [String: UInt64] {
    let now = Date.now
    return try knownHistoryConsumers().filter { $0.value.end.map { $0 > now } ?? true }
      .mapValues(\.number)
  }

  /// Returns all consumers of the history, also those that no longer count.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  package func knownHistoryConsumers() throws(StoreError) -> [String: HistoryConsumer] {
    var (consumers, failure) = ([String: HistoryConsumer](), DataBufferError?.none)
    let table = try orderedTable(HistoryFormat.table)
    _ = try scanKeys(of: table, HistoryFormat.consumers, isReversed: false) { key, value in
      do throws(DataBufferError) {
        let name = String(decoding: [UInt8](copying: key).dropFirst(), as: UTF8.self)
        consumers[name] = try HistoryFormat.consumer([UInt8](copying: value))
      } catch {
        failure = error
        return .pause
      }
      return .next
    }
    if let failure { throw damagedHistory(failure) }
    return consumers
  }
}

extension Int64 {
  /// Rounds a number down, and moves one that is out of range to the nearest end.
  fileprivate init(clamping number: Double) {
    self = Int64(exactly: number.rounded(.down)) ?? (number < 0 ? .min : .max)
  }
}
