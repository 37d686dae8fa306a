import Locks

extension MemoryBackend {
  /// The data as of the last commit.
  ///
  /// The next commit copies the tables that it changes, and that the snapshot has, too.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func snapshot() throws(StoreError) -> any StoreBackend {
    try MemoryBackend(snapshotOf: self)
  }
}

extension MemoryDisk {
  /// A disk with what is on this one now.
  func copied() -> MemoryDisk {
    var contents = contents.withLock { $0 }
    (contents.readers, contents.hasWriter) = (0, false)
    return MemoryDisk(contents)
  }
}
