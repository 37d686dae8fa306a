extension HashDatabase {
  /// A position between two records of the file, from which a scan can continue.
  public struct ScanPosition: Sendable, Hashable {
    /// The offset in the file.
    let offset: UInt64
    /// The number of writes at that time.
    let generation: UInt64
  }

  /// The decision whether a scan continues.
  public enum ScanStep: Sendable {
    /// Continue with the next record.
    case next
    /// Stop after this record.
    case pause
  }

  /// The end of a scan.
  public enum ScanEnd: Sendable {
    /// All records have been visited.
    case finished
    /// The body asked to stop; continue from this position.
    case paused(ScanPosition)
    /// The database was written to since the position was taken, or during the scan.
    ///
    /// Records may have moved. The records visited so far were right when they were read.
    case disturbed
  }

  /// Calls a closure with the records in the order of the file.
  ///
  /// The records are copied out in batches, and the closure runs without a lock. So scans may nest,
  /// run on several threads at once and be abandoned, and the closure may call the database. Any
  /// write, even by the closure, ends the scan as ``ScanEnd/disturbed`` after the current batch. It
  /// uses `tchdbiternext3`.
  ///
  /// Complexity: linear in the scanned part of the file.
  ///
  /// - Parameters:
  ///   - position: The position to continue at; nil for the beginning.
  ///   - body: Called with a key and a value, which are valid only during the call.
  /// - Returns: The way in which the scan ended.
  /// - Throws: ``TokyoCabinetError`` with `damaged`, `readFailed`, `inForEach` or `closed`, or an
  ///   error of the closure.
  public func scan(
    from position: ScanPosition? = nil,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    var position = position
    var batch = RecordBatch()
    while true {
      guard let generation = try fill(&batch, from: position) else { return .disturbed }
      if let stop = try batch.firstStop({ try body($0, $1) == .next }) {
        return .paused(ScanPosition(offset: batch.end(of: stop), generation: generation))
      }
      guard !batch.isLast, let end = batch.end else { return .finished }
      position = ScanPosition(offset: end, generation: generation)
    }
  }

  /// Copies the next records out of the file.
  ///
  /// - Returns: The number of writes so far, or nil if the position is stale.
  func fill(
    _ batch: inout RecordBatch, from position: ScanPosition?, atLeast bytes: Int = 64 << 10
  ) throws -> UInt64? {
    batch.removeAll()
    return try exclusively("scan", allowedInTransaction: true) {
      let now = generation
      if let position, position.generation != now { return nil }
      try handle.fill(&batch, from: position?.offset, atLeast: bytes)
      return now
    }
  }

  /// Calls a closure with all records in place, in one pass: the fastest way to read them all.
  ///
  /// Writers on other threads wait meanwhile. It uses `tchdbforeach`.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Parameter body: Called with a key and a value, which are valid only during the call. It must
  ///   not write to the database, iterate or close it (`inForEach`), nor wait for a thread that
  ///   does. An error that it throws ends the pass.
  /// - Throws: ``TokyoCabinetError`` with `damaged`, `readFailed`, `inForEach`, `inTransaction` or
  ///   `closed`, or an error of the closure.
  public func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void) throws {
    try exclusively("forEach", as: .forEach) { try handle.forEach(body) }
  }
}
