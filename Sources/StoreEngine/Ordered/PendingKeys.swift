import Files

/// The changes of an ordered table that are not in its file yet.
///
///     runs            saves since the checkpoint began
///     folding         saves that a checkpoint is moving to the file; usually none
///     file
struct PendingKeys: Sendable {
  /// The number of times the file had been replaced; later files contain these changes.
  private(set) var fileGeneration: UInt64
  /// Whether the runs replace everything below them.
  private(set) var isCleared = false
  private(set) var runs = KeyRuns()
  /// The changes between the file and the runs.
  private var folding = KeyRuns()
  /// Whether the changes that are being folded replace the file.
  private var isFoldingCleared = false

  init(fileGeneration: UInt64) { self.fileGeneration = fileGeneration }

  /// Creates an empty set of changes above those that are being folded.
  init(over folding: PendingKeys) {
    fileGeneration = folding.fileGeneration
    (self.folding, isFoldingCleared) = (folding.runs, folding.isCleared)
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
    if changes.clearsFirst { (isCleared, runs) = (true, KeyRuns()) }
    let view = view(over: file)
    let run = try KeyRun(bytes: bytes, changes.changes).counted(view.contains)
    runs.add(run, isBottom: view.file == nil && (isCleared || folding.isEmpty))
  }

  /// Sets the changes of a save that bypasses the log, if nothing else is pending.
  mutating func addAll(_ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    isCleared = changes.clearsFirst
    runs = KeyRuns(only: KeyRun(bytes: bytes, changes.changes))
  }

  /// Records that the changes that were being folded are in the file.
  mutating func didFold(fileGeneration: UInt64) {
    self.fileGeneration = fileGeneration
    (folding, isFoldingCleared) = (KeyRuns(), false)
  }

  /// Returns the table with these changes.
  func view(over file: OrderedFile?) -> OrderedView {
    if isCleared { return OrderedView(file: nil, runs: runs) }
    return OrderedView(
      file: isFoldingCleared ? nil : file, runs: folding.isEmpty ? runs : folding.below(runs))
  }
}
