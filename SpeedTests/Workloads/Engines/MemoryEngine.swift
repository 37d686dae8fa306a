import StoredObjectsCore
import Synchronization

/// The backend in memory, which shows the cost of the store itself.
struct MemoryEngine: Engine {
  let name = "memory"
  let title = "StoredObjects in memory"
  let outlivesProcess = false
  private let disks = Disks()

  func open(
    _ directory: String, _ durability: Durability
  ) throws -> any StoreBackend {
    try MemoryBackend(disk: disks.disk(of: directory))
  }
}

/// The disks of the directories that this process has used.
private final class Disks: Sendable {
  private let disks = Mutex<[String: MemoryDisk]>([:])

  func disk(of directory: String) -> MemoryDisk {
    disks.withLock { disks in
      if let disk = disks[directory] { return disk }
      let disk = MemoryDisk()
      disks[directory] = disk
      return disk
    }
  }
}
