import Files
public import FoundationEssentials

/// A position in the history of a store, after one of its commits.
///
/// Two stores with equal positions have the same records.
public struct HistoryPosition: Hashable, Sendable, CustomStringConvertible {
  /// The ID of the history, see ``StoreBackend/historyID()``.
  public let historyID: UUID
  /// The number of the last commit before the position.
  public let number: UInt64
  /// The token of that commit; zeros if it is no longer known.
  public let token: UUID

  /// Creates a position from its parts.
  public init(historyID: UUID, number: UInt64, token: UUID) {
    (self.historyID, self.number, self.token) = (historyID, number, token)
  }

  /// The number and the history.
  public var description: String { "commit \(number) of history \(historyID)" }
}

extension HistoryPosition {
  /// The number of bytes that ``encode(to:)`` writes.
  static let byteCount = 40

  /// Whether the last commits before two positions are the same.
  ///
  /// An unknown token matches any token.
  package func isSame(as other: HistoryPosition) -> Bool {
    let unknown = CommitToken.zero.uuid
    return historyID == other.historyID && number == other.number
      && (token == other.token || token == unknown || other.token == unknown)
  }

  /// Returns the position after a commit of the same history.
  package func behind(_ commit: Commit) -> HistoryPosition {
    HistoryPosition(historyID: historyID, number: commit.number, token: commit.token)
  }

  /// Writes the position to a buffer: ID (16), number (8), token (16).
  package func encode(to buffer: inout DataBuffer) {
    buffer.write(CommitToken(historyID))
    buffer.write(number)
    buffer.write(CommitToken(token))
  }

  /// Reads a position that ``encode(to:)`` has written.
  package init(from buffer: inout DataBuffer) throws(DataBufferError) {
    historyID = try buffer.readToken().uuid
    number = try buffer.readUInt64()
    token = try buffer.readToken().uuid
  }
}

extension DataBuffer {
  fileprivate mutating func write(_ token: CommitToken) {
    write(token.high.byteSwapped)
    write(token.low.byteSwapped)
  }

  fileprivate mutating func readToken() throws(DataBufferError) -> CommitToken {
    CommitToken(high: try readUInt64().byteSwapped, low: try readUInt64().byteSwapped)
  }
}

extension StoreBackend {
  /// Returns the position in the history after a commit.
  ///
  /// Complexity: one look-up in the history.
  ///
  /// - Parameter number: The number of the commit; nil for the last one.
  /// - Returns: The position. Its token is zeros if the history no longer has the entry.
  /// - Throws: ``StoreError`` with `historyExpired` if the store keeps no history, or if the
  ///   history begins after the commit; `otherHistory` if the store has no such commit yet;
  ///   `damaged`, `ioError` or `closed`.
  public func historyPosition(after number: UInt64? = nil) throws(StoreError) -> HistoryPosition {
    let lastNumber = lastCommitNumber
    guard let id = try historyID(), let start = try historyStart() else { throw noHistory() }
    let last = coordinator.journal.last
    let number = number ?? lastNumber
    if let last, last.number == number {
      return HistoryPosition(historyID: id, number: number, token: last.token)
    }
    guard number >= start else { throw forgotten(number, start) }
    let token = try rememberedToken(of: number)
    // A commit that is being made has its entry before its number is visible.
    guard number <= lastNumber || token != nil else {
      throw StoreError(
        .otherHistory,
        """
        The last commit of the store is \(lastNumber), so there is none after commit \(number). \
        This is not the store that was followed. Make a new copy of it.
        """,
        at: .init(path: location))
    }
    return HistoryPosition(historyID: id, number: number, token: (token ?? .zero).uuid)
  }

  private func rememberedToken(of number: UInt64) throws(StoreError) -> CommitToken? {
    guard number > 0, let record = try historyRecords(after: number - 1, byteCount: 0).first,
      record.number == number
    else { return nil }
    return try entry(record).commit.rawToken
  }

  private func forgotten(_ number: UInt64, _ start: UInt64) -> StoreError {
    StoreError(
      .historyExpired,
      """
      The history begins after commit \(start), so it has no entries after commit \(number). Make \
      a new copy of the store.
      """,
      at: .init(path: location))
  }
}

// MARK: - Entries as they are stored

/// An encoded entry of the history.
struct HistoryRecord: Sendable {
  let number: UInt64
  let bytes: [UInt8]
}

extension StoreBackend {
  /// Returns the next encoded entries up to about a size, and at least one if there is one.
  func historyRecords(
    after number: UInt64, byteCount: Int
  ) throws(StoreError) -> [HistoryRecord] {
    var (records, count, isDamaged) = ([HistoryRecord](), 0, false)
    _ = try scanKeys(
      of: orderedTable(HistoryFormat.table), HistoryFormat.keys(after: number), isReversed: false
    ) { key, value in
      guard let number = HistoryFormat.number(ofKey: [UInt8](copying: key)) else {
        isDamaged = true
        return .pause
      }
      records.append(HistoryRecord(number: number, bytes: [UInt8](copying: value)))
      count += value.byteCount
      return count < byteCount ? .next : .pause
    }
    if isDamaged {
      throw damagedHistory(DataBufferError(.invalidValue, at: 0, "a key is not that of an entry"))
    }
    return records
  }

  /// Decodes an entry.
  func entry(_ record: HistoryRecord) throws(StoreError) -> HistoryEntry {
    do {
      return try HistoryFormat.entry(record.bytes, of: HistoryFormat.key(record.number))
    } catch { throw damagedHistory(error) }
  }
}
