import StoreAddresses
import StoredObjects

/// A store on a server, which other machines may use at the same time.
struct ServerStore: StorePlace {
  let address: ServerAddress

  /// The name without the URL, which may have a password.
  var name: String { "the store \(quoted(address.storeName)) on the server" }

  var store: String { "The store \(quoted(address.storeName)) on the server" }

  /// Throws if the store is missing, so that a mistyped name creates none.
  func checkBeforeOpening(for access: StoreAccess) throws {
    if access == .changing { try ServerStores.open(address, nil, isReadOnly: true).close() }
  }

  func open(for access: StoreAccess) throws -> any StoreBackend {
    try ServerStores.open(address, nil, isReadOnly: access == .reading)
  }

  /// Leaves a store without objects, which the next import uses.
  func removeIfMadeInVain() {}
}
