import CDBBackend
import StoredObjectsCore

/// An engine with one constant database for each class, and the commit log.
struct CDBEngine: Engine {
  let name = "cdb"
  let title = "StoredObjects on CDB"
  let outlivesProcess = true

  func open(
    _ directory: String, _ durability: Durability
  ) throws -> any StoreBackend {
    try CDBBackend(directory: directory, configuration: .init(durability: durability))
  }
}
