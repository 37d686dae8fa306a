import CDBBackend
package import SpeedWorkloads
import StoredObjectsCore
import StoredObjectsEncryption
import TokyoCabinetBackend

/// The encrypted engines, which are measured only if named.
package let encryptedEngines: [any Engine] = [EncryptedEngine.tokyoCabinet, EncryptedEngine.cdb]

/// An engine with an encrypted store, to measure the cost of encryption.
///
/// The key is one of 32 bytes, because a passphrase costs the same fifth of a second at each
/// opening.
struct EncryptedEngine: Engine {
  let name: String
  let title: String
  let outlivesProcess = true
  let isChosenByNameOnly = true
  private let make: @Sendable (String, Durability, EncryptionKey) throws -> any StoreBackend
  private let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })

  static let tokyoCabinet = EncryptedEngine(
    name: "tokyo-cabinet-encrypted", title: "StoredObjects on Tokyo Cabinet, encrypted"
  ) { directory, durability, key in
    try TokyoCabinetBackend(
      directory: directory, configuration: .init(durability: durability), key: key)
  }

  static let cdb = EncryptedEngine(
    name: "cdb-encrypted", title: "StoredObjects on CDB, encrypted"
  ) { directory, durability, key in
    try CDBBackend(directory: directory, configuration: .init(durability: durability), key: key)
  }

  private init(
    name: String, title: String,
    make: @escaping @Sendable (String, Durability, EncryptionKey) throws -> any StoreBackend
  ) {
    (self.name, self.title, self.make) = (name, title, make)
  }

  func open(_ directory: String, _ durability: Durability) throws -> any StoreBackend {
    try make(directory, durability, key)
  }
}
