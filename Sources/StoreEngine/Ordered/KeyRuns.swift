import Files

/// The changes of a table's keys, in a few sorted runs, oldest first.
///
/// Each save adds a run, and runs of about the same size are merged. So there are never more than
/// about forty, and each key is copied a few times.
struct KeyRuns: Sendable {
  private(set) var runs: [KeyRun] = []

  /// Whether there are no changes.
  var isEmpty: Bool { runs.isEmpty }

  init() {}

  /// Creates the runs of one save; the growth is available only if the run is counted.
  init(only run: KeyRun) { if run.count > 0 { runs = [run] } }

  /// Adds the changes of a save, and merges runs.
  ///
  /// Complexity: amortized O(log n) for each change.
  ///
  /// - Parameters:
  ///   - run: The changes, with their growth counted.
  ///   - isBottom: Whether there is nothing below the first run, so that it need not keep removals.
  mutating func add(_ run: KeyRun, isBottom: Bool) {
    append(run)
    merge(isBottom: isBottom)
  }

  /// Adds changes with their growth counted, and merges nothing.
  mutating func append(_ run: KeyRun) { if run.count > 0 { runs.append(run) } }

  /// Merges the last runs as long as there are several of about the same size.
  ///
  /// - Parameter isBottom: Whether there is nothing below the first run.
  private mutating func merge(isBottom: Bool) {
    while let first = firstToMerge {
      let merged = KeyRun(
        merging: Array(runs[first...]), dropsRemovals: isBottom && first == 0)
      runs.removeSubrange(first...)
      runs.append(merged)
    }
    guard isBottom, !runs.isEmpty else { return }
    if runs.count == 1 { runs[0] = runs[0].withoutRemovals() }
    // With nothing below, the growth is the number of keys: without keys no run is needed.
    if runs.reduce(0, { $0 + $1.growth(in: 0..<$1.count) }) == 0 { runs = [] }
  }

  /// The size from which runs are merged in eights instead of fours, to copy their keys less often.
  ///
  /// Small runs are merged in fours, so that there are few of them.
  private static let largeCount = 512

  private var firstToMerge: Int? {
    guard let last = runs.last?.count else { return nil }
    let fan = last < Self.largeCount ? 4 : 8
    let first = runs.count - fan
    return first >= 0 && runs[first].count < fan * last ? first : nil
  }

  /// Returns the last change of a key; nil if there is none.
  func find(
    _ key: RawSpan, _ knownHash: UInt64? = nil
  ) -> (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    if runs.isEmpty { return nil }
    let hash = knownHash ?? key.keyHash
    var index = runs.count
    while index > 0 {
      index -= 1
      if runs[index].mayContain(hash), let change = runs[index].find(key) {
        return (runs[index].bytes, change)
      }
    }
    return nil
  }

  /// The first key that has changed; nil if there are no changes.
  var firstKey: [UInt8]? {
    runs.map { run in run.bytes.lend(run.changes[0].key) { [UInt8](copying: $0) } }
      .min { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether keys were removed.
  var hasRemovals: Bool { runs.contains { $0.changes.contains(where: \.isRemoval) } }

  /// Returns the number of keys by which a range has grown.
  ///
  /// Complexity: O(log² n).
  func growth(in range: KeyRange) -> Int {
    runs.reduce(0) { $0 + $1.growth(in: $1.part(in: range)) }
  }
}
