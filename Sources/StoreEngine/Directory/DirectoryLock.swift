import Files

/// The processes and backends that a lock on a store's directory excludes.
package enum DirectoryLock: Sendable {
  /// None: others may write to the directory while it is read.
  case none
  /// Those that lock it exclusively.
  case shared
  /// All others that lock it.
  case alone

  /// Opens a directory with this lock, and waits for the lock.
  ///
  /// - Throws: ``StoreError`` with `inUse`, which names the process that has the lock, or
  ///   `ioError`.
  func open(
    _ location: FileLocation, _ timeout: Duration
  ) throws(StoreError) -> DirectoryHandle {
    var waiting = Backoff(timeout)
    while true {
      do {
        return try systemErrors(at: location.path) {
          self == .none
            ? try DirectoryHandle(location)
            : try DirectoryHandle(location, shared: self == .shared)
        }
      } catch {
        guard error.code == .inUse else { throw error }
        if !waiting.pause() { throw Self.inUse(location, error) }
      }
    }
  }

  /// Returns the error for a lock that others hold, with their names if the system knows them.
  private static func inUse(_ location: FileLocation, _ error: StoreError) -> StoreError {
    let holders = LockHolder.all(of: location)
    if holders.isEmpty { return error }
    let names = holders.map(\.description).joined(separator: ", ")
    return StoreError(
      .inUse,
      """
      In use by \(names): close that first, wait for it with a longer lockTimeout, or open the \
      store for reading only.
      """,
      at: error.location, underlying: error.underlying)
  }
}
