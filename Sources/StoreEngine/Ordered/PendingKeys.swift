import Files

/// What has happened to an ordered table and is not in its file yet.
struct PendingKeys: Sendable {
  /// How often the file had been replaced; a later one has what is pending here.
  let fileGeneration: UInt64
  /// Whether what is in the file counts no more.
  private(set) var isCleared = false
  private(set) var runs = KeyRuns()

  init(fileGeneration: UInt64) { self.fileGeneration = fileGeneration }

  /// Takes in a save.
  ///
  /// - Parameters:
  ///   - changes: The changes of the table.
  ///   - bytes: Those of the whole save.
  ///   - file: The table's file; nil when there is none.
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func add(
    _ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8], over file: OrderedFile?
  ) throws {
    if changes.clearsFirst { (isCleared, runs) = (true, KeyRuns()) }
    let view = view(over: file)
    let run = try KeyRun(bytes: bytes, changes.changes).counted { try view.contains($0) }
    runs.add(run, isBottom: view.file == nil)
  }

  /// Takes the changes of a save that goes past the log, where nothing else is pending.
  mutating func addAll(_ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) {
    isCleared = changes.clearsFirst
    runs = KeyRuns(only: KeyRun(bytes: bytes, changes.changes))
  }

  /// The table with these changes.
  func view(over file: OrderedFile?) -> OrderedView {
    OrderedView(file: isCleared ? nil : file, runs: runs)
  }
}
