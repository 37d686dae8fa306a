import Files

/// A cursor over changes, each key once.
protocol ChangeCursor {
  var isAtEnd: Bool { get }
  /// The beginning of the next change's key; nil at the end.
  var head: KeyHead? { get }
  /// The next change, and the bytes that contain it.
  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? { get }
  /// Compares the key of the next change with another key; below zero means that it comes first.
  func compareNext(_ key: RawSpan) -> Int?
  /// Advances past the next change.
  ///
  /// - Throws: ``StoreError`` with `damaged` if the changes are in a file.
  mutating func step() throws(StoreError)
}

extension ChangeCursor {
  mutating func advance() throws(StoreError) {
    assert(stepsForward, "a cursor over runs goes back to an earlier key")
    try step()
  }

  /// Whether the change after the next one has another key, further in the direction of the cursor.
  private var stepsForward: Bool {
    guard let next else { return true }
    var cursor = self
    // The step itself reports damage.
    if (try? cursor.step()) == nil { return true }
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
  /// The beginning of each run's next key.
  private var heads: [KeyHead]
  private let isReversed: Bool
  /// The runs with remaining changes, as a binary heap: the run with the next change is the first.
  ///
  /// With a heap, a step costs O(log n) comparisons for n runs. A store that has saved many small
  /// changes has dozens of runs.
  private var heap: [Int]
  /// A copy of the next change's key.
  ///
  /// Many threads compare it with keys of a file, and would otherwise contend for the reference
  /// count of the run that they share.
  private var headKey: [UInt8] = []

  init(_ runs: [KeyRun], _ range: KeyRange, isReversed: Bool) {
    self.runs = runs
    self.isReversed = isReversed
    let parts = runs.map { $0.part(in: range) }
    self.parts = parts
    heads = runs.map { _ in KeyHead() }
    heap = parts.indices.filter { !parts[$0].isEmpty }
    for run in heap { readHead(run) }
    for node in (0..<heap.count / 2).reversed() { sink(from: node) }
    copyHeadKey()
  }

  var isAtEnd: Bool { heap.isEmpty }

  var head: KeyHead? { heap.first.map { heads[$0] } }

  /// The next change, and the bytes that contain it.
  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    heap.first.map { (runs[$0].bytes, runs[$0].changes[index($0)]) }
  }

  /// Compares the key of the next change with another key; below zero means that it comes first.
  func compareNext(_ key: RawSpan) -> Int? {
    if isAtEnd { return nil }
    let order = headKey.lend { $0.compare(key) }
    return isReversed ? -order : order
  }

  /// Advances past the next change, and past all older ones of its key.
  mutating func step() {
    guard let head = heap.first else { return }
    stepFirst()
    // A run has each key once.
    while let run = heap.first, run != head, hasHeadKey(run) { stepFirst() }
    copyHeadKey()
  }

  private func index(_ run: Int) -> Int {
    isReversed ? parts[run].upperBound - 1 : parts[run].lowerBound
  }

  /// Whether the next change of a run has the key of the current head.
  private func hasHeadKey(_ run: Int) -> Bool {
    if heads[run] != head { return false }
    return headKey.lend { runs[run].compare(index(run), $0) } == 0
  }

  /// Advances the first run of the heap past its next change.
  private mutating func stepFirst() {
    let run = heap[0]
    let part = parts[run]
    parts[run] =
      isReversed
      ? part.lowerBound..<part.upperBound - 1 : part.lowerBound + 1..<part.upperBound
    if parts[run].isEmpty {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
    } else {
      readHead(run)
    }
    sink(from: 0)
  }

  /// Moves a run down the heap until no run below it comes first.
  private mutating func sink(from start: Int) {
    var node = start
    while true {
      var first = node
      let below = 2 * node + 1
      if below < heap.count, comesFirst(heap[below], heap[first]) { first = below }
      if below + 1 < heap.count, comesFirst(heap[below + 1], heap[first]) { first = below + 1 }
      if first == node { return }
      heap.swapAt(node, first)
      node = first
    }
  }

  /// Whether the next change of a run is before that of another one, or is a newer one of its key.
  private func comesFirst(_ run: Int, _ other: Int) -> Bool {
    let order =
      heads[run].compare(heads[other])
      ?? runs[run].compare(index(run), runs[other], index(other))
    return order == 0 ? run > other : (order < 0) != isReversed
  }

  private mutating func readHead(_ run: Int) {
    let (bytes, index) = (runs[run].bytes, index(run))
    heads[run] = bytes.lend(runs[run].changes[index].key) { KeyHead($0) }
  }

  private mutating func copyHeadKey() {
    headKey.removeAll(keepingCapacity: true)
    guard let run = heap.first else { return }
    runs[run].bytes.lend(runs[run].changes[index(run)].key) { headKey.append(copying: $0) }
  }
}

/// The first 32 bytes of a key, with zeros behind a shorter one.
struct KeyHead: Equatable {
  private var words = InlineArray<4, UInt64>(repeating: 0)

  /// Creates the head of no key.
  init() {}

  init(_ key: RawSpan) {
    for index in words.indices { words[index] = Self.word(index, of: key) }
  }

  static func == (left: KeyHead, right: KeyHead) -> Bool { left.compare(right) == nil }

  /// Compares the key with another one; nil if the heads do not tell.
  func compare(_ other: KeyHead) -> Int? { compare { other.words[$0] } }

  /// Compares the key with another one, of which no more words are read than needed.
  @inline(__always)
  func compare(_ key: RawSpan) -> Int? { compare { Self.word($0, of: key) } }

  @inline(__always)
  private func compare(_ word: (Int) -> UInt64) -> Int? {
    for index in words.indices {
      let other = word(index)
      if words[index] != other { return words[index] < other ? -1 : 1 }
    }
    return nil
  }

  @inline(__always)
  private static func word(_ index: Int, of key: RawSpan) -> UInt64 {
    let start = 8 * index
    return start < key.byteCount ? key.head(at: start, count: key.byteCount &- start) : 0
  }
}
