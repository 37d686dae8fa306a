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
    while runs.count > 1, runs[runs.count - 2].count < 2 * runs[runs.count - 1].count {
      let newer = runs.removeLast()
      let older = runs.removeLast()
      runs.append(KeyRun(older, newer, dropsRemovals: isBottom && runs.isEmpty))
    }
    if isBottom, runs.count == 1 {
      runs[0] = runs[0].withoutRemovals()
      if runs[0].count == 0 { runs = [] }
    }
  }

  /// What has happened to a key last; nil when nothing has.
  func find(_ key: RawSpan) -> (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    for run in runs.reversed() {
      if let change = run.find(key) { return (run.bytes, change) }
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

extension KeyRun {
  /// Makes one run of two; of two changes of a key the newer one stays.
  ///
  /// Removals are dropped where there is nothing below that could be removed.
  init(_ older: KeyRun, _ newer: KeyRun, dropsRemovals: Bool) {
    var merge = Merge(older.count + newer.count)
    var (left, right) = (0, 0)
    while left < older.count || right < newer.count {
      let order: Int
      if left == older.count {
        order = 1
      } else if right == newer.count {
        order = -1
      } else {
        order = older.compare(left, newer, right)
      }
      let growth =
        (order <= 0 ? older.growth(in: left..<left + 1) : 0)
        + (order >= 0 ? newer.growth(in: right..<right + 1) : 0)
      merge.add(
        order < 0 ? older : newer, order < 0 ? left : right, growth, dropsRemovals: dropsRemovals)
      if order <= 0 { left += 1 }
      if order >= 0 { right += 1 }
    }
    self.init(bytes: merge.bytes, sorted: merge.changes, growth: merge.growth)
  }

  /// The same with bytes of its own.
  func compacted() -> KeyRun {
    var merge = Merge(count)
    for place in changes.indices { merge.add(self, place, 0, dropsRemovals: false) }
    return KeyRun(bytes: merge.bytes, sorted: merge.changes)
  }

  /// The same without the removals, where there are any.
  fileprivate func withoutRemovals() -> KeyRun {
    guard changes.contains(where: \.isRemoval) else { return self }
    let none = KeyRun(bytes: [], sorted: [], growth: [0])
    return KeyRun(self, none, dropsRemovals: true)
  }

  /// A run that is being put together.
  private struct Merge {
    var bytes: [UInt8] = []
    var changes: [Change] = []
    var growth: [Int32] = [0]

    init(_ count: Int) {
      changes.reserveCapacity(count)
      growth.reserveCapacity(count + 1)
    }

    mutating func add(_ run: KeyRun, _ place: Int, _ difference: Int, dropsRemovals: Bool) {
      let change = run.changes[place]
      if change.isRemoval && dropsRemovals { return }
      let start = bytes.count
      run.bytes.lend(change.key.lowerBound..<change.value.upperBound) { bytes.append(copying: $0) }
      changes.append(
        change.isRemoval
          ? Change(removing: start, keyCount: change.key.count)
          : Change(
            putting: start, keyCount: change.key.count, valueCount: change.value.count))
      growth.append((growth.last ?? 0) + Int32(difference))
    }
  }
}
