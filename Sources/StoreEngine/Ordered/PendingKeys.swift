import Files

/// The changes of an ordered table that are not in its file yet.
///
///     growing         the latest saves of a history, each of which appends its entry
///     appended        the latest saves, if each of them only appends a key
///     runs            the other saves since the checkpoint began
///     folding         saves that a checkpoint is moving to the file; usually none
///     file
struct PendingKeys: Sendable {
  /// The number of times the file had been replaced; later files contain these changes.
  private(set) var fileGeneration: UInt64
  /// Whether the runs replace everything below them.
  private(set) var isCleared = false
  private var runs = KeyRuns()
  private var appended = AppendedKeys()
  /// Not nil only if ``appended`` is empty.
  ///
  /// Nil and not empty, as ``folding`` is: each copy of an empty array changes a reference count.
  private var growing: GrowingRun?
  /// The number of times that only a few saves were collected before they were read.
  private var shortCollections = 0
  /// The changes between the file and the runs; nil for none.
  private var folding: KeyRuns?
  /// Whether the changes that are being folded replace the file.
  private var isFoldingCleared = false

  init(fileGeneration: UInt64) { self.fileGeneration = fileGeneration }

  /// Creates an empty set of changes above those that are being folded.
  init(over folding: PendingKeys) {
    fileGeneration = folding.fileGeneration
    let runs = folding.allRuns
    (self.folding, isFoldingCleared) = (runs.isEmpty ? nil : runs, folding.isCleared)
  }

  private var allRuns: KeyRuns {
    var all = runs
    if !appended.isEmpty { all.append(appended.run()) }
    if let growing { all.append(growing.run()) }
    return all
  }

  /// Whether reading takes no preparation.
  var isReady: Bool { appended.isEmpty && growing == nil }

  /// Makes a run of the latest saves, so that readers need not do it again and again.
  ///
  /// It merges nothing, which the next save does.
  mutating func prepareForReading() {
    if isReady { return }
    if !appended.isEmpty, appended.count < 8 { shortCollections += 1 }
    (runs, appended, growing) = (allRuns, AppendedKeys(), nil)
  }

  /// Adds a new key and its value, usually above all keys that were added in this way before.
  ///
  /// Complexity: amortized constant time, and linear in the size of the key and its value.
  ///
  /// - Parameters:
  ///   - bytes: The key, followed by the value.
  ///   - keyCount: The size of the key.
  /// - Returns: Whether it is time for ``mergeAppended(over:)``.
  mutating func append(_ bytes: [UInt8], keyCount: Int) -> Bool {
    if !appended.isEmpty || growing?.isBelow(bytes, keyCount: keyCount) == false {
      prepareForReading()
    }
    if growing == nil { growing = GrowingRun() }
    growing?.append(bytes, keyCount: keyCount)
    // The entries before may have become a run for a reader, who merges nothing.
    return isGrowingFull || growing?.count == 1 && runs.isMergeDue
  }

  private var isGrowingFull: Bool { growing?.isFull ?? false }

  /// Merges the runs, and begins a new one.
  mutating func mergeAppended(over file: OrderedFile?) {
    if isGrowingFull { prepareForReading() }
    runs.merge(isBottom: isBottom(over: file))
  }

  /// Adds a save.
  ///
  /// - Parameters:
  ///   - changes: The changes of the table.
  ///   - bytes: The bytes of the whole save.
  ///   - file: The table's file; nil if there is none.
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func add(
    _ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], over file: OrderedFile?
  ) throws(StoreError) {
    if changes.clearsFirst {
      (isCleared, runs, appended, growing) = (true, KeyRuns(), AppendedKeys(), nil)
    }
    if collect(changes, bytes, over: file) { return }
    prepareForReading()
    let run = try KeyRun(bytes: bytes, changes.changes).counted(view(over: file).contains)
    runs.add(run, isBottom: isBottom(over: file))
  }

  /// Collects a save that appends a key, unless the table is read after every few saves.
  private mutating func collect(
    _ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], over file: OrderedFile?
  ) -> Bool {
    if shortCollections > 2 { return false }
    if appended.isFull || growing != nil { prepareForReading() }
    let isFirst = appended.isEmpty
    guard appended.add(changes, bytes) else { return false }
    // The saves before may have become a run for a reader, who merges nothing.
    if isFirst { runs.merge(isBottom: isBottom(over: file)) }
    return true
  }

  /// Whether there is nothing below the runs.
  private func isBottom(over file: OrderedFile?) -> Bool {
    isCleared || folding == nil && (isFoldingCleared || file == nil)
  }

  /// Sets the changes of a save that bypasses the log, if nothing else is pending.
  mutating func addAll(_ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    (isCleared, appended, growing) = (changes.clearsFirst, AppendedKeys(), nil)
    runs = KeyRuns(only: KeyRun(bytes: bytes, changes.changes))
  }

  /// Records that the changes that were being folded are in the file.
  mutating func didFold(fileGeneration: UInt64) {
    self.fileGeneration = fileGeneration
    (folding, isFoldingCleared) = (nil, false)
  }

  /// Returns the table with these changes.
  func view(over file: OrderedFile?) -> OrderedView {
    let runs = allRuns
    if isCleared { return OrderedView(file: nil, runs: runs) }
    return OrderedView(
      file: isFoldingCleared ? nil : file, runs: folding?.below(runs) ?? runs)
  }
}
