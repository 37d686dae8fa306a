public import StoredObjectsCore

/// A place in memory, on which `MemoryBackend`s are opened.
public struct MemoryLocation: BackendLocation {
  /// Where the records are.
  public let disk = MemoryDisk()

  /// Makes an empty place.
  public init() {}

  /// Opens a backend on the place.
  ///
  /// - Throws: `StoreError` with `inUse`.
  public func open(readOnly: Bool) throws -> any StoreBackend {
    try MemoryBackend(disk: disk, isReadOnly: readOnly)
  }
}
