import Files

extension KeyRun {
  /// Sorts the changes of a save; for each key the last change remains.
  ///
  /// Complexity: as ``KeyOrder``; linear if they are sorted.
  convenience init(bytes: [UInt8], _ changes: [Change]) {
    self.init(
      bytes: bytes,
      sorted: Self.areSorted(changes, bytes) ? changes : Self.sorted(changes, bytes))
  }

  /// Whether the keys are in ascending order without repeats.
  static func areSorted(_ changes: [Change], _ bytes: [UInt8]) -> Bool {
    zip(changes, changes.dropFirst()).allSatisfy {
      KeyOrder.compare($0.key, $1.key, bytes) < 0
    }
  }

  private static func sorted(_ changes: [Change], _ bytes: [UInt8]) -> [Change] {
    var sorted: [Change] = []
    sorted.reserveCapacity(changes.count)
    for index in KeyOrder.indices(count: changes.count, in: bytes, key: { changes[$0].key }) {
      let change = changes[index]
      if let last = sorted.last, KeyOrder.compare(last.key, change.key, bytes) == 0 {
        sorted.removeLast()
      }
      sorted.append(change)
    }
    return sorted
  }
}
