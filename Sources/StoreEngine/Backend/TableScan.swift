/// Whether a scan goes on.
public enum ScanStep: Sendable {
  /// Go on with the next record.
  case next
  /// Stop behind this record; the scan can be taken up again there.
  case pause
}

/// A place between two records of a table.
///
/// It is the backend's own notion of a place. It holds until a commit touches the table, or until
/// the backend has brought the commits of before to its files.
public struct ScanPosition: Sendable {
  /// Where to go on: an offset, an index, whatever the backend counts in.
  public let location: UInt64
  /// The number of commits the table had seen when the position was taken.
  public let generation: UInt64

  /// Names a place.
  public init(location: UInt64, generation: UInt64) {
    self.location = location
    self.generation = generation
  }
}

/// How a scan ended.
public enum ScanEnd: Sendable {
  /// Every record has been lent.
  case finished
  /// The body asked to stop; go on from this place.
  case paused(ScanPosition)
  /// The position no longer holds, and nothing was lent: records may have moved. Go on by looking
  /// rows up.
  case disturbed
}
