import Files

/// A cursor over changes, each key once.
protocol ChangeCursor {
  var isAtEnd: Bool { get }
  /// The next change, and the bytes that contain it.
  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? { get }
  /// Compares the key of the next change with another key; below zero means that it comes first.
  func compareNext(_ key: RawSpan) -> Int?
  mutating func step()
}

extension ChangeCursor {
  mutating func advance() {
    assert(stepsForward, "a cursor over runs goes back to an earlier key")
    step()
  }

  /// Whether the change after the next one has another key, further in the direction of the cursor.
  private var stepsForward: Bool {
    guard let next else { return true }
    var cursor = self
    cursor.step()
    return next.bytes.lend(next.change.key) { cursor.compareNext($0) ?? 1 } > 0
  }
}

/// A cursor over several runs in the order of their keys, forwards or backwards.
///
/// For several changes of a key it returns the newest.
struct KeyRunsCursor: ChangeCursor {
  private let runs: [KeyRun]
  /// The remaining changes of each run.
  private var parts: [Range<Int>]
  private let isReversed: Bool
  /// The index of the run with the next change; nil at the end.
  private var head: Int?
  /// A copy of the next change's key.
  ///
  /// Many threads compare it with each key of a file, and would otherwise contend for the reference
  /// count of the run that they share.
  private var headKey: [UInt8] = []

  init(_ runs: [KeyRun], _ range: KeyRange, isReversed: Bool) {
    self.runs = runs
    self.isReversed = isReversed
    parts = runs.map { $0.part(in: range) }
    findHead()
  }

  var isAtEnd: Bool { head == nil }

  /// The next change, and the bytes that contain it.
  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    head.map { (runs[$0].bytes, runs[$0].changes[index($0)]) }
  }

  /// Compares the key of the next change with another key; below zero means that it comes first.
  func compareNext(_ key: RawSpan) -> Int? {
    if isAtEnd { return nil }
    let order = headKey.lend { $0.compare(key) }
    return isReversed ? -order : order
  }

  /// Advances past the next change, and past all older ones of its key.
  mutating func step() {
    guard let head else { return }
    let index = index(head)
    for run in runs.indices where run != head && !parts[run].isEmpty {
      if runs[run].compare(self.index(run), runs[head], index) == 0 { step(run) }
    }
    step(head)
    findHead()
  }

  private func index(_ run: Int) -> Int {
    isReversed ? parts[run].upperBound - 1 : parts[run].lowerBound
  }

  private mutating func step(_ run: Int) {
    let part = parts[run]
    parts[run] =
      isReversed
      ? part.lowerBound..<part.upperBound - 1 : part.lowerBound + 1..<part.upperBound
  }

  private mutating func findHead() {
    head = nil
    for run in runs.indices where !parts[run].isEmpty {
      guard let best = head else {
        head = run
        continue
      }
      let order = runs[run].compare(index(run), runs[best], index(best))
      if order == 0 || (order < 0) != isReversed { head = run }
    }
    copyHeadKey()
  }

  private mutating func copyHeadKey() {
    headKey.removeAll(keepingCapacity: true)
    guard let head else { return }
    let run = runs[head]
    run.bytes.lend(run.changes[index(head)].key) { headKey.append(copying: $0) }
  }
}
