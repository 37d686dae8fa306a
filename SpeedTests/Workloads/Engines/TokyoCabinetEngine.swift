import StoredObjectsCore
import TokyoCabinetBackend

/// An engine with one hash file for each class, and the commit log.
struct TokyoCabinetEngine: Engine {
  let name = "tokyo-cabinet"
  let title = "StoredObjects on Tokyo Cabinet"
  let outlivesProcess = true

  func open(
    _ directory: String, _ durability: Durability
  ) throws -> any StoreBackend {
    try TokyoCabinetBackend(
      directory: directory,
      configuration: .init(durability: durability))
  }
}
