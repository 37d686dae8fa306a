/// How a ``PostgreSQLBackend`` works.
public struct PostgreSQLConfiguration: Sendable {
  /// Whether a backend reads or also writes.
  public enum Access: Sendable {
    /// It reads only, also from a standby.
    case readOnly
    /// It reads and writes, and creates what is not there.
    case readWrite
  }

  /// Whether the backend writes.
  public var access = Access.readWrite
  /// How old the last answer of the server may be for `lastCommitNumber` to be answered from memory.
  ///
  /// Zero, the default, asks the server each time. Records are read from the server in any case.
  public var freshness = Duration.zero
  /// How often a thread asks for commits of others while somebody listens.
  public var pollInterval = Duration.milliseconds(100)
  /// How long a connection may take; two seconds at least.
  public var connectTimeout = Duration.seconds(10)
  /// How long a request may make no progress, and how long a save whose answer was lost is sent again.
  public var timeout = Duration.seconds(60)
  /// How many connections a backend has at most; further threads wait for one.
  public var maximumConnectionCount = 8

  /// The defaults.
  public init() {}
}
