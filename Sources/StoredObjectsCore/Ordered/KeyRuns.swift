import Files

/// All that has happened to the keys of a table, in a few runs from old to new.
///
/// Each save adds a run; runs of about the same size become one, so that there are never more than
/// some twenty, and each key is copied a few times.
struct KeyRuns: Sendable {
  private(set) var runs: [KeyRun] = []

  /// Whether nothing has happened.
  var isEmpty: Bool { runs.isEmpty }

  init() {}

  /// What one save does; nobody may ask for its growth unless it has been counted.
  init(only run: KeyRun) { if run.count > 0 { runs = [run] } }

  /// Adds the changes of a save.
  ///
  /// Complexity: amortised O(log n) for each change.
  ///
  /// - Parameters:
  ///   - run: The changes, whose growth has been counted.
  ///   - isBottom: Whether there is nothing below the first run, so that it need not keep removals.
  mutating func add(_ run: KeyRun, isBottom: Bool) {
    if run.count == 0 { return }
    runs.append(run)
    while let first = firstToMerge {
      let merged = KeyRun(
        merging: Array(runs[first...]), dropsRemovals: isBottom && first == 0)
      runs.removeSubrange(first...)
      runs.append(merged)
    }
    if isBottom, runs.count == 1 {
      runs[0] = runs[0].withoutRemovals()
      if runs[0].count == 0 { runs = [] }
    }
  }

  /// Small runs are merged by twos, so that there are few of them; larger ones by fours, so that their
  /// keys are copied half as often.
  private static let largeCount = 512

  private var firstToMerge: Int? {
    let last = runs.count - 1
    if last >= 1, runs[last - 1].count < min(2 * runs[last].count, Self.largeCount) {
      return last - 1
    }
    return last >= 3 && Self.tier(runs[last - 3]) <= Self.tier(runs[last]) ? last - 3 : nil
  }

  /// The logarithm of the size, to the base of four.
  private static func tier(_ run: KeyRun) -> Int {
    (Int.bitWidth - run.count.leadingZeroBitCount) / 2
  }

  /// What has happened to a key last; nil when nothing has.
  func find(_ key: RawSpan) -> (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    if runs.isEmpty { return nil }
    let hash = key.keyHash
    var index = runs.count
    while index > 0 {
      index -= 1
      if runs[index].mayContain(hash), let change = runs[index].find(key) {
        return (runs[index].bytes, change)
      }
    }
    return nil
  }

  /// By how many keys a range has grown.
  ///
  /// Complexity: O(log² n).
  func growth(in range: KeyRange) -> Int {
    runs.reduce(0) { $0 + $1.growth(in: $1.part(in: range)) }
  }

  /// The same in one run, to be gone through once; nobody may ask for its growth.
  func folded() -> KeyRuns {
    if runs.count < 2 { return self }
    return KeyRuns(only: KeyRun(merging: runs, dropsRemovals: false, isCounted: false))
  }
}
