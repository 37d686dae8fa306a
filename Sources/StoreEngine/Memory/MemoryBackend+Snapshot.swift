import Locks

extension MemoryBackend {
  /// Returns a backend with the data as of the last commit.
  ///
  /// Each table that the snapshot shares is copied by the next commit that changes it.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func snapshot() throws(StoreError) -> any StoreBackend {
    try MemoryBackend(copyOf: self, isReadOnly: true)
  }
}

extension MemoryDisk {
  /// Returns a disk with the present contents of this one.
  func copied() -> MemoryDisk {
    var contents = contents.withLock { $0 }
    (contents.readers, contents.hasWriter) = (0, false)
    return MemoryDisk(contents)
  }
}
