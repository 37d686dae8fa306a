/// The settings of a copy that follows a store over HTTP.
public struct HTTPFollowerConfiguration: Sendable {
  /// The time without any bytes after which a connection counts as broken.
  ///
  /// Longer than the heartbeat of the server, which is 10 seconds by default.
  public var timeout = Duration.seconds(60)
  /// The time before the first new attempt after a failure.
  ///
  /// It doubles with each failure, up to ``maximumDelay``, and begins again after a commit has
  /// arrived. Up to a half is added at random, so that followers don't return at once.
  public var minimumDelay = Duration.milliseconds(250)
  /// The maximum time between two attempts.
  public var maximumDelay = Duration.seconds(30)
  /// The maximum number of bytes that wait to be applied.
  ///
  /// If a server is faster than the disk of the copy, the connection is cut here, and continues
  /// after the last applied commit. It does not count during the first copy, and before a
  /// connection has brought a commit.
  public var waitingByteCount = 64 << 20
  /// A closure for each failure after which the follower tries again, with the time until then.
  public var didFail: @Sendable (any Error, Duration) -> Void = { _, _ in }

  /// Creates the default configuration.
  public init() {}
}

/// The progress of a copy that follows a store over HTTP.
public struct HTTPFollowerStatus: Sendable {
  /// The number of the last commit in the copy; 0 before the first copy is complete.
  public internal(set) var commitNumber: UInt64 = 0
  /// The last known commit of the followed store; nil before the server has sent it.
  public internal(set) var sourceCommitNumber: UInt64?
  /// Whether a stream is open.
  public internal(set) var isConnected = false
  /// The error of the last attempt; nil while a stream is open.
  public internal(set) var failure: (any Error)?
}

/// An error of following over HTTP.
public enum HTTPFollowerError: Error, Hashable, CustomStringConvertible {
  /// The server has refused the request for good: status 401 or 403 for the token, 404 for the
  /// address, 400 for the request.
  case refused(status: Int)
  /// The server has no place at the moment: status 429 or 503, or another of 500 to 599.
  case unavailable(status: Int)
  /// The stream has ended in the middle.
  case cutOff
  /// More bytes wait than ``HTTPFollowerConfiguration/waitingByteCount``.
  case tooFast

  /// The error, and what to do.
  public var description: String {
    switch self {
    case .refused(let status) where status == 401 || status == 403:
      "The server does not accept the token (\(status)). Use the token of a follower."
    case .refused(let status):
      "The server has answered with status \(status). Check the address of its history."
    case .unavailable(let status):
      "The server can't send its history now (\(status)). Try again later."
    case .cutOff: "The stream was cut off. The copy has all commits before the cut. Connect again."
    case .tooFast: "The server is faster than the disk of the copy. Connect again."
    }
  }

  /// Whether another attempt can succeed without a change.
  public var isTemporary: Bool {
    if case .refused = self { false } else { true }
  }

  init?(status: Int) {
    switch status {
    case 200: return nil
    case 408, 425, 429, 500...599: self = .unavailable(status: status)
    default: self = .refused(status: status)
    }
  }
}
