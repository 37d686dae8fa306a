import Files
import Locks
import Synchronization

/// A backend that can be copied for changes that never reach the disk.
///
/// Two-way sync tries out there what the next state of a store is.
package protocol ScratchBackend: StoreBackend {
  /// Returns a writable copy of the data as of the last commit, whose commits stay in memory.
  ///
  /// If the store keeps a history, the copy continues it in memory.
  ///
  /// Complexity: that of a snapshot.
  ///
  /// - Throws: ``StoreError`` with `forked`, `ioError`, `damaged` or `closed`.
  func scratch() throws(StoreError) -> any StoreBackend
}

extension LoggedBackend: ScratchBackend {
  package func scratch() throws(StoreError) -> any StoreBackend {
    let scratch = try frozenBackend()
    scratch.isScratch.store(true, ordering: .relaxed)
    return scratch
  }

  /// Commits to the memory of a scratch copy.
  func commitInMemory(
    _ changes: ChangeSet, _ request: CommitRequest
  ) throws(StoreError) -> Commit? {
    try naming { () throws(StoreError) in
      try coordinator.perform(
        changes, request, at: location,
        names: (
          { [files] (table) throws(StoreError) in try files.name(of: table) },
          { [files] (table) throws(StoreError) in try files.ordered.name(of: table).fileName }
        )
      ) { (commit) throws(StoreError) in
        let queued = QueuedCommit(
          changes, sealed: try sealed(changes), request, commit, encoded: nil)
        let (remembered, entry) = try log.withLock { (log) throws(StoreError) in
          try remembering(queued, commit, &log)
        }
        let whole = entry.map(remembered.containing) ?? remembered
        try show(whole.stored, as: commit)
      }
    }
  }
}

extension MemoryBackend: ScratchBackend {
  package func scratch() throws(StoreError) -> any StoreBackend {
    try MemoryBackend(copyOf: self, isReadOnly: false)
  }
}
