import Files

/// Changes of keys in ascending order, each key once: those of one save, or of several.
///
/// A value that is never changed: whoever reads has a copy, and is undisturbed by commits.
struct KeyRun: Sendable {
  typealias Change = ChangeSet.KeyChange

  /// Where keys and values are; often the bytes of a whole change set.
  let bytes: [UInt8]
  let changes: [Change]
  /// By how many keys the changes up to each let the table grow, from none to all.
  ///
  /// Measured against what was there before the first of the saves, so that those of several runs
  /// simply add up.
  private(set) var growth: [Int32]

  var count: Int { changes.count }

  /// Takes changes that are sorted already.
  init(bytes: [UInt8], sorted changes: [Change], growth: [Int32] = []) {
    (self.bytes, self.changes, self.growth) = (bytes, changes, growth)
  }

  /// Counts which keys are new, and which are gone.
  ///
  /// - Parameter exists: Whether a key was there before.
  mutating func countGrowth(_ exists: (RawSpan) throws -> Bool) rethrows {
    var sum: Int32 = 0
    growth = [0]
    growth.reserveCapacity(count + 1)
    for change in changes {
      let existed = try bytes.lend(change.key) { try exists($0) }
      sum += (change.isRemoval ? 0 : 1) - (existed ? 1 : 0)
      growth.append(sum)
    }
  }

  /// By how many keys a part of the changes lets the table grow.
  func growth(in part: Range<Int>) -> Int {
    Int(growth[part.upperBound]) - Int(growth[part.lowerBound])
  }

  /// The first change whose key is not before another.
  ///
  /// Complexity: O(log n).
  func lowerBound(_ key: RawSpan) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if compare(middle, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The changes whose keys are in a range.
  func part(in range: KeyRange) -> Range<Int> {
    let start = range.from.isEmpty ? 0 : range.from.lend { lowerBound($0) }
    let end = range.to.map { to in to.lend { lowerBound($0) } } ?? count
    return start..<max(start, end)
  }

  /// The change of a key.
  func find(_ key: RawSpan) -> Change? {
    let place = lowerBound(key)
    return place < count && compare(place, key) == 0 ? changes[place] : nil
  }

  /// Compares the key of a change with another, see `RawSpan.compare(_:)`.
  @inline(__always)
  func compare(_ place: Int, _ key: RawSpan) -> Int {
    bytes.lend(changes[place].key) { $0.compare(key) }
  }

  func compare(_ place: Int, _ other: KeyRun, _ otherPlace: Int) -> Int {
    other.bytes.lend(other.changes[otherPlace].key) { compare(place, $0) }
  }
}
