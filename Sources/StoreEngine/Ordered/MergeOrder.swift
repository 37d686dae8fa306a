import Files

/// The order in which the changes of several runs, oldest first, are merged.
///
/// It is a sequence of parts: adjacent changes of a run stay together as long as no other run has a
/// key between them. So keys that grow from save to save, such as times and counters, are copied by
/// the thousand.
struct MergeOrder {
  /// Adjacent changes of one run.
  struct Part {
    let run: Int
    let indices: Range<Int>
    /// The growth by the older changes of its first key, which it replaces.
    var olderGrowth: Int32 = 0
  }

  let runs: [KeyRun]
  /// The eight bytes of each key after the prefix common to all keys, run after run.
  private let heads: [UInt64]
  /// The index of each run's first head.
  private var starts: [Int] = []
  /// The remaining changes of each run, as indices into the heads.
  private var rests: [Range<Int>] = []

  init(_ runs: [KeyRun]) {
    self.runs = runs
    var count = 0
    for run in runs {
      starts.append(count)
      rests.append(count..<count + run.count)
      count += run.count
    }
    heads = runs.count > 1 && count > 0 ? Self.heads(runs, count) : []
  }

  private static func heads(_ runs: [KeyRun], _ count: Int) -> [UInt64] {
    let prefix = commonPrefix(runs)
    return [UInt64](capacity: count) { heads in
      for run in runs {
        run.bytes.lend { bytes in
          for change in run.changes {
            let key = change.key
            heads.append(bytes.head(at: key.lowerBound + prefix, count: key.count - prefix))
          }
        }
      }
    }
  }

  /// Returns the length of the prefix common to all keys; in sorted runs the first and last decide.
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

  /// Returns the next changes; nil at the end.
  mutating func next() -> Part? {
    guard let (run, bound) = smallest() else { return nil }
    guard let bound else { return take(rests[run].count, of: run) }
    if heads[rests[run].lowerBound] == bound { return takeTied(bound) }
    return take(count(of: run, before: bound), of: run)
  }

  /// Returns the number of changes of a run before a head; at least 1.
  private func count(of run: Int, before bound: UInt64) -> Int {
    let (heads, rest) = (heads.span, rests[run])
    var end = rest.lowerBound + 1
    while end < rest.upperBound && heads[end] < bound { end += 1 }
    return end - rest.lowerBound
  }

  private mutating func take(_ count: Int, of run: Int, olderGrowth: Int32 = 0) -> Part {
    let index = index(run)
    rests[run] = rests[run].lowerBound + count..<rests[run].upperBound
    return Part(run: run, indices: index..<index + count, olderGrowth: olderGrowth)
  }

  private func index(_ run: Int) -> Int { rests[run].lowerBound - starts[run] }

  /// Returns the run with the smallest head, and the smallest head of the others, or nil.
  private func smallest() -> (run: Int, bound: UInt64?)? {
    let (heads, rests) = (heads.span, rests.span)
    var best: Int?
    var (smallest, bound) = (UInt64.max, UInt64?.none)
    for run in rests.indices where !rests[run].isEmpty {
      let head = heads.isEmpty ? 0 : heads[rests[run].lowerBound]
      if best == nil {
        (best, smallest) = (run, head)
      } else if head < smallest {
        (best, bound, smallest) = (run, smallest, head)
      } else if head < bound ?? .max || bound == nil {
        bound = head
      }
    }
    return best.map { ($0, bound) }
  }

  /// Returns the newest change of the smallest key among those with a head, and skips older ones.
  private mutating func takeTied(_ head: UInt64) -> Part {
    let tied = runs.indices.filter { !rests[$0].isEmpty && heads[rests[$0].lowerBound] == head }
    var best = tied[0]
    for run in tied.dropFirst() where runs[run].compare(index(run), runs[best], index(best)) <= 0 {
      best = run
    }
    var growth: Int32 = 0
    // Earlier runs with the same key have older changes, because the last of several runs was
    // chosen.
    for run in tied where run < best {
      let index = index(run)
      guard runs[run].compare(index, runs[best], self.index(best)) == 0 else { continue }
      let counted = runs[run].growth
      if !counted.isEmpty { growth += counted[index + 1] - counted[index] }
      _ = take(1, of: run)
    }
    return take(1, of: best, olderGrowth: growth)
  }
}
