import Files
import FoundationEssentials
import StoreEngine

// Where a server keeps nobody from writing, a write notes what it reads, and is worked out again when
// others have changed that.
extension KeyValueStore {
  /// For so long a write is worked out again.
  private static let retryTimeout = Duration.seconds(60)
  /// So often without a pause.
  private static let attemptsAtOnce = 4

  /// Runs a closure that works out a write and commits it; again where others have changed what that
  /// rests on.
  ///
  /// Each time somebody else's write has succeeded. So all together always get on, and pauses let
  /// everyone have a turn.
  func repeatedly<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let news else { return try body() }
    var (attemptsLeft, pauses) = (Self.attemptsAtOnce, Backoff(Self.retryTimeout))
    while true {
      do {
        return try body()
      } catch {
        attemptsLeft -= 1
        guard news.isOutdated(error), attemptsLeft > 0 || pauses.pause() else { throw error }
      }
    }
  }

  /// Hears of what others have written up to now, which is no news for an observer that begins.
  func hearOfOthers() { if news != nil { _ = backend.lastCommitNumber } }

  // MARK: Reads of a write

  /// Runs a closure that reads keys, and notes that, where this thread works out a write.
  ///
  /// - Throws: what the closure throws; `StoreError` with ``OutdatedRead`` as its cause.
  @inline(__always)
  func noting<Result>(
    _ range: @autoclosure () -> KeyRange, of table: OrderedTableID,
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let news, isWriting else { return try body() }
    news.willRead(range(), of: table)
    let result = try body()
    try news.checkReads()
    return result
  }

  /// Notes that a write rests on keys which this store knows already.
  func noteRead(_ range: KeyRange, of table: OrderedTableID) {
    if let news, isWriting { news.willRead(range, of: table) }
  }

  /// Notes that a write rests on a table being there, or not.
  func noteRead(of tableName: String) {
    if let news, isWriting { news.willRead(.key(tableName), of: list) }
  }

  /// Copies the value of a key that a write changes.
  func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try noting(.key(key), of: table) { () throws(StoreError) in
      try backend.copyValue(of: key, in: table, to: &bytes)
    }
  }

  // MARK: Expiry

  /// The expiry keys of a table that are due, the first so many of them.
  func expired(_ state: TableState, _ now: Date, atMost count: Int) throws(StoreError) -> [[UInt8]]
  {
    let due = ExpiryKey.range(through: now)
    // Most tables have nothing that expires.
    if let viewing, try viewing.view(of: state.expiry).isEmpty { return [] }
    guard let news else { return try expiryKeys(state, due, atMost: count) }
    guard news.mayHaveExpired(state.expiry, in: due) else { return [] }
    var keys: [[UInt8]] = []
    try news.findingFirstExpiry(of: state.expiry) { () throws(StoreError) in
      keys = try expiryKeys(state, due, atMost: count)
      // A key that is due stays the first one until it is removed.
      if let first = keys.first { return first }
      return try expiryKeys(state, KeyRange(), atMost: 1).first
    }
    return keys
  }

  private func expiryKeys(
    _ state: TableState, _ range: KeyRange, atMost count: Int
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    _ = try backend.scanKeys(of: state.expiry, range, isReversed: false) { key, _ in
      found.append([UInt8](copying: key))
      return found.count < count ? .next : .pause
    }
    return found
  }
}

extension KeyRange {
  /// Makes the range of one key.
  static func key(_ key: String) -> KeyRange { .key(Array(key.utf8)) }
}
