/// The choice of a closure whether a scan continues.
public enum ScanStep: Sendable {
  /// Continue with the next record.
  case next
  /// Stop after this record; the scan can be continued from there.
  case pause
}

/// A position between two records of a table.
///
/// Its meaning is known to the backend only. It is valid until a commit touches the table, or until
/// the backend has folded earlier commits into its files.
public struct ScanPosition: Sendable {
  /// The location to continue from: an offset, an index, or another unit of the backend.
  public let location: UInt64
  /// The number of commits that had touched the table when the position was taken.
  public let generation: UInt64

  /// Creates a position.
  public init(location: UInt64, generation: UInt64) {
    self.location = location
    self.generation = generation
  }
}

/// The ways in which a scan ends.
public enum ScanEnd: Sendable {
  /// Every record has been visited.
  case finished
  /// The closure asked to stop; continue from this position.
  case paused(ScanPosition)
  /// The position is no longer valid, and no record was visited: records may have moved. Continue
  /// by looking up rows.
  case disturbed
}
