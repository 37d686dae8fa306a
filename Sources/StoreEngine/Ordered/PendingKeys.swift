import Files

/// What has happened to an ordered table and is not in its file yet.
///
///     runs            saves since folding has begun
///     folding         saves that are being brought to the file; most often there are none
///     file
struct PendingKeys: Sendable {
  /// How often the file had been replaced; a later one has what is pending here.
  private(set) var fileGeneration: UInt64
  /// Whether what is below the runs counts no more.
  private(set) var isCleared = false
  private(set) var runs = KeyRuns()
  /// What lies between the file and the runs.
  private var folding = KeyRuns()
  /// Whether the file counts no more for what is being folded.
  private var isFoldingCleared = false

  init(fileGeneration: UInt64) { self.fileGeneration = fileGeneration }

  /// Nothing yet, over what is being brought to the file.
  init(over folding: PendingKeys) {
    fileGeneration = folding.fileGeneration
    (self.folding, isFoldingCleared) = (folding.runs, folding.isCleared)
  }

  /// Takes in a save.
  ///
  /// - Parameters:
  ///   - changes: The changes of the table.
  ///   - bytes: Those of the whole save.
  ///   - file: The table's file; nil when there is none.
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func add(
    _ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], over file: OrderedFile?
  ) throws(StoreError) {
    if changes.clearsFirst { (isCleared, runs) = (true, KeyRuns()) }
    let view = view(over: file)
    let run = try KeyRun(bytes: bytes, changes.changes).counted(view.contains)
    runs.add(run, isBottom: view.file == nil && (isCleared || folding.isEmpty))
  }

  /// Takes the changes of a save that goes past the log, where nothing else is pending.
  mutating func addAll(_ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    isCleared = changes.clearsFirst
    runs = KeyRuns(only: KeyRun(bytes: bytes, changes.changes))
  }

  /// Takes note that what was being folded is in the file.
  mutating func didFold(fileGeneration: UInt64) {
    self.fileGeneration = fileGeneration
    (folding, isFoldingCleared) = (KeyRuns(), false)
  }

  /// The table with these changes.
  func view(over file: OrderedFile?) -> OrderedView {
    if isCleared { return OrderedView(file: nil, runs: runs) }
    return OrderedView(
      file: isFoldingCleared ? nil : file, runs: folding.isEmpty ? runs : folding.below(runs))
  }
}
