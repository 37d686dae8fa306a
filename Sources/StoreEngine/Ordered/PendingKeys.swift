import Files

/// The changes of an ordered table that are not in its file yet.
///
///     changes         saves since the checkpoint began
///     folding         saves that a checkpoint is moving to the file; usually none
///     file
struct PendingKeys: Sendable {
  /// The number of times the file had been replaced; later files contain these changes.
  private(set) var fileGeneration: UInt64
  /// Whether the changes replace everything below them.
  private(set) var isCleared = false
  private var changes = KeyChanges()
  /// Small saves after these changes, whose keys have not been looked up yet.
  private var uncounted = UncountedKeys()
  /// The changes between the file and these; nil for none.
  private var folding: FoldingKeys?

  init(fileGeneration: UInt64) { self.fileGeneration = fileGeneration }

  /// Creates an empty set of changes above those that are being folded, or above a file.
  init(over folding: PendingKeys?, _ fileGeneration: UInt64) {
    self.fileGeneration = folding?.fileGeneration ?? fileGeneration
    if let folding, folding.isCleared || !folding.changes.isEmpty {
      self.folding = FoldingKeys(folding.changes, isCleared: folding.isCleared)
    }
  }

  /// Whether the file no longer counts.
  var replacesFile: Bool { isCleared || folding?.isCleared == true }

  private mutating func clear() {
    (isCleared, changes, uncounted) = (true, KeyChanges(), UncountedKeys())
  }

  // MARK: Small saves

  /// Looks up what adding a small save requires to know of the file.
  ///
  /// Saves that are added in the meantime don't change the answers.
  ///
  /// - Returns: For each change, whether its key exists below these changes, if they and the save
  ///   don't know it; empty if they know all.
  /// - Throws: ``StoreError`` with `damaged`.
  func presence(
    of save: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], over base: OrderedBase?
  ) throws(StoreError) -> [Bool] {
    if isCleared { return [] }
    let below = view(over: base, KeyChanges())
    return try save.changes.map { (change) throws(StoreError) in
      if change.wasThere != nil { return false }
      return try bytes.lend(change.key) { (key) throws(StoreError) in
        changes.find(key) == nil ? try below.contains(key) : false
      }
    }
  }

  /// Adds a small save.
  ///
  /// - Parameters:
  ///   - save: The changes of the table.
  ///   - bytes: The bytes of the whole save.
  ///   - presence: The result of ``presence(of:_:over:)``.
  mutating func add(
    _ save: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], presence: [Bool]
  ) {
    if save.clearsFirst { clear() }
    let (runs, isCleared) = (changes.runs, isCleared)
    for (index, change) in save.changes.enumerated() {
      changes.tree.set(change, bytes) {
        change.wasThere
          ?? bytes.lend(change.key) { runs.find($0) }.map { !$0.change.isRemoval }
          ?? (!isCleared && !presence.isEmpty && presence[index])
      }
    }
  }

  /// Adds a small save without looking up which of its keys exist below it.
  ///
  /// The save is not visible until ``count(over:)``. Recovery adds thousands of saves: to look up
  /// each key once, and in order, takes less time.
  mutating func addUncounted(_ save: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    if save.clearsFirst { clear() }
    uncounted.add(save, bytes)
  }

  /// Looks up which keys exist below the small saves that were added without it.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func count(over base: OrderedBase?) throws(StoreError) {
    let runs = uncounted.take()
    if runs.isEmpty { return }
    // Earlier small saves stay below these.
    changes.closeTree()
    let below = view(over: base, changes)
    changes.tree = try KeyTree(runs) { (key) throws(StoreError) in try below.contains(key) }
  }

  /// Adds a new key and its value.
  ///
  /// Complexity: O(log n).
  ///
  /// - Parameters:
  ///   - bytes: The key, followed by the value.
  ///   - keyCount: The size of the key.
  mutating func append(_ bytes: [UInt8], keyCount: Int) {
    let change = ChangeSet.KeyChange(
      puttingNew: 0, keyCount: keyCount, valueCount: bytes.count - keyCount)
    changes.tree.set(change, bytes) { false }
  }

  // MARK: Large saves

  /// Adds a large save.
  ///
  /// - Parameters:
  ///   - save: The changes of the table.
  ///   - bytes: The bytes of the whole save.
  ///   - base: The table's files; nil if there are none.
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func addLarge(
    _ save: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], over base: OrderedBase?
  ) throws(StoreError) {
    if save.clearsFirst { clear() }
    try count(over: base)
    let run = try KeyRun(bytes: bytes, save.changes).counted(view(over: base).contains)
    changes.closeTree()
    changes.runs.add(run, isBottom: isBottom(over: base))
  }

  /// Whether there is nothing below the runs.
  private func isBottom(over base: OrderedBase?) -> Bool {
    isCleared || (folding?.changes.isEmpty ?? true) && (replacesFile || base == nil)
  }

  /// Sets the changes of a save that bypasses the log, if nothing else is pending.
  mutating func addAll(_ save: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    isCleared = save.clearsFirst
    changes = KeyChanges(runs: KeyRuns(only: KeyRun(bytes: bytes, save.changes)))
  }

  // MARK: Folding

  /// Records that the changes that were being folded are in the file.
  mutating func didFold(fileGeneration: UInt64) {
    self.fileGeneration = fileGeneration
    folding = nil
  }

  /// Returns the changes with their growth counted, to become a run in a file.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  func counted(over base: OrderedBase?) throws(StoreError) -> KeyChanges {
    assert(folding == nil && !isCleared, "what is folded is not over the file")
    guard let run = changes.runs.runs.first, run.growth.isEmpty else { return changes }
    // A save that bypassed the log.
    let below = view(over: base, KeyChanges())
    return KeyChanges(runs: KeyRuns(only: try run.counted(below.contains)))
  }

  /// Returns the table with these changes.
  func view(over base: OrderedBase?) -> OrderedView { view(over: base, changes) }

  /// Returns the table with other changes in place of these.
  private func view(over base: OrderedBase?, _ changes: KeyChanges) -> OrderedView {
    OrderedView(
      base: replacesFile ? nil : base, folding: isCleared ? nil : folding, changes: changes)
  }
}

extension ChangeSet.OrderedTableChanges {
  /// Whether the changes become a run, which is sorted at once, and merged with others later.
  ///
  /// Fewer changes are added to a tree.
  var isLarge: Bool { changes.count >= 1024 }
}

extension ChangeSet {
  /// Whether a table has so many changes.
  var hasLargeKeys: Bool { ordered.contains(where: \.isLarge) }
}
