extension StoreBackend {
  /// Whether a snapshot holds a connection: false.
  public var snapshotsHoldConnections: Bool { false }

  /// Returns a copy in memory.
  ///
  /// Complexity: linear in the size of all records, in time and memory.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func snapshot() throws(StoreError) -> any StoreBackend {
    let disk = MemoryDisk()
    let copy = try MemoryBackend(disk: disk)
    try BackendCopy(from: self, to: copy).run()
    copy.close()
    return try MemoryBackend(disk: disk, isReadOnly: true)
  }
}
