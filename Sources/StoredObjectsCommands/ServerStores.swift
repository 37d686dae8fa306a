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

  /// Reads `postgresql://HOST/DATABASE#STORE`; nil for what is no such URL.
  ///
  /// - Throws: ``Failure`` where the name is missing.
  init?(_ text: String) throws {
    guard Self.isURL(text) else { return nil }
    let parts = text.split(separator: "#", maxSplits: 1).map(String.init)
    guard parts.count == 2, let name = parts[1].removingPercentEncoding, !name.isEmpty else {
      // No word of the URL, which may have a password.
      throw Failure(
        description: "The URL names no store. Write its name after a #: postgresql://…/music#Music"
      )
    }
    (connection, storeName) = (parts[0], name)
  }

  /// Whether a word of a command line is meant as the address of a server.
  static func isURL(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }
}

/// Opens stores on servers, in the program that is built with libpq.
enum ServerStores {
  typealias Opener =
    @Sendable (ServerAddress, EncryptionKey?, _ isReadOnly: Bool) throws(StoreError)
    -> any StoreBackend

  private static let opener = Mutex<Opener?>(nil)

  /// Has stores on servers opened.
  static func use(_ new: @escaping Opener) { opener.withLock { $0 = new } }

  static func open(
    _ address: ServerAddress, _ key: EncryptionKey?, isReadOnly: Bool
  ) throws -> any StoreBackend {
    guard let open = opener.withLock({ $0 }) else { throw SiblingProgram.postgreSQL.missing }
    return try open(address, key, isReadOnly)
  }
}
