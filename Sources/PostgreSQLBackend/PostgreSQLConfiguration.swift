/// The settings of a ``PostgreSQLBackend``.
public struct PostgreSQLConfiguration: Sendable {
  /// The access of a backend to its store.
  public enum Access: Sendable {
    /// The backend only reads, also from a standby.
    case readOnly
    /// The backend reads and writes, and creates the store and the schema if they don't exist.
    case readWrite
  }

  /// Whether the backend also writes.
  public var access = Access.readWrite
  /// The maximum age of the server's last answer for `lastCommitNumber` to be read from memory.
  ///
  /// Zero, the default, asks the server each time. Records are always read from the server.
  public var freshness = Duration.zero
  /// The interval at which a thread asks for commits of others while there are observers.
  public var pollInterval = Duration.milliseconds(100)
  /// The time limit for connecting; at least two seconds.
  public var connectTimeout = Duration.seconds(10)
  /// The time limit for a request without progress.
  ///
  /// It also limits how long a save is sent again after its answer was lost.
  public var timeout = Duration.seconds(60)
  /// The maximum number of connections of a backend, besides one for each snapshot; further threads
  /// wait for one.
  public var maximumConnectionCount = 8

  /// Creates a configuration with the default settings.
  public init() {}
}
