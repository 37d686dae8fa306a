import Files

/// A reader that applies the history of a store to a copy of it, each commit exactly once.
///
///     var follower = try StoreFollower(copy)
///     for bytes in stream { try follower.apply(bytes) }     // from a HistoryStreamWriter
///     try follower.finish()
///
/// Each commit of the source becomes one commit of the copy, with the same number, token, author,
/// time and entry in the history. The same commit saves the position of the copy. So after a kill a
/// follower continues at its last commit, and a commit that arrives again is skipped. A stream of
/// another store, a gap, and a commit that does not match the records of the copy are errors, and
/// change nothing.
///
/// The first stream into an empty backend begins with a copy, see
/// ``HistoryStreamWriter/copying(_:to:)``. Stores can read the copy at any time. Their commits
/// throw `readOnly` until you call ``StoreBackend/promote(author:)``.
public struct StoreFollower: Sendable {
  /// The copy.
  public let target: any StoreBackend
  /// The number of the last known commit of the source; nil before the source has reported one.
  public internal(set) var sourceCommitNumber: UInt64?
  /// The number of the last commit to apply; nil for no limit.
  ///
  /// Later commits of a stream are skipped.
  public var limit: UInt64?

  private var decoder: HistoryStreamDecoder
  /// The position after which the stream begins.
  private var header: HistoryPosition?
  var values = ReceivedValues()
  /// The last commit before the history of the copy; nil before it has been read.
  var historyStart: UInt64?

  /// Creates a follower that applies streams to a copy, or to an empty backend.
  ///
  /// Complexity: one look-up. For a backend without the mark of a copy, also linear in the number
  /// of its tables and buffers.
  ///
  /// - Parameters:
  ///   - target: The copy.
  ///   - source: The name of the stream's source, for errors.
  /// - Throws: ``StoreError`` with `invalidArgument` for a store that follows no other store, and
  ///   for a backend that can't keep a history; `damaged` for an unfinished copy; `ioError` or
  ///   `closed`.
  public init(_ target: any StoreBackend, source: String = "stream") throws(StoreError) {
    guard target.remembersCommits else {
      throw StoreError(
        .invalidArgument,
        "This backend can't keep a history, so it can't follow a store. Use another backend.",
        at: .init(path: target.location))
    }
    (self.target, decoder) = (target, HistoryStreamDecoder(source))
    if let mark = try target.followerMark() {
      if !mark.isWhole { throw target.unfinishedCopy() }
    } else if try !target.isEmpty() {
      throw StoreError(
        .invalidArgument,
        "This is a store of its own, not a copy that follows another store. Name a new directory.",
        at: .init(path: target.location))
    }
  }

  /// Returns the position of the last applied commit; nil for an empty backend.
  ///
  /// Complexity: one look-up.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func position() throws(StoreError) -> HistoryPosition? {
    guard let mark = try target.followerMark(), mark.isWhole else { return nil }
    return mark.position
  }

  /// Applies the next bytes of a stream, which can end at any byte.
  ///
  /// If it throws, the copy is in the state after one of the source's commits.
  ///
  /// Complexity: linear in the bytes, and a commit for each entry that they complete.
  ///
  /// - Throws: ``StoreError`` with `damaged` for invalid bytes, and if the copy differs from the
  ///   old values in an entry; `otherHistory` for a stream of another store; `historyExpired` if
  ///   commits are missing; or an error of ``StoreBackend/commit(_:_:)``.
  public mutating func apply(_ bytes: [UInt8]) throws(StoreError) {
    decoder.append(bytes)
    while let element = try decoder.next() {
      switch element {
      case .header(let position): try begin(position)
      case .frame(let frame): try apply(frame)
      }
    }
  }

  /// Checks that the stream is complete.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `ioError` if the stream was cut off.
  public func finish() throws(StoreError) { try decoder.finish() }

  /// Applies all commits of a store in this process that the copy does not have.
  ///
  /// If the copy is empty, the store is copied first.
  ///
  /// Complexity: linear in the entries of the commits; a copy is linear in the size of the store.
  ///
  /// - Parameter source: The followed store.
  /// - Returns: The number of applied commits.
  /// - Throws: ``StoreError``, as ``apply(_:)`` and ``HistoryStreamWriter/write(_:limit:to:)``.
  @discardableResult
  public mutating func catchUp(with source: any StoreBackend) throws(StoreError) -> Int {
    decoder = HistoryStreamDecoder(source.location)
    // The next call of `apply(_:)` begins another stream.
    defer { decoder = HistoryStreamDecoder(source.location) }
    var writer: HistoryStreamWriter
    if let position = try position() {
      writer = HistoryStreamWriter(behind: position)
    } else {
      writer = try .copying(source) { (bytes) throws(StoreError) in try apply(bytes) }
    }
    let count = try writer.write(source) { (bytes) throws(StoreError) in try apply(bytes) }
    sourceCommitNumber = writer.position.number
    return count
  }

  // MARK: Frames

  private mutating func begin(_ position: HistoryPosition) throws(StoreError) {
    header = position
    guard let known = try self.position() else {
      // The first part of the copy will mark the target as incomplete.
      if let mark = try target.followerMark(), !mark.isWhole { throw target.unfinishedCopy() }
      return
    }
    guard known.historyID == position.historyID else { throw other(position, known) }
    if position.number > known.number { throw missing(position.number, known) }
    if position.number == known.number, !position.isSame(as: known) {
      throw other(position, known)
    }
  }

  private mutating func apply(_ frame: HistoryStreamFrame) throws(StoreError) {
    guard let header else { return }
    switch frame {
    case .entry(let bytes, let since): try apply(entry: bytes, since: since, header)
    case .value(let reference, let offset, let bytes):
      try values.add(reference, offset, bytes, to: target)
    case .missingValue(let reference): values.addMissing(reference)
    case .heartbeat(let number, _): sourceCommitNumber = number
    case .copyPart(let bytes): try apply(copyPart: bytes, header)
    case .copyEnd(let commit): try endCopy(commit, header)
    case .end: self.header = nil
    }
  }

  /// Decodes an entry of a stream.
  func entry(_ bytes: [UInt8]) throws(StoreError) -> HistoryEntry {
    do throws(DataBufferError) {
      guard HistoryFormat.isWhole(bytes) else {
        throw DataBufferError(.invalidValue, at: 0, "it does not have all that a copy needs")
      }
      return try HistoryFormat.entry(bytes)
    } catch {
      throw StoreError(
        .damaged, "An entry of the stream is invalid: \(error). Read it again from its source.",
        at: .init(path: target.location), underlying: error)
    }
  }

  // MARK: Errors

  func other(_ found: HistoryPosition, _ known: HistoryPosition) -> StoreError {
    StoreError(
      .otherHistory,
      """
      The stream is at \(found), and the copy at \(known). The stream is of another store, or its \
      store went back to an earlier state. Make a new copy.
      """,
      at: .init(path: target.location))
  }

  func missing(_ number: UInt64, _ known: HistoryPosition) -> StoreError {
    StoreError(
      .historyExpired,
      """
      The copy is at \(known), and the stream continues after commit \(number). Read the stream \
      from the last commit of the copy, or make a new copy.
      """,
      at: .init(path: target.location))
  }
}

extension StoreBackend {
  /// Whether the store has no tables and no buffers.
  fileprivate func isEmpty() throws(StoreError) -> Bool {
    guard try tableNames().isEmpty, try bufferNames().isEmpty else { return false }
    return try orderedTableNames().isEmpty
  }
}

extension HistoryFormat {
  /// Decodes an entry whose number is not known yet.
  package static func entry(_ bytes: [UInt8]) throws(DataBufferError) -> HistoryEntry {
    var buffer = DataBuffer(bytes)
    try buffer.skip(1)
    return try entry(bytes, of: key(try buffer.readUInt64()))
  }
}
