import StoreEngine

/// A search for commits that have changed the content of a document since its last save.
///
/// Commits of indexes and of the history itself are no edits.
struct EditSearch {
  /// The last commit that was searched.
  private var last: UInt64?
  private var hasEdits = false

  /// Begins again, after a save or a revert.
  mutating func reset() { self = EditSearch() }

  /// Records that a commit of the document itself has changed content.
  mutating func noteEdit() { hasEdits = true }

  /// Whether a commit after a number has changed content.
  ///
  /// If the history does not reach back that far, the answer is true.
  ///
  /// Complexity: linear in the entries that have not been searched yet.
  mutating func hasEdits(in backend: any StoreBackend, since saved: UInt64) -> Bool {
    let newest = backend.lastCommitNumber
    if hasEdits || newest <= max(last ?? 0, saved) { return hasEdits }
    do {
      guard try backend.historyStart() != nil else { return false }
      try backend.forEachHistoryEntry(after: max(last ?? 0, saved)) { entry in
        hasEdits = entry.changesContent
        return hasEdits ? .pause : .next
      }
    } catch {
      hasEdits = true
    }
    last = newest
    return hasEdits
  }
}

extension HistoryEntry {
  /// Whether the commit has changed objects, or named buffers of the application.
  fileprivate var changesContent: Bool {
    tables.contains { !$0.objects.isEmpty }
      || buffers.contains { !InternalBuffers.contain($0.name) }
  }
}
