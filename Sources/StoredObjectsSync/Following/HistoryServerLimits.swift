/// The limits of a server of histories.
public struct HistoryServerLimits: Sendable {
  /// The maximum number of followers that read at once.
  public var followerCount = 16
  /// The maximum number of bytes that wait for a follower.
  ///
  /// The server reads no more of the store until the follower has taken some of them.
  public var waitingByteCount = 1 << 20
  /// The time without a commit after which a heartbeat is sent.
  public var heartbeat = Duration.seconds(10)
  /// The time after which a stream is cut if its follower takes no bytes.
  public var stall = Duration.seconds(60)
  /// The time after which a stream ends, so that the follower connects again.
  ///
  /// A first copy is always sent to its end.
  public var duration = Duration.seconds(3600)
  /// The time for which `purgeHistory(keeping:)` keeps what a follower has not seen, from its last
  /// connection on, 30 days by default; nil if followers keep nothing.
  ///
  /// A follower that is away for longer may have to make a new copy.
  public var followerRetention: Duration? = .seconds(30 * 86_400)

  /// Creates the default limits.
  public init() {}
}
