import Files
import FoundationEssentials

/// Writes the history of a store as a stream, which a ``StoreFollower`` applies to a copy.
///
///     var writer = HistoryStreamWriter(behind: try backend.historyPosition(after: 17))
///     try writer.write(backend) { bytes in send(bytes) }
///     send(writer.end())
///
/// The bytes are the same for a file, a pipe and the body of a message. `HistoryStreamFormat` has
/// them. Records are in them as they are: send those of an encrypted store over an encrypted
/// connection only.
public struct HistoryStreamWriter: Sendable {
  /// The place behind the last entry that has been written.
  public private(set) var position: HistoryPosition
  /// The bytes that are not passed on yet; the header is the first.
  var bytes: [UInt8] = []
  private var encoder: HistoryStreamEncoder
  /// So many bytes are passed on at a time.
  private static let partByteCount = 256 << 10

  /// Begins a stream behind a place in the history.
  public init(behind position: HistoryPosition) {
    self.position = position
    encoder = HistoryStreamEncoder(behind: position, to: &bytes)
  }

  /// Writes the entries of all commits behind ``position``.
  ///
  /// The store may be another object at each call, such as the same directory opened again.
  ///
  /// Complexity: linear in the entries and the values that they refer to. Memory: a megabyte, and
  /// the largest entry.
  ///
  /// - Parameters:
  ///   - backend: The store.
  ///   - limit: The number of bytes after which no more entries are written, about.
  ///   - sink: Receives the bytes. If it throws, the stream can't go on.
  /// - Returns: the number of entries.
  /// - Throws: ``StoreError`` with `historyExpired` where the history begins later, `otherHistory`
  ///   where the store is another one than that of the stream, `damaged`, `ioError` or `closed`;
  ///   what the sink throws.
  @discardableResult
  public mutating func write(
    _ backend: any StoreBackend, limit: Int = .max,
    to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    try check(backend)
    var (count, byteCount) = (0, 0)
    while byteCount < limit {
      // First, so that all commits up to it have entries by then.
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

  /// Returns a message that nothing is missing up to the last commit of a store.
  public mutating func heartbeat(of backend: any StoreBackend) -> [UInt8] {
    append(
      .heartbeat(
        number: backend.lastCommitNumber,
        microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)))
    return take()
  }

  /// Returns the end of the stream.
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
        The store has \(found), and \(position) is wanted: it is another store, or a copy that has \
        gone its own way. Make a new copy of this one.
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
        An earlier version of the library wrote the entry of commit \(record.number), which lacks \
        what a copy needs. Make a new copy of the store.
        """,
        at: .init(path: backend.location))
    }
    let entry = try backend.entry(record)
    try writeValues(entry.newReferences, of: backend, to: sink)
    // The history may have been shortened since the entry was read.
    append(.entry(record.bytes, since: min(start, record.number - 1)))
    position = position.behind(entry.commit)
    if bytes.count >= Self.partByteCount { try flush(to: sink) }
  }

  private func gap(before number: UInt64, _ backend: any StoreBackend) -> StoreError {
    StoreError(
      .historyExpired,
      """
      The history has no entries between commit \(position.number) and commit \(number): a version \
      of the library that knows of no history saved to the store. Make a new copy of it.
      """,
      at: .init(path: backend.location))
  }

  // MARK: Bytes

  mutating func append(_ frame: HistoryStreamFrame) { encoder.append(frame, to: &bytes) }

  /// Passes on what there is.
  mutating func flush(to sink: ([UInt8]) throws(StoreError) -> Void) throws(StoreError) {
    if !bytes.isEmpty { try sink(take()) }
  }

  private mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

extension HistoryFormat {
  /// Whether an entry has all that a copy of the store needs.
  static func isWhole(_ bytes: [UInt8]) -> Bool { bytes.first.map { $0 > 1 } ?? false }
}
