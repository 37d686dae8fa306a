extension StoreBackend {
  /// Returns a copy in memory.
  public func snapshot() throws(StoreError) -> any StoreBackend {
    let disk = MemoryDisk()
    let copy = try MemoryBackend(disk: disk)
    try BackendCopy(from: self, to: copy).run()
    copy.close()
    return try MemoryBackend(disk: disk, isReadOnly: true)
  }
}
