import StoreEngine

/// Something that was found out by reading all saved objects of a class, such as an index; it is
/// worth nothing once a commit has changed them that it does not know of.
struct CommitBound<Value> {
  /// Nil until it is needed, and when it is out of date.
  private(set) var value: Value?
  /// How many commits of the class the value knows of.
  private var commitCount: UInt64 = 0

  /// Takes a value that was read when the class had so many commits.
  mutating func set(_ value: Value, asOf commitCount: UInt64) {
    (self.value, self.commitCount) = (value, commitCount)
  }

  /// Changes the value, if there is one.
  mutating func update(_ body: (inout Value) -> Void) {
    guard var value else { return }
    // Held once only, so that it changes in place.
    self.value = nil
    body(&value)
    self.value = value
  }

  /// The value has been told of one more commit.
  ///
  /// If others have committed meanwhile, it knows of fewer than there are.
  mutating func followOne() { commitCount += 1 }

  /// Forgets a value that commits of others have made out of date.
  mutating func dropIfStale(_ table: SharedTable) {
    if commitCount != table.commitCount { value = nil }
  }

  /// Forgets the value.
  mutating func drop() { value = nil }
}
