import Files

/// Changes of keys in ascending order, each key once: those of one save, or of several.
///
/// It never changes: whoever reads has it, and is undisturbed by commits.
final class KeyRun: Sendable {
  typealias Change = ChangeSet.KeyChange

  /// Where keys and values are; often the bytes of a whole change set.
  let bytes: [UInt8]
  let changes: [Change]
  /// By how many keys the changes up to each let the table grow, from none to all; empty when
  /// nobody has counted.
  ///
  /// Measured against what was there before the first of the saves, so that those of several runs
  /// simply add up.
  let growth: [Int32]
  /// Tells most keys that are not here; nil for a run that few look into.
  private let filter: KeyFilter?

  var count: Int { changes.count }
  /// The size of all keys and values.
  var byteCount: Int { changes.reduce(0) { $0 + $1.value.upperBound - $1.key.lowerBound } }

  /// Takes changes that are sorted already.
  init(
    bytes: [UInt8], sorted changes: [Change], growth: [Int32] = [], filter: KeyFilter? = nil
  ) {
    (self.bytes, self.changes, self.growth, self.filter) = (bytes, changes, growth, filter)
    assert(Self.areSorted(changes, bytes), "the keys of a run are not in their order")
    assert(
      growth.isEmpty || growth.count == changes.count + 1, "a run with the growth of another")
  }

  /// The same, ready to be looked into, and knowing which keys are new, and which are gone.
  ///
  /// - Parameter exists: Whether a key was there before, asked where its change does not say so.
  /// - Returns: a run with the same changes.
  /// - Throws: what the closure throws.
  func counted<Failure: Error>(
    _ exists: (RawSpan) throws(Failure) -> Bool
  ) throws(Failure) -> KeyRun {
    var (sum, growth) = (Int32(0), [Int32(0)])
    growth.reserveCapacity(count + 1)
    for change in changes {
      let wasThere =
        if let known = change.wasThere { known } else { try bytes.lend(change.key, exists) }
      sum += (change.isRemoval ? 0 : 1) - (wasThere ? 1 : 0)
      growth.append(sum)
    }
    return KeyRun(
      bytes: bytes, sorted: changes, growth: growth, filter: KeyFilter(changes, bytes))
  }

  /// Whether a key with this hash may be here.
  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool { filter?.mayContain(hash) ?? true }

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
    let index = lowerBound(key)
    return index < count && compare(index, key) == 0 ? changes[index] : nil
  }

  /// Compares the key of a change with another, see `RawSpan.compare(_:)`.
  @inline(__always)
  func compare(_ index: Int, _ key: RawSpan) -> Int {
    bytes.lend(changes[index].key) { $0.compare(key) }
  }

  func compare(_ index: Int, _ other: KeyRun, _ otherIndex: Int) -> Int {
    other.bytes.lend(other.changes[otherIndex].key) { compare(index, $0) }
  }
}
