public import StoredObjectsCore

/// A location in memory, for `MemoryBackend`.
public struct MemoryLocation: BackendLocation {
  /// The memory with the records.
  public let disk = MemoryDisk()

  /// Creates an empty location.
  public init() {}

  /// Opens a backend at the location.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: `StoreError` with `inUse`.
  public func open(readOnly: Bool) throws -> any StoreBackend {
    try MemoryBackend(disk: disk, isReadOnly: readOnly)
  }
}
