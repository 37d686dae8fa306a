import Files

/// A backend that shows its ordered tables as they are at one moment.
///
/// A class, so that asking it takes no copy.
package protocol OrderedViewing: AnyObject, Sendable {
  /// The table as it is now.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func view(of table: OrderedTableID) throws(StoreError) -> OrderedView
}

/// An ordered table at one moment: its file, and what has happened since the file was made.
package struct OrderedView: Sendable {
  /// Nil where there is none, or where all of it has been removed.
  let file: OrderedFile?
  let runs: KeyRuns

  /// Whether there are no keys for sure; removed ones may make it say no.
  package var isEmpty: Bool { runs.isEmpty && file?.count ?? 0 == 0 }

  /// The number of keys in a range.
  ///
  /// Complexity: O(log n).
  func count(in range: KeyRange) throws(StoreError) -> Int {
    if range.isEmpty { return 0 }
    // Below zero only where a damaged file counts its keys wrongly.
    return max(0, try fileCount(in: range) + runs.growth(in: range))
  }

  private func fileCount(in range: KeyRange) throws(StoreError) -> Int {
    guard let file else { return 0 }
    let start = range.from.isEmpty ? 0 : try range.from.lend(file.rank)
    let end = if let to = range.to { try to.lend(file.rank) } else { file.count }
    guard start <= end else { throw file.damage("Keys are counted wrongly", at: 0) }
    return end - start
  }

  /// Lends the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - hash: Its hash, from whoever has it already.
  ///   - body: Gets the value.
  /// - Returns: what the closure returns; nil when there is no such key.
  /// - Throws: ``StoreError`` with `damaged`; what the closure throws.
  func withValue<Result>(
    _ key: RawSpan, hash: UInt64? = nil, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let (bytes, change) = runs.find(key, hash) {
      return change.isRemoval ? nil : try bytes.lend(change.value, body)
    }
    return try file?.withValue(key, body)
  }

  /// Lends the value of a key, if there is one.
  ///
  /// Not generic, so that other modules call it without detours.
  package func lendValue(of key: RawSpan, _ body: (RawSpan) throws(StoreError) -> Void)
    throws(StoreError)
  {
    _ = try withValue(key, body)
  }

  /// Appends a copy of the value of a key, or of its first bytes.
  ///
  /// - Returns: whether there is such a key.
  package func copyValue(
    of key: RawSpan, hash: UInt64? = nil, atMost count: Int = .max, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try withValue(key, hash: hash) { value in
      bytes.append(copying: value.extracting(first: count))
      return true
    } ?? false
  }

  /// Whether there is a key.
  func contains(_ key: RawSpan) throws(StoreError) -> Bool {
    try withValue(key) { _ in true } ?? false
  }

  /// Lends the keys of a range and their values in their order, or from the last to the first.
  ///
  /// - Returns: false when the closure has paused.
  func scan(
    _ range: KeyRange, isReversed: Bool = false,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    guard !runs.isEmpty else {
      return try file?.scan(range, isReversed: isReversed, body) ?? true
    }
    if range.isEmpty { return true }
    return try scan(
      range, isReversed, KeyRunsCursor(runs.runs, range, isReversed: isReversed), body)
  }

  /// Lends all keys and their values in their order, as a fold needs them.
  ///
  /// Complexity: linear; it begins with a look at all changes, which a scan that may stop does not.
  func scanOnce(_ body: (RawSpan, RawSpan) throws(StoreError) -> Void) throws(StoreError) {
    if file == nil { return try runs.lendAll(body) }
    _ = try scan(KeyRange(), false, MergeCursor(runs.runs)) { (key, value) throws(StoreError) in
      try body(key, value)
      return .next
    }
  }

  private func scan(
    _ range: KeyRange, _ isReversed: Bool, _ changes: some ChangeCursor,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    var cursor = changes
    let isDone =
      try file?.scan(range, isReversed: isReversed) { (key, value) throws(StoreError) in
        while let order = cursor.compareNext(key), order <= 0 {
          let step = try Self.lendNext(&cursor, body)
          // The file has what the change has replaced.
          if order == 0 || step == .pause { return step }
        }
        return try body(key, value)
      } ?? true
    guard isDone else { return false }
    while !cursor.isAtEnd {
      if try Self.lendNext(&cursor, body) == .pause { return false }
    }
    return true
  }

  private static func lendNext(
    _ cursor: inout some ChangeCursor, _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanStep {
    guard let (bytes, change) = cursor.next else { return .next }
    cursor.advance()
    if change.isRemoval { return .next }
    return try bytes.lend(change.key) { (key) throws(StoreError) in
      try bytes.lend(change.value) { (value) throws(StoreError) in try body(key, value) }
    }
  }
}
