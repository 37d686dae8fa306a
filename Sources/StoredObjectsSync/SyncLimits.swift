/// The limits of a server for the requests of a device.
public struct SyncLimits: Sendable {
  /// The maximum size of a request in bytes.
  public var requestByteCount = 32 << 20
  /// The maximum number of row IDs that one request gets for a class.
  public var rowCount = 1_000_000
  /// The maximum number of bytes of commits, or of values, in one answer, about.
  public var answerByteCount = 16 << 20
  /// The maximum size of a value outside of records, in bytes.
  public var valueByteCount = 4 << 30
  /// The maximum number of bytes of values that a device has sent, and that wait for the commits
  /// that refer to them.
  public var waitingByteCount = 16 << 30
  /// The maximum number of values of a device that wait for their commits.
  public var waitingCount = 100_000
  /// The time after the last request of a device that its values wait for their commits.
  ///
  /// Then a request of any device removes them.
  public var waitingTime = Duration.seconds(3600)

  /// Creates the default limits.
  public init() {}
}
