import JukeboxCommands
import PostgreSQLBackend
import StoreAddresses
import StoreEngine

// The same program, which also opens stores on a server. It is a separate one, so that jukebox
// doesn't need libpq.
await Jukebox.start { (address, key, isReadOnly) throws(StoreError) in
  var configuration = PostgreSQLConfiguration()
  if isReadOnly { configuration.access = .readOnly }
  return try PostgreSQLBackend(
    address.connection, store: address.storeName, key: key, configuration: configuration)
}
