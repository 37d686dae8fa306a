import KeyValueStoreCore
import StoredObjectsCore

/// The settings of a device that synchronizes.
public struct SyncConfiguration: Sendable {
  /// The number of row IDs of each class that the device has ahead, for objects that it inserts
  /// without a network; from 1 to 1,000,000.
  ///
  /// A sync that finds less than half of them left asks the server for more.
  public var rowsAhead = 10_000
  /// The number of bytes of commits that one request carries, about; at least 1.
  ///
  /// Values outside of records travel in parts of this size, or of 64 KiB if it is smaller.
  public var requestByteCount = 4 << 20
  /// The number of times that a sync pushes again because others were first.
  public var attempts = 50
  /// Whether the device keeps the history of its own commits after a sync; false by default.
  public var keepsHistory = false
  /// The closure that decides about conflicts; by default, a conflict makes the sync fail.
  ///
  /// It is called on the client's thread, and must be quick.
  public var decide: @Sendable (SyncConflict) -> SyncDecision = { _ in .fail }
  /// The closure that decides about items of key-value stores that both sides have changed; by
  /// default, such a conflict makes the sync fail.
  ///
  /// It is called on the client's thread, and must be quick.
  public var decideItem: @Sendable (SyncItemConflict) -> SyncItemDecision = { _ in .fail }
  /// The names of key-value tables that stay on the device, for example with its own settings.
  ///
  /// A table of this name on the server is ignored after the first sync. Choose the names before the
  /// first sync, and keep them: earlier changes are not sent later.
  public var localTables: Set<String> = []

  /// Creates the default configuration.
  public init() {}
}

/// The result of a sync.
public struct SyncReport: Sendable, Hashable {
  /// The number of commits of others that the store has received.
  public var received = 0
  /// The number of commits of the device that the server has taken.
  public var sent = 0
  /// The number of conflicts that were decided.
  public var conflicts = 0

  /// Creates a report.
  public init(received: Int = 0, sent: Int = 0, conflicts: Int = 0) {
    (self.received, self.sent, self.conflicts) = (received, sent, conflicts)
  }
}
