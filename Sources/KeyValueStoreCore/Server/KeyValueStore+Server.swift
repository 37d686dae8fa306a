import Files
import FoundationEssentials
import StoreEngine

// A server does not lock out other writers. So a write records the keys that it reads, and is
// prepared again if others have changed them.
extension KeyValueStore {
  /// The time after which a write is no longer prepared again.
  private static let retryTimeout = Duration.seconds(60)
  /// The number of attempts without a pause.
  private static let attemptsAtOnce = 4

  /// Runs a closure that prepares and commits a write, and retries it after conflicts.
  ///
  /// A conflict means that another write has succeeded, so there is always progress overall. The
  /// pauses give each writer a turn.
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

  /// Reads the commits of others so far, so that a new observer does not report them as changes.
  func hearOfOthers() { if news != nil { _ = backend.lastCommitNumber } }

  // MARK: Reads of a write

  /// Runs a closure that reads keys, and records the keys if this thread prepares a write.
  ///
  /// - Throws: The errors of the closure, and `StoreError` with ``OutdatedRead`` as its cause.
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

  /// Records that a write depends on keys that this store knows already.
  func noteRead(_ range: KeyRange, of table: OrderedTableID) {
    if let news, isWriting { news.willRead(range, of: table) }
  }

  /// Records that a write depends on whether a table exists.
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

  /// Returns the first expiry keys of a table that are due, up to a number.
  func expired(_ state: TableState, _ now: Date, atMost count: Int) throws(StoreError) -> [[UInt8]]
  {
    let due = ExpiryKey.range(through: now)
    // Most tables have no items that expire.
    if let viewing, try expiresNothing(state, viewing) { return [] }
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

  /// Whether no item of a table expires; the backend is asked until the first answer.
  private func expiresNothing(
    _ state: TableState, _ backend: any OrderedViewing
  ) throws(StoreError) -> Bool {
    let coordinator = self.backend.coordinator
    // Read first, so that a first expiry meanwhile is found by the next call.
    let news = coordinator.orderedTableNews
    if state.expiresNothing(asOf: news) { return true }
    guard try backend.view(of: state.expiry).isEmpty else { return false }
    // Later commits to a table that had some are no news.
    if !coordinator.isKnown(state.expiry) { state.noteNoExpiry(asOf: news) }
    return true
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
  /// Returns the range of one key.
  static func key(_ key: String) -> KeyRange { .key(Array(key.utf8)) }
}
