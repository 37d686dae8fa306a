import StoreEngine
import Synchronization

// A cursor reads these for each object. Here they are inlined; an atomic of another module would
// not be.

extension ChangeInbox {
  /// Whether another store has saved changes that this store has not collected.
  var hasNews: Bool { isFilled.load(ordering: .acquiring) }
}

extension SharedTable {
  /// The number of commits to the table since the backend was opened.
  var commitCount: UInt64 { commits.load(ordering: .acquiring) }
}
