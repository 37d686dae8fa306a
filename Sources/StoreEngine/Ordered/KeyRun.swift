import Files

/// A sorted run: changes of keys in ascending order, without repeats, of one or several saves.
///
/// It is immutable, so commits don't disturb a reader that holds it.
final class KeyRun: Sendable {
  typealias Change = ChangeSet.KeyChange

  /// The bytes of the keys and values, often those of a whole change set.
  let bytes: [UInt8]
  let changes: [Change]
  /// The growth of the table by the first 0, 1, 2 … changes, in keys; empty if it is not counted.
  ///
  /// It is relative to the state before the first of the saves, so the growths of several runs add
  /// up.
  let growth: [Int32]
  /// Rules out most keys that are not in the run; nil for a run that is rarely searched.
  private let filter: KeyFilter?

  var count: Int { changes.count }
  /// The total size of keys and values.
  var byteCount: Int { changes.reduce(0) { $0 + $1.value.upperBound - $1.key.lowerBound } }

  /// Creates a run from sorted changes.
  init(
    bytes: [UInt8], sorted changes: [Change], growth: [Int32] = [], filter: KeyFilter? = nil
  ) {
    (self.bytes, self.changes, self.growth, self.filter) = (bytes, changes, growth, filter)
    assert(Self.areSorted(changes, bytes), "the keys of a run are not in their order")
    assert(
      growth.isEmpty || growth.count == changes.count + 1, "a run with the growth of another")
  }

  /// Returns the same run with a filter and with the growth counted, for searching.
  ///
  /// - Parameter exists: Returns whether a key existed before; called if the change does not tell.
  /// - Returns: A run with the same changes.
  /// - Throws: An error of the closure.
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

  /// Whether a key with this hash may be in the run.
  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool { filter?.mayContain(hash) ?? true }

  /// Returns the number of keys by which a part of the changes grows the table.
  func growth(in part: Range<Int>) -> Int {
    Int(growth[part.upperBound]) - Int(growth[part.lowerBound])
  }

  /// Returns the index of the first change whose key is not less than a key.
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

  /// Returns the indices of the changes whose keys are in a range.
  func part(in range: KeyRange) -> Range<Int> {
    let start = range.from.isEmpty ? 0 : range.from.lend { lowerBound($0) }
    let end = range.to.map { to in to.lend { lowerBound($0) } } ?? count
    return start..<max(start, end)
  }

  /// Returns the change of a key, or nil.
  func find(_ key: RawSpan) -> Change? {
    let index = lowerBound(key)
    return index < count && compare(index, key) == 0 ? changes[index] : nil
  }

  /// Compares the key of a change with another key, see `RawSpan.compare(_:)`.
  @inline(__always)
  func compare(_ index: Int, _ key: RawSpan) -> Int {
    bytes.lend(changes[index].key) { $0.compare(key) }
  }

  func compare(_ index: Int, _ other: KeyRun, _ otherIndex: Int) -> Int {
    other.bytes.lend(other.changes[otherIndex].key) { compare(index, $0) }
  }
}
