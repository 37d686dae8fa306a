import Files

/// The stored content of an ordered table, below the changes in memory: one file, or segments.
enum OrderedBase: Sendable {
  case file(OrderedFile)
  case segments(OrderedSegments)

  /// The number of keys.
  var count: Int {
    switch self {
    case .file(let file): file.count
    case .segments(let segments): segments.count
    }
  }

  /// The size of all files, without the list of segments.
  var byteCount: Int {
    switch self {
    case .file(let file): file.byteCount
    case .segments(let segments): segments.byteCount
    }
  }

  /// The only file; nil for segments.
  var file: OrderedFile? { if case .file(let file) = self { file } else { nil } }
  /// The segments; nil for one file.
  var segments: OrderedSegments? {
    if case .segments(let segments) = self { segments } else { nil }
  }

  /// Whether there are changes of keys beside the keys themselves.
  var hasRuns: Bool { segments.map { !$0.runs.isEmpty } ?? false }

  /// Calls a closure with the value of a key, see ``OrderedSegments/withValue(_:isVerifying:_:)``.
  @inline(__always)
  func withValue<Result>(
    _ key: RawSpan, isVerifying: Bool,
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    switch self {
    case .file(let file): try file.withValue(key, isVerifying: isVerifying, body)
    case .segments(let segments):
      try segments.withValue(key, isVerifying: isVerifying, body)
    }
  }

  /// Returns the number of keys in a range that is not empty.
  ///
  /// Complexity: O(log n).
  func count(in range: KeyRange) throws(StoreError) -> Int {
    switch self {
    case .file(let file): try file.count(in: range)
    case .segments(let segments): try segments.count(in: range)
    }
  }

  /// Calls a closure with the keys and values of a range, regardless of any runs.
  ///
  /// - Returns: false if the closure has paused.
  @inline(__always)
  func scanKeys(
    _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    switch self {
    case .file(let file): try file.scan(range, isReversed: isReversed, body)
    case .segments(let segments): try segments.scanParts(range, isReversed: isReversed, body)
    }
  }

  /// Returns cursors over the runs, oldest first.
  func cursors(_ range: KeyRange, isReversed: Bool) throws(StoreError) -> [FileRunCursor] {
    try segments?.cursors(range, isReversed: isReversed) ?? []
  }
}

extension OrderedBase {
  /// Reads all pages of all files, and compares them with each other.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: ``StoreError`` with `damaged` for the first problem.
  func check() throws(StoreError) {
    switch self {
    case .file(let file): try file.check()
    case .segments(let segments): try segments.check()
    }
  }
}

extension OrderedSegments {
  fileprivate func check() throws(StoreError) {
    for (index, part) in parts.enumerated() {
      try part.check()
      try check(part, isIn: list.range(ofPart: index))
    }
    for (run, listed) in zip(runs, list.runs) {
      guard try run.checkedGrowth() == listed.growth else {
        throw run.damage("A run makes its table larger than is listed", at: 0)
      }
    }
    try checkCount()
  }

  /// Throws unless all keys of a part belong to it.
  private func check(_ part: OrderedFile, isIn range: KeyRange) throws(StoreError) {
    let before = KeyRange(to: range.from)
    let after = range.to.map { KeyRange(from: $0) } ?? KeyRange(to: [])
    for outside in [before, after] where !outside.isEmpty {
      guard try part.count(in: outside) == 0 else {
        throw part.damage("It has keys of another part of its table", at: 0)
      }
    }
  }

  private func checkCount() throws(StoreError) {
    var found = 0
    _ = try OrderedView(base: .segments(self)).scan(KeyRange()) { _, _ in
      found += 1
      return .next
    }
    guard found == count else {
      throw StoreError(
        .damaged, "It has \(found) keys, and should have \(count).", at: .init(path: path))
    }
  }
}
