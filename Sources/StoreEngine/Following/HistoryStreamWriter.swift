import Files
import FoundationEssentials

/// A writer of the history of a store as a stream, which a ``StoreFollower`` applies to a copy.
///
///     var writer = HistoryStreamWriter(behind: try backend.historyPosition(after: 17))
///     try writer.write(backend) { bytes in send(bytes) }
///     send(writer.end())
///
/// You can write a stream to a file, a pipe or the body of a message. <doc:HistoryStreamFormat>
/// describes its bytes. Records in a stream are not encrypted, so send those of an encrypted store
/// over an encrypted connection only.
public struct HistoryStreamWriter: Sendable {
  /// The position after the last written entry.
  public private(set) var position: HistoryPosition
  /// Whether the stream has the values outside of records; if not, it has each as missing.
  package var sendsValues = true
  /// The bytes that no sink has received yet; at first, the header.
  var bytes: [UInt8] = []
  private var encoder: HistoryStreamEncoder
  /// The number of bytes that a sink receives at a time.
  private static let partByteCount = 256 << 10

  /// Begins a stream after a position in the history.
  public init(behind position: HistoryPosition) {
    self.position = position
    encoder = HistoryStreamEncoder(behind: position, to: &bytes)
  }

  /// Writes the entries of all commits after ``position``.
  ///
  /// Each call can pass another backend for the same store, for example after you open its
  /// directory again.
  ///
  /// Complexity: linear in the entries and the values that they refer to. Memory: a megabyte and
  /// the largest entry.
  ///
  /// - Parameters:
  ///   - backend: The store.
  ///   - limit: The approximate number of bytes after which no more entries are written.
  ///   - sink: Receives the bytes. If it throws, the stream can't be continued.
  /// - Returns: The number of entries.
  /// - Throws: ``StoreError`` with `historyExpired` if the history begins after ``position``,
  ///   `otherHistory` if the store is not that of the stream, `damaged`, `ioError` or `closed`; an
  ///   error of the sink.
  @discardableResult
  public mutating func write(
    _ backend: any StoreBackend, limit: Int = .max,
    to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    try check(backend)
    var (count, byteCount) = (0, 0)
    while byteCount < limit {
      // Read before the entries, so that all commits up to this number have one.
      let last = backend.lastCommitNumber
      let records = try backend.historyRecords(
        after: position.number, byteCount: Self.partByteCount)
      let start = try backend.historyStart() ?? 0
      for record in records {
        try write(record, since: start, of: backend, to: sink)
        (count, byteCount) = (count + 1, byteCount + record.bytes.count)
      }
      if records.isEmpty, position.number < last { throw gap(before: last + 1, backend) }
      if records.isEmpty || position.number >= last { break }
    }
    if count > 0 { try flush(to: sink) }
    return count
  }

  /// Returns a heartbeat: the number of the last commit of a store and the time.
  ///
  /// A follower then knows how many commits it does not have yet.
  ///
  /// Complexity: as ``StoreBackend/lastCommitNumber``, for which a backend may ask a server.
  public mutating func heartbeat(of backend: any StoreBackend) -> [UInt8] {
    append(
      .heartbeat(
        number: backend.lastCommitNumber,
        microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)))
    return take()
  }

  /// Returns the bytes that end the stream.
  ///
  /// Complexity: constant time.
  public mutating func end() -> [UInt8] {
    append(.end)
    return take()
  }

  private func check(_ backend: any StoreBackend) throws(StoreError) {
    let found = try backend.historyPosition(after: position.number)
    guard found.isSame(as: position) else {
      throw StoreError(
        .otherHistory,
        """
        The store is at \(found), and the stream continues after \(position). This is another \
        store, or it went back to an earlier state. Make a new copy of it.
        """,
        at: .init(path: backend.location))
    }
  }

  private mutating func write(
    _ record: HistoryRecord, since start: UInt64, of backend: any StoreBackend,
    to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard record.number == position.number + 1 else { throw gap(before: record.number, backend) }
    guard HistoryFormat.isWhole(record.bytes) else {
      throw StoreError(
        .historyExpired,
        """
        The entry of commit \(record.number) is of an earlier version of this library, and does \
        not have all that a copy needs. Make a new copy of the store.
        """,
        at: .init(path: backend.location))
    }
    let entry = try backend.entry(record)
    try writeValues(entry.newReferences, of: backend, to: sink)
    // The history may have been purged since the entry was read.
    append(.entry(record.bytes, since: min(start, record.number - 1)))
    position = position.behind(entry.commit)
    if bytes.count >= Self.partByteCount { try flush(to: sink) }
  }

  private func gap(before number: UInt64, _ backend: any StoreBackend) -> StoreError {
    StoreError(
      .historyExpired,
      """
      The history has no entries between commit \(position.number) and commit \(number). A version \
      of this library without histories saved to the store. Make a new copy of the store.
      """,
      at: .init(path: backend.location))
  }

  // MARK: Bytes

  mutating func append(_ frame: HistoryStreamFrame) { encoder.append(frame, to: &bytes) }

  /// Passes all pending bytes to a sink.
  mutating func flush(to sink: ([UInt8]) throws(StoreError) -> Void) throws(StoreError) {
    if !bytes.isEmpty { try sink(take()) }
  }

  private mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

extension HistoryFormat {
  /// Whether an entry has all that a follower needs.
  static func isWhole(_ bytes: [UInt8]) -> Bool { bytes.first.map { $0 > 1 } ?? false }
}
