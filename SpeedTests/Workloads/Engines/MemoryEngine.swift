import StoredObjectsCore

/// The backend in memory: what the store itself costs.
struct MemoryEngine: Engine {
  let name = "memory"
  let title = "StoredObjects in memory"
  let outlivesProcess = false
  private let disk = MemoryDisk()

  func open(
    _ directory: String, _ durability: Durability, expecting count: Int?
  ) throws -> any StoreBackend {
    try MemoryBackend(disk: disk)
  }
}
