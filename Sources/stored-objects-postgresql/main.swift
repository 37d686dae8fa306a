import PostgreSQLBackend
import StoreAddresses
import StoreEngine
import StoredObjectsCommands

// The same tool, which also opens stores on a server. It is a separate program, so that nothing
// else needs libpq.
StoredObjectsTool.run { (address, key, isReadOnly) throws(StoreError) in
  var configuration = PostgreSQLConfiguration()
  if isReadOnly { configuration.access = .readOnly }
  return try PostgreSQLBackend(
    address.connection, store: address.storeName, key: key, configuration: configuration)
}
