extension HashDatabase {
  /// A place between two records of the file, from which a scan can go on.
  public struct ScanPosition: Sendable, Hashable {
    /// The offset in the file.
    let offset: UInt64
    /// The number of writes the database had seen.
    let generation: UInt64
  }

  /// Whether a scan goes on.
  public enum ScanStep: Sendable {
    /// Go on with the next record.
    case next
    /// Stop behind this record.
    case pause
  }

  /// How a scan ended.
  public enum ScanEnd: Sendable {
    /// All records have been lent.
    case finished
    /// The body asked to stop; go on from there.
    case paused(ScanPosition)
    /// The database was written since the position was taken, or while the scan ran: records may
    /// have moved. What was lent so far was right when it was read.
    case disturbed
  }

  /// Lends records in the order of the file.
  ///
  /// The records are copied out a batch at a time, and lent while no lock is held: scans may nest,
  /// run on several threads at once, and be abandoned, and the body may call the database. A write
  /// by anyone, the body included, ends the scan as ``ScanEnd/disturbed`` behind the current batch.
  /// `tchdbiternext3`.
  ///
  /// Complexity: linear in the size of the file that is scanned.
  ///
  /// - Parameters:
  ///   - position: Where to go on; nil is the beginning.
  ///   - body: Gets a key and a value, which are valid only inside.
  /// - Returns: how the scan ended.
  /// - Throws: ``TokyoCabinetError`` with `damaged`, `readFailed`, `inForEach` or `closed`; what
  ///   the body throws.
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
  /// - Returns: the number of writes the database has seen, or nil when the position is stale.
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

  /// Lends all records where the library has them, in one pass: the fastest way to read them all.
  ///
  /// Writers of other threads wait meanwhile. `tchdbforeach`.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Parameter body: Gets a key and a value, which are valid only inside. It must not write to
  ///   the database, iterate or close it (`inForEach`), nor wait for a thread that does. What it
  ///   throws ends the pass.
  /// - Throws: ``TokyoCabinetError`` with `damaged`, `readFailed`, `inForEach`, `inTransaction` or
  ///   `closed`; what the body throws.
  public func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void) throws {
    try exclusively("forEach", as: .forEach) { try handle.forEach(body) }
  }
}
