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

/// An ordered table at one moment: its files, and the changes since they were created.
package struct OrderedView: Sendable {
  /// The files; nil if there are none, or if their content has been cleared.
  let base: OrderedBase?
  /// The older changes; nil for none.
  private let folding: FoldingKeys?
  private let changes: KeyChanges

  init(base: OrderedBase?, folding: FoldingKeys? = nil, changes: KeyChanges = KeyChanges()) {
    (self.base, self.folding, self.changes) = (base, folding, changes)
  }

  init(base: OrderedBase?, runs: KeyRuns) {
    self.init(base: base, changes: KeyChanges(runs: runs))
  }

  /// Whether the table certainly has no keys; may be false if all keys were removed.
  package var isEmpty: Bool { isOnlyBase && base?.count ?? 0 == 0 }

  /// Whether there are no changes in memory.
  private var isOnlyBase: Bool { changes.isEmpty && folding == nil }

  /// The layers of changes in memory, oldest first.
  private var layers: [KeyChanges] {
    if let folding { [folding.changes, changes] } else { [changes] }
  }

  /// Whether keys were removed since the file was written.
  var hasRemovals: Bool { layers.contains { $0.runs.hasRemovals || $0.tree.hasRemovals } }

  /// The first key that has changed since then; nil if none has.
  var firstChangedKey: [UInt8]? {
    layers.flatMap { [$0.runs.firstKey, $0.tree.firstKey].compactMap(\.self) }
      .min { $0.lexicographicallyPrecedes($1) }
  }

  /// Returns the number of keys in a range.
  ///
  /// Complexity: O(log n).
  func count(in range: KeyRange) throws(StoreError) -> Int {
    if range.isEmpty { return 0 }
    // The sum is negative only if a damaged file counts its keys wrongly.
    let growth = changes.growth(in: range) + (folding?.changes.growth(in: range) ?? 0)
    return max(0, (try base?.count(in: range) ?? 0) + growth)
  }

  /// Calls a closure with the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - hash: The hash of the key, if it is known.
  ///   - isVerifying: Whether the closure verifies the value, and throws if it is wrong.
  ///   - body: Called with the value.
  /// - Returns: The result of the closure; nil if there is no such key.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  func withValue<Result>(
    _ key: RawSpan, hash: UInt64? = nil, isVerifying: Bool = false,
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let (bytes, change) = changes.find(key, hash) ?? folding?.changes.find(key, hash) {
      return change.isRemoval ? nil : try bytes.lend(change.value, body)
    }
    return try base?.withValue(key, isVerifying: isVerifying, body)
  }

  /// Calls a closure with the value of a key, if there is one.
  ///
  /// It is not generic, so that calls from other modules are direct.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - body: Verifies the value, as by a checksum of its own, and throws if it is wrong.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  package func lendValue(
    of key: RawSpan, verifying body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    _ = try withValue(key, isVerifying: true, body)
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
    if isOnlyBase, !hasRunFiles {
      return try base?.scanKeys(range, isReversed: isReversed, body) ?? true
    }
    if range.isEmpty { return true }
    if hasRunFiles {
      return try scan(range, isReversed, try allLayers(range, isReversed: isReversed), body)
    }
    if folding == nil, changes.runs.isEmpty {
      return try scan(
        range, isReversed, KeyTreeCursor(changes.tree, range, isReversed: isReversed), body)
    }
    if folding == nil, changes.tree.isEmpty {
      return try scan(
        range, isReversed, KeyRunsCursor(changes.runs.runs, range, isReversed: isReversed), body)
    }
    return try scan(range, isReversed, LayersCursor(layers, range, isReversed: isReversed), body)
  }

  /// Whether some of the changes are in files.
  private var hasRunFiles: Bool { base?.hasRuns ?? false }

  /// Returns a cursor over the changes in files and in memory.
  private func allLayers(
    _ range: KeyRange, isReversed: Bool
  ) throws(StoreError) -> LayersCursor {
    let files = try base?.cursors(range, isReversed: isReversed) ?? []
    return LayersCursor(files: files, layers, range, isReversed: isReversed)
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
    let areAllRuns = layers.allSatisfy(\.tree.isEmpty) && !hasRunFiles
    let runs = layers.flatMap(\.runs.runs)
    if areAllRuns, base == nil { return try MergeCursor.lendAll(of: runs, body) }
    let next: (RawSpan, RawSpan) throws(StoreError) -> ScanStep = {
      (key, value) throws(StoreError) in
      try body(key, value)
      return .next
    }
    // The order of a merge is found faster than by a cursor that can begin anywhere.
    if areAllRuns {
      _ = try scan(KeyRange(from: start), false, MergeCursor(runs), next)
    } else {
      _ = try scan(KeyRange(from: start), isReversed: false, next)
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
      try base?.scanKeys(range, isReversed: isReversed) { (key, value) throws(StoreError) in
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
    try cursor.advance()
    if change.isRemoval { return .next }
    return try bytes.lend(change.key) { (key) throws(StoreError) in
      try bytes.lend(change.value) { (value) throws(StoreError) in try body(key, value) }
    }
  }
}
