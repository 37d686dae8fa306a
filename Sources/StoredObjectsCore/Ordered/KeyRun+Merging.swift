import Files

extension KeyRun {
  /// Makes one run of several, from old to new; of the changes of a key the newest one stays.
  ///
  /// Complexity: linear in the number of changes, times that of the runs.
  ///
  /// - Parameters:
  ///   - runs: The runs.
  ///   - dropsRemovals: Whether there is nothing below that could be removed.
  ///   - isCounted: Whether the result is going to be looked into; the growth of all has been counted
  ///     then.
  convenience init(merging runs: [KeyRun], dropsRemovals: Bool, isCounted: Bool = true) {
    var heads = RunHeads(runs)
    var merge = MergedRun(runs, isCounted: isCounted)
    while let next = heads.next() {
      let change = runs[next.run].changes[next.place]
      merge.sum += next.growth
      if dropsRemovals && change.isRemoval { continue }
      merge.add(runs[next.run], change)
    }
    self.init(merge)
  }

  /// The same with bytes of its own; nobody has counted.
  func compacted() -> KeyRun { KeyRun(merging: [self], dropsRemovals: false, isCounted: false) }

  /// The same without the removals, where there are any.
  func withoutRemovals() -> KeyRun {
    guard changes.contains(where: \.isRemoval) else { return self }
    return KeyRun(merging: [self], dropsRemovals: true)
  }

  fileprivate convenience init(_ merge: consuming MergedRun) {
    self.init(
      bytes: merge.bytes, sorted: merge.changes, growth: merge.growth, filter: merge.filter)
  }
}

/// A run that is being put together.
private struct MergedRun {
  var bytes: [UInt8] = []
  var changes: [KeyRun.Change] = []
  var growth: [Int32]
  var filter: KeyFilter?
  /// By how much the table has grown so far.
  var sum: Int32 = 0
  private let isCounted: Bool

  init(_ runs: [KeyRun], isCounted: Bool) {
    let count = runs.reduce(0) { $0 + $1.count }
    self.isCounted = isCounted
    growth = isCounted ? [0] : []
    filter = isCounted && count >= KeyFilter.leastCount ? KeyFilter(count: count) : nil
    changes.reserveCapacity(count)
    bytes.reserveCapacity(runs.reduce(0) { $0 + $1.byteCount })
    if isCounted { growth.reserveCapacity(count + 1) }
  }

  @inline(__always)
  mutating func add(_ run: KeyRun, _ change: KeyRun.Change) {
    let start = bytes.count
    run.bytes.lend(change.key.lowerBound..<change.value.upperBound) { bytes.append(copying: $0) }
    changes.append(change.moved(to: start))
    guard isCounted else { return }
    growth.append(sum)
    run.bytes.lend(change.key) { filter?.insert($0.keyHash) }
  }
}

/// Where the merging of runs has come to in each of them.
private struct RunHeads {
  private let runs: [KeyRun]
  private var places: [Int]
  /// The eight bytes of each run's next key that follow what all keys begin with.
  private var heads: [UInt64]
  private let prefix: Int

  init(_ runs: [KeyRun]) {
    self.runs = runs
    places = [Int](repeating: 0, count: runs.count)
    heads = places.map { UInt64($0) }
    prefix = Self.commonPrefix(runs)
    for run in runs.indices { load(run) }
  }

  /// How many bytes all keys begin with: in what is sorted the first one and the last one tell.
  private static func commonPrefix(_ runs: [KeyRun]) -> Int {
    guard let some = runs.first(where: { $0.count > 0 }) else { return 0 }
    return some.bytes.lend(some.changes[0].key) { first in
      var prefix = first.byteCount
      for run in runs where run.count > 0 {
        for change in [run.changes[0], run.changes[run.count - 1]] {
          prefix = min(prefix, run.bytes.lend(change.key) { $0.commonPrefixCount(first) })
        }
      }
      return prefix
    }
  }

  private mutating func load(_ run: Int) {
    guard places[run] < runs[run].count else { return }
    let key = runs[run].changes[places[run]].key
    heads[run] = runs[run].bytes.lend { bytes in
      bytes.head(at: key.lowerBound + prefix, count: key.count - prefix)
    }
  }

  /// The newest change of the next key, and by how much all changes of it let the table grow.
  mutating func next() -> (run: Int, place: Int, growth: Int32)? {
    guard let best = smallest() else { return nil }
    let place = places[best]
    var growth = growthOfNext(best)
    // Those before it are older.
    for run in 0..<best where heads[run] == heads[best] && places[run] < runs[run].count {
      guard runs[run].compare(places[run], runs[best], place) == 0 else { continue }
      growth += growthOfNext(run)
      places[run] += 1
      load(run)
    }
    places[best] += 1
    load(best)
    return (best, place, growth)
  }

  /// The run with the smallest next key; the newest of those that have it.
  private func smallest() -> Int? {
    var best: Int?
    for run in runs.indices where places[run] < runs[run].count {
      guard let known = best else {
        best = run
        continue
      }
      if heads[run] != heads[known] {
        if heads[run] < heads[known] { best = run }
      } else if runs[run].compare(places[run], runs[known], places[known]) <= 0 {
        best = run
      }
    }
    return best
  }

  private func growthOfNext(_ run: Int) -> Int32 {
    let growth = runs[run].growth
    return growth.isEmpty ? 0 : growth[places[run] + 1] - growth[places[run]]
  }
}
