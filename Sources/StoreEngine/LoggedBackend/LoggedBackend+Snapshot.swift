import Files
import Locks

extension LoggedBackend {
  /// Returns the data as of the last commit, for as long as the result is held.
  ///
  ///     let snapshot = try backend.snapshot()
  ///     let store = Store(backend: snapshot)
  ///
  /// A snapshot copies no records. It holds the current files, which are never written in place,
  /// and the pending changes in the log. Until it is released, it keeps the disk space of files
  /// that have since been replaced. It stays readable when the backend is closed, except for values
  /// outside of records.
  ///
  /// Complexity: linear in the number of tables. The first snapshot opens all files of the store.
  ///
  /// - Throws: ``StoreError`` with `forked`, `ioError`, `damaged` or `closed`.
  public func snapshot() throws(StoreError) -> any StoreBackend { try frozenBackend() }

  /// Returns a snapshot.
  func frozenBackend() throws(StoreError) -> LoggedBackend {
    try checkProcess()
    try refresh()
    // Opened first, so that readers don't wait.
    try naming { () throws(StoreError) in try files.openAll() }
    // Before the state is copied, so that no value is removed that it refers to.
    let values = coordinator.externalValues(of: self).map { ExternalValuesInUse($0) }
    let (seen, frozenFiles) = try naming { () throws(StoreError) in try frozen() }
    return LoggedBackend(seen, frozenFiles, of: self, values)
  }

  /// Creates a snapshot of a backend with a single owner, and closes the backend.
  convenience init(frozen backend: LoggedBackend) throws(StoreError) {
    let (seen, files) = try backend.naming { () throws(StoreError) in try backend.frozen() }
    self.init(seen, files, of: backend, nil)
    try backend.close(releasingFiles: false)
  }

  /// Copies the pending state and freezes the files, both as of one commit.
  private func frozen() throws(StoreError) -> (PendingState, ClassFiles<Format>) {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      return (state, try files.frozen())
    }
  }
}
