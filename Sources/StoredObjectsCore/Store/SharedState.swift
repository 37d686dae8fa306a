import StoreEngine
import Synchronization

// A cursor asks for these with each object. Here they are inlined, which an atomic of another module
// would not be.

extension ChangeInbox {
  /// Whether another store has saved anything that this one has not heard of.
  var hasNews: Bool { isFilled.load(ordering: .acquiring) }
}

extension SharedTable {
  /// How many commits have touched the table since the backend was opened.
  var commitCount: UInt64 { commits.load(ordering: .acquiring) }
}
