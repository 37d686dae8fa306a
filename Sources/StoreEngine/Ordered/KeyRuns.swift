import Files

/// All that has happened to the keys of a table, in a few runs from old to new.
///
/// Each save adds a run; runs of about the same size become one, so that there are never more than
/// some forty, and each key is copied a few times.
struct KeyRuns: Sendable {
  private(set) var runs: [KeyRun] = []

  /// Whether nothing has happened.
  var isEmpty: Bool { runs.isEmpty }

  init() {}

  /// What one save does; nobody may ask for its growth unless it has been counted.
  init(only run: KeyRun) { if run.count > 0 { runs = [run] } }

  /// These runs, and later ones.
  func below(_ later: KeyRuns) -> KeyRuns {
    var all = self
    all.runs += later.runs
    return all
  }

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
    guard isBottom else { return }
    if runs.count == 1 { runs[0] = runs[0].withoutRemovals() }
    // By how much nothing has grown is what there is.
    if runs.reduce(0, { $0 + $1.growth(in: 0..<$1.count) }) == 0 { runs = [] }
  }

  /// Small runs are merged by fours, so that there are few of them; larger ones by eights, so that
  /// their keys are copied less often.
  private static let largeCount = 512

  private var firstToMerge: Int? {
    guard let last = runs.last?.count else { return nil }
    let fan = last < Self.largeCount ? 4 : 8
    let first = runs.count - fan
    return first >= 0 && runs[first].count < fan * last ? first : nil
  }

  /// What has happened to a key last; nil when nothing has.
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

  /// By how many keys a range has grown.
  ///
  /// Complexity: O(log² n).
  func growth(in range: KeyRange) -> Int {
    runs.reduce(0) { $0 + $1.growth(in: $1.part(in: range)) }
  }
}
