import Foundation
import StoreEngine
import StoredObjectsEncryption
import Synchronization

/// The address of a store on a server.
package struct ServerAddress: Sendable, Equatable {
  /// The connection string for libpq.
  package let connection: String
  /// The name of the store in the database.
  package let storeName: String

  /// Parses `postgresql://HOST/DATABASE#STORE`; returns nil for any other text.
  ///
  /// - Throws: ``Failure`` if the name is missing.
  init?(_ text: String) throws {
    guard Self.isURL(text) else { return nil }
    let parts = text.split(separator: "#", maxSplits: 1).map(String.init)
    guard parts.count == 2, let name = parts[1].removingPercentEncoding, !name.isEmpty else {
      // The message contains nothing of the URL, which may have a password.
      throw Failure(
        description: "The URL names no store. Write its name after a #: postgresql://…/music#Music"
      )
    }
    (connection, storeName) = (parts[0], name)
  }

  /// Whether a command-line argument is the address of a server.
  static func isURL(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }
}

/// The opener of stores on servers, in the program that is built with libpq.
enum ServerStores {
  typealias Opener =
    @Sendable (ServerAddress, EncryptionKey?, _ isReadOnly: Bool) throws(StoreError)
    -> any StoreBackend

  private static let opener = Mutex<Opener?>(nil)

  /// Sets the closure that opens stores on servers.
  static func use(_ new: @escaping Opener) { opener.withLock { $0 = new } }

  static func open(
    _ address: ServerAddress, _ key: EncryptionKey?, isReadOnly: Bool
  ) throws -> any StoreBackend {
    guard let open = opener.withLock({ $0 }) else { throw SiblingProgram.postgreSQL.missing }
    return try open(address, key, isReadOnly)
  }
}
