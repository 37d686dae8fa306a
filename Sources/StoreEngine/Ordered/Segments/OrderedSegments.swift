import Files

/// A large ordered table in the files of its segments, open for reading.
///
/// The newest run that has a key decides. A key in no run is looked up in the part whose range
/// contains it. Safe on any thread.
final class OrderedSegments: Sendable {
  let list: SegmentList
  let parts: [OrderedFile]
  /// The runs, oldest first.
  let runs: [OrderedFile]
  /// The number of keys before each part, and after the last one.
  private let ranks: [Int]
  /// The path of the list.
  let path: String
  /// The total size of the segments.
  let byteCount: Int

  /// The number of keys in the table.
  var count: Int { list.keyCount }
  /// The files by the numbers of their segments.
  var filesByNumber: [UInt64: OrderedFile] {
    Dictionary(zip(list.numbers, parts + runs), uniquingKeysWith: { first, _ in first })
  }

  /// Combines the files of a list.
  ///
  /// - Throws: ``StoreError`` with `damaged` if these are other files, or their counts are wrong.
  init(
    _ list: SegmentList, parts: [OrderedFile], runs: [OrderedFile], path: String
  ) throws(StoreError) {
    (self.list, self.parts, self.runs, self.path) = (list, parts, runs, path)
    var ranks = [0]
    for part in parts { ranks.append(ranks[ranks.count - 1] + part.count) }
    self.ranks = ranks
    byteCount = (parts + runs).reduce(0) { $0 + $1.byteCount }
    for (file, mark) in zip(parts, list.parts.map(\.mark)) { try Self.check(file, .keys, mark) }
    for (file, mark) in zip(runs, list.runs.map(\.mark)) { try Self.check(file, .run, mark) }
    let areCounted = zip(runs, list.runs).allSatisfy { $1.growth.magnitude <= $0.count }
    guard areCounted, list.keyCount <= (parts + runs).reduce(0, { $0 + $1.count }) else {
      throw StoreError(.damaged, "Counts of keys are wrong.", at: .init(path: path))
    }
  }

  private static func check(
    _ file: OrderedFile, _ content: OrderedFileFormat.Content, _ mark: FileMark
  ) throws(StoreError) {
    guard file.footer.content == content else {
      throw file.damage("It is not the segment that its table lists", at: 0)
    }
    let found = OrderedFileFormat.mark(file.file)
    if found != mark {
      throw FileMark.stranger(expected: mark, found: found, at: .init(path: file.path))
    }
  }

  /// Returns the same table as it was before its newest runs, with the given number of runs.
  func first(_ runCount: Int) throws(StoreError) -> OrderedSegments {
    var older = list
    // All entries of newer runs count.
    older.keyCount -= list.runs[runCount...].reduce(0) { $0 + $1.growth }
    older.runs.removeLast(list.runs.count - runCount)
    return try OrderedSegments(
      older, parts: parts, runs: Array(runs[..<runCount]), path: path)
  }

  // MARK: Finding

  /// Calls a closure with the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isVerifying: Whether the closure verifies the value, and throws if it is wrong.
  ///   - body: Called with the value.
  /// - Returns: The result of the closure; nil if there is no such key.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  func withValue<Result>(
    _ key: RawSpan, isVerifying: Bool = false,
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    var index = runs.count
    while index > 0 {
      index -= 1
      guard counts(key, inRun: index), try runs[index].mayContain(key) else { continue }
      var result: Result?
      let isFound = try withEntry(key, in: runs[index]) { (value) throws(StoreError) in
        if let value { result = try body(value) }
      }
      if isFound { return result }
    }
    if parts.isEmpty { return nil }
    return try parts[part(of: key)].withValue(key, isVerifying: isVerifying, body)
  }

  /// Whether the entry of a key in a run counts.
  private func counts(_ key: RawSpan, inRun index: Int) -> Bool {
    if index >= list.mergingCount { return true }
    return list.mergedTo.lend { $0.compare(key) <= 0 }
  }

  /// Calls a closure with the value that a run has for a key, or with nil if it removes the key.
  ///
  /// - Returns: Whether the run has the key.
  private func withEntry(
    _ key: RawSpan, in run: OrderedFile, _ body: (RawSpan?) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    try run.withValue(key) { (entry) throws(StoreError) in
      guard let isRemoval = RunEntry.isRemoval(entry) else {
        throw run.damage("An entry of a run is not valid", at: 0)
      }
      if isRemoval {
        try body(nil)
      } else {
        try body(entry.extracting(droppingFirst: 1))
      }
      return true
    } ?? false
  }

  /// Returns the index of the part that a key belongs to.
  ///
  /// Complexity: O(log n).
  func part(of key: RawSpan) -> Int {
    var (low, high) = (1, list.parts.count)
    while low < high {
      let middle = (low + high) / 2
      let isAfter = list.parts[middle].firstKey.lend { $0.compare(key) } > 0
      if isAfter { high = middle } else { low = middle + 1 }
    }
    return low - 1
  }

  // MARK: Counting

  /// Returns the number of keys in a range.
  ///
  /// Complexity: O(log n) for each run.
  func count(in range: KeyRange) throws(StoreError) -> Int {
    if range.isEmpty { return 0 }
    if range.from.isEmpty, range.to == nil { return list.keyCount }
    var count = try range.to.map { to throws(StoreError) in try rank(of: to) } ?? ranks[parts.count]
    if !range.from.isEmpty { count -= try rank(of: range.from) }
    for index in runs.indices { count += try growth(in: range, ofRun: index) }
    guard count >= 0 else {
      throw StoreError(.damaged, "Counts of keys are wrong.", at: .init(path: path))
    }
    return count
  }

  private func rank(of key: [UInt8]) throws(StoreError) -> Int {
    if parts.isEmpty { return 0 }
    return try key.lend { (key) throws(StoreError) in
      let part = part(of: key)
      return ranks[part] + (try parts[part].rank(of: key))
    }
  }

  private func growth(in range: KeyRange, ofRun index: Int) throws(StoreError) -> Int {
    guard let range = counted(range, ofRun: index) else { return 0 }
    let run = runs[index]
    let end = try range.to.map { to throws(StoreError) in try run.growth(before: to) }
    return (end ?? list.runs[index].growth) - (try run.growth(before: range.from))
  }

  /// Returns the part of a range in which the entries of a run count; nil for none.
  private func counted(_ range: KeyRange, ofRun index: Int) -> KeyRange? {
    let start = list.start(ofRun: index)
    var part = range
    if range.from.lexicographicallyPrecedes(start) { part.from = start }
    return part.isEmpty ? nil : part
  }

  // MARK: Scanning

  /// Calls a closure with the keys and values in the parts, regardless of the runs.
  ///
  /// - Returns: false if the closure has paused.
  func scanParts(
    _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    if parts.isEmpty || range.isEmpty { return true }
    let first = range.from.lend { part(of: $0) }
    let last = range.to.map { to in to.lend { part(of: $0) } } ?? parts.count - 1
    for step in first...max(first, last) {
      let index = isReversed ? first + last - step : step
      guard try parts[index].scan(range, isReversed: isReversed, body) else { return false }
    }
    return true
  }

  /// Returns cursors over the runs, oldest first.
  func cursors(
    _ range: KeyRange, isReversed: Bool
  ) throws(StoreError) -> [FileRunCursor] {
    var cursors: [FileRunCursor] = []
    for (index, run) in runs.enumerated() {
      guard let range = counted(range, ofRun: index) else { continue }
      cursors.append(try FileRunCursor(run, range, isReversed: isReversed))
    }
    return cursors
  }
}
