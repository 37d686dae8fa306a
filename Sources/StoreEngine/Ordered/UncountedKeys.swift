import Files

/// Small saves of a table that wait for their keys to be looked up below them.
///
/// Recovery adds hundreds of thousands of saves. Their keys and values are only copied here one
/// after another. The keys are sorted and looked up at the end, all together.
struct UncountedKeys: Sendable {
  /// The saves before the last ones, in sorted runs.
  private var runs: [KeyRun] = []
  private var bytes: [UInt8] = []
  private var changes: [KeyRun.Change] = []

  /// The number of bytes from which a run is sorted, so that keys that are saved again and again
  /// take little memory.
  private static let runSize = 8 << 20

  var isEmpty: Bool { runs.isEmpty && changes.isEmpty }

  /// Adds a save.
  ///
  /// Complexity: linear in its bytes; amortized O(log n) for each of n changes.
  mutating func add(_ save: ChangeSet.OrderedTableChanges, _ source: [UInt8]) {
    for change in save.changes {
      changes.append(change.moved(by: bytes.count - change.start))
      source.lend(change.start..<change.value.upperBound) { bytes.append(copying: $0) }
    }
    if bytes.count >= Self.runSize { endRun() }
  }

  private mutating func endRun() {
    if changes.isEmpty { return }
    let run = KeyRun(bytes: bytes, changes)
    // Values that were replaced in the meantime are left out.
    runs.append(run.count < changes.count ? run.compacted() : run)
    (bytes, changes) = ([], [])
  }

  /// Removes all saves, and returns them as sorted runs, oldest first.
  ///
  /// Complexity: O(n log n) for n changes since the last run.
  mutating func take() -> [KeyRun] {
    endRun()
    defer { runs = [] }
    return runs
  }
}
