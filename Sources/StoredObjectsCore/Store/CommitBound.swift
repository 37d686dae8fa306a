import StoreEngine

/// A value derived from all saved objects of a class, such as an index.
///
/// It is invalid once the class has a commit that it does not include.
struct CommitBound<Value> {
  /// Nil before it is needed, and when it is out of date.
  private(set) var value: Value?
  /// The number of commits of the class that the value includes.
  private var commitCount: UInt64 = 0

  /// Sets a value that was read when the class had a number of commits.
  mutating func set(_ value: Value, asOf commitCount: UInt64) {
    (self.value, self.commitCount) = (value, commitCount)
  }

  /// Changes the value, if there is one.
  mutating func update(_ body: (inout Value) -> Void) {
    guard var value else { return }
    // Keeps the reference unique, so that the value is changed in place.
    self.value = nil
    body(&value)
    self.value = value
  }

  /// Counts one more commit that the value includes.
  ///
  /// If other stores have committed meanwhile, the count stays below the table's.
  mutating func followOne() { commitCount += 1 }

  /// Drops a value that commits of other stores have made out of date.
  mutating func dropIfStale(_ table: SharedTable) {
    if commitCount != table.commitCount { value = nil }
  }

  /// Drops the value.
  mutating func drop() { value = nil }
}
