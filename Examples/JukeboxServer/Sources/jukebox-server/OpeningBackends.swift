import ArgumentParser
import PostgreSQLBackend
import StoredObjects

/// Opens the store in a directory, or on a server: `postgresql://HOST/DATABASE#STORE`.
///
/// Any number of servers can have a store on PostgreSQL open. One server has a directory for itself.
func openBackend(_ store: String) throws -> any StoreBackend {
  guard store.hasPrefix("postgresql://") || store.hasPrefix("postgres://") else {
    return try TokyoCabinetBackend(directory: store)
  }
  let parts = store.split(separator: "#", maxSplits: 1).map(String.init)
  guard parts.count == 2, let name = parts[1].removingPercentEncoding else {
    throw ValidationError("Write the name of the store after a #: postgresql://…/music#Music")
  }
  return try PostgreSQLBackend(parts[0], store: name)
}
