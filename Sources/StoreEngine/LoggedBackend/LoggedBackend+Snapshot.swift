import Files
import Locks

extension LoggedBackend {
  /// The data as of the last commit, for as long as the result is held.
  ///
  ///     let snapshot = try backend.snapshot()
  ///     let store = Store(backend: snapshot)
  ///
  /// A snapshot copies no records. It holds the files as they are, which are never written in place,
  /// and what the log has beyond them. So it keeps the disk space of files that have since been
  /// replaced, until it is released. It stays readable when the backend is closed, except for values
  /// outside of records.
  ///
  /// Complexity: linear in the number of tables. The first one opens all files of the store.
  ///
  /// - Throws: ``StoreError`` with `forked`, `ioError`, `damaged` or `closed`.
  public func snapshot() throws(StoreError) -> any StoreBackend { try frozenBackend() }

  /// Makes a snapshot.
  func frozenBackend() throws(StoreError) -> LoggedBackend {
    try checkProcess()
    try refresh()
    // Opened without holding up readers.
    try naming { () throws(StoreError) in try files.openAll() }
    // In front of the state, so that no value is removed to which that refers.
    let values = coordinator.externalValues(of: self).map { ExternalValuesInUse($0) }
    let (seen, frozenFiles) = try naming { () throws(StoreError) in try frozen() }
    return LoggedBackend(seen, frozenFiles, of: self, values)
  }

  /// Makes a snapshot of a backend that nobody else has, and takes its place.
  convenience init(frozen backend: LoggedBackend) throws(StoreError) {
    let (seen, files) = try backend.naming { () throws(StoreError) in try backend.frozen() }
    self.init(seen, files, of: backend, nil)
    try backend.close(releasingFiles: false)
  }

  /// Copies the pending state and freezes the files, both as of one commit.
  private func frozen() throws(StoreError) -> (PendingState, Files) {
    try state.withLock { (state) throws(StoreError) in
      try check(state)
      return (state, try files.frozen())
    }
  }
}
