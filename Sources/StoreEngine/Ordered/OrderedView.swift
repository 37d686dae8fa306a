import Files

/// A backend that returns immutable views of its ordered tables.
///
/// It is a class, so that calls through it need no copy.
package protocol OrderedViewing: AnyObject, Sendable {
  /// Returns the table in its present state.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func view(of table: OrderedTableID) throws(StoreError) -> OrderedView
}

/// An ordered table at one moment: its file, and the changes since the file was created.
package struct OrderedView: Sendable {
  /// The file; nil if there is none, or if its content has been cleared.
  let file: OrderedFile?
  let runs: KeyRuns

  /// Whether the table certainly has no keys; may be false if all keys were removed.
  package var isEmpty: Bool { runs.isEmpty && file?.count ?? 0 == 0 }

  /// Returns the number of keys in a range.
  ///
  /// Complexity: O(log n).
  func count(in range: KeyRange) throws(StoreError) -> Int {
    if range.isEmpty { return 0 }
    // The sum is negative only if a damaged file counts its keys wrongly.
    return max(0, try fileCount(in: range) + runs.growth(in: range))
  }

  private func fileCount(in range: KeyRange) throws(StoreError) -> Int {
    guard let file else { return 0 }
    let start = range.from.isEmpty ? 0 : try range.from.lend(file.rank)
    let end = if let to = range.to { try to.lend(file.rank) } else { file.count }
    guard start <= end else { throw file.damage("Counts of keys are wrong", at: 0) }
    return end - start
  }

  /// Calls a closure with the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - hash: The hash of the key, if it is known.
  ///   - body: Called with the value.
  /// - Returns: The result of the closure; nil if there is no such key.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  func withValue<Result>(
    _ key: RawSpan, hash: UInt64? = nil, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let (bytes, change) = runs.find(key, hash) {
      return change.isRemoval ? nil : try bytes.lend(change.value, body)
    }
    return try file?.withValue(key, body)
  }

  /// Calls a closure with the value of a key, if there is one.
  ///
  /// It is not generic, so that calls from other modules are direct.
  package func lendValue(of key: RawSpan, _ body: (RawSpan) throws(StoreError) -> Void)
    throws(StoreError)
  {
    _ = try withValue(key, body)
  }

  /// Appends a copy of the value of a key, or of its first bytes.
  ///
  /// - Returns: Whether the key exists.
  package func copyValue(
    of key: RawSpan, hash: UInt64? = nil, atMost count: Int = .max, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try withValue(key, hash: hash) { value in
      bytes.append(copying: value.extracting(first: count))
      return true
    } ?? false
  }

  /// Whether a key exists.
  func contains(_ key: RawSpan) throws(StoreError) -> Bool {
    try withValue(key) { _ in true } ?? false
  }

  /// Calls a closure with the keys of a range and their values, forwards or backwards.
  ///
  /// - Returns: false if the closure has paused.
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

  /// Calls a closure with keys and values in order, as a checkpoint does.
  ///
  /// Complexity: linear; unlike a scan that may stop early, it first reads all changes.
  ///
  /// - Parameters:
  ///   - start: The first key to read; no change has a key before it.
  ///   - body: Called with each key and its value.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  func scanOnce(
    from start: [UInt8] = [], _ body: (RawSpan, RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    if file == nil { return try runs.lendAll(body) }
    let range = KeyRange(from: start)
    _ = try scan(range, false, MergeCursor(runs.runs)) { (key, value) throws(StoreError) in
      try body(key, value)
      return .next
    }
  }

  private func scan(
    _ range: KeyRange, _ isReversed: Bool, _ changes: some ChangeCursor,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    var cursor = changes
    // Most keys of the file differ from it. Without it, each of them would cost a copy of the
    // cursor, which counts the references of its runs.
    var head = cursor.head
    let isDone =
      try file?.scan(range, isReversed: isReversed) { (key, value) throws(StoreError) in
        while let next = head {
          let known = next.compare(key).map { isReversed ? -$0 : $0 }
          guard let order = known ?? cursor.compareNext(key), order <= 0 else { break }
          let step = try Self.lendNext(&cursor, body)
          head = cursor.head
          // At an equal key the change replaces the entry of the file.
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
