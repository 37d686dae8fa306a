import Files

/// Applies the history of a store to a copy of it, each commit exactly once.
///
///     var follower = try StoreFollower(copy)
///     for bytes in stream { try follower.apply(bytes) }     // as HistoryStreamWriter has made them
///     try follower.finish()
///
/// A commit of the source is one commit of the copy, with the same number, token, author and time,
/// and with the same entry in the history. The place that the copy has reached is a part of it, so
/// that a follower that was killed goes on where it was, and a commit that comes again is skipped.
/// A stream of another store, a gap, and a commit that does not fit what the copy holds are errors,
/// and change nothing.
///
/// The first stream of an empty backend begins with a copy, see
/// ``HistoryStreamWriter/copying(_:to:)``. Stores may read the copy meanwhile; their commits throw
/// `readOnly` until ``StoreBackend/promote(author:)``.
public struct StoreFollower: Sendable {
  /// The copy.
  public let target: any StoreBackend
  /// The last commit that the source is known to have; nil before the source has said so.
  public internal(set) var sourceCommitNumber: UInt64?
  /// The last commit that is applied: later ones of a stream are skipped; nil applies all.
  public var limit: UInt64?

  private var decoder: HistoryStreamDecoder
  /// The place behind which the stream begins.
  private var header: HistoryPosition?
  var values = ReceivedValues()
  /// The last commit that the copy does not remember, once it is known.
  var historyStart: UInt64?

  /// Opens a copy, or an empty backend that is to be one.
  ///
  /// - Parameters:
  ///   - target: The copy.
  ///   - source: The name of the stream's source, for errors.
  /// - Throws: ``StoreError`` with `invalidArgument` for a store of its own, and for a backend that
  ///   keeps no history; `damaged` for a copy that was not finished; `ioError` or `closed`.
  public init(_ target: any StoreBackend, source: String = "stream") throws(StoreError) {
    guard target.remembersCommits else {
      throw StoreError(
        .invalidArgument, "This backend keeps no history, so it can't follow that of a store.",
        at: .init(path: target.location))
    }
    (self.target, decoder) = (target, HistoryStreamDecoder(source))
    if let mark = try target.followerMark() {
      if !mark.isWhole { throw target.unfinishedCopy() }
    } else if try !target.isEmpty() {
      throw StoreError(
        .invalidArgument,
        "This is a store of its own, and no copy that follows another one. Name a new directory.",
        at: .init(path: target.location))
    }
  }

  /// Returns the place that the copy has reached; nil for an empty backend.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func position() throws(StoreError) -> HistoryPosition? {
    guard let mark = try target.followerMark(), mark.isWhole else { return nil }
    return mark.position
  }

  /// Applies the next bytes of a stream, which may end anywhere.
  ///
  /// Complexity: linear in the bytes, and a commit for each entry that they complete.
  ///
  /// - Throws: ``StoreError`` with `damaged` for bytes that make no sense, and where the copy does not
  ///   hold what an entry says was there; `otherHistory` for a stream of another store;
  ///   `historyExpired` where commits are missing; and as ``StoreBackend/commit(_:_:)``. The copy is
  ///   as some commit of the source left it then.
  public mutating func apply(_ bytes: [UInt8]) throws(StoreError) {
    decoder.append(bytes)
    while let element = try decoder.next() {
      switch element {
      case .header(let position): try begin(position)
      case .frame(let frame): try apply(frame)
      }
    }
  }

  /// Makes sure that the stream has come to its end.
  ///
  /// - Throws: ``StoreError`` with `ioError` where it was cut off.
  public func finish() throws(StoreError) { try decoder.finish() }

  /// Applies all commits that a store in this process has and the copy lacks.
  ///
  /// Complexity: linear in their entries.
  ///
  /// - Parameter source: The followed store; an empty copy becomes one of it.
  /// - Returns: the number of commits.
  /// - Throws: ``StoreError``, as ``apply(_:)`` and ``HistoryStreamWriter/write(_:to:)``.
  @discardableResult
  public mutating func catchUp(with source: any StoreBackend) throws(StoreError) -> Int {
    decoder = HistoryStreamDecoder(source.location)
    // What comes next is another stream.
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
      // The first part of a copy says so.
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

  /// Reads an entry of a stream.
  func entry(_ bytes: [UInt8]) throws(StoreError) -> HistoryEntry {
    do throws(DataBufferError) {
      guard HistoryFormat.isWhole(bytes) else {
        throw DataBufferError(.invalidValue, at: 0, "an entry without all that a copy needs")
      }
      return try HistoryFormat.entry(bytes)
    } catch {
      throw StoreError(
        .damaged, "An entry of the stream makes no sense: \(error). Read it again from its source.",
        at: .init(path: target.location), underlying: error)
    }
  }

  // MARK: Errors

  func other(_ found: HistoryPosition, _ known: HistoryPosition) -> StoreError {
    StoreError(
      .otherHistory,
      """
      The stream has \(found), and the copy has \(known): it is of another store, or of a copy that \
      has gone its own way. Make a new copy.
      """,
      at: .init(path: target.location))
  }

  func missing(_ number: UInt64, _ known: HistoryPosition) -> StoreError {
    StoreError(
      .historyExpired,
      """
      The copy has \(known), and the stream goes on behind commit \(number). Read the stream from \
      the commit that the copy has, or make a new copy.
      """,
      at: .init(path: target.location))
  }
}

extension StoreBackend {
  /// Whether nothing has ever been saved.
  fileprivate func isEmpty() throws(StoreError) -> Bool {
    guard try tableNames().isEmpty, try bufferNames().isEmpty else { return false }
    return try orderedTableNames().isEmpty
  }
}

extension HistoryFormat {
  /// Reads an entry whose number nobody knows yet.
  package static func entry(_ bytes: [UInt8]) throws(DataBufferError) -> HistoryEntry {
    var buffer = DataBuffer(bytes)
    try buffer.skip(1)
    return try entry(bytes, of: key(try buffer.readUInt64()))
  }
}
