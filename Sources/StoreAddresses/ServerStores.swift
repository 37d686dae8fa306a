package import StoreEngine
import Synchronization

/// The opener of stores on servers.
///
/// Each program that takes addresses is built twice: without libpq, and with it, beside the first
/// one. The first one runs the second one if an argument is an address.
package enum ServerStores {
  /// Opens a store on a server.
  package typealias Opener =
    @Sendable (ServerAddress, (any StoreKey)?, _ isReadOnly: Bool) throws(StoreError)
    -> any StoreBackend

  private static let opener = Mutex<Opener?>(nil)

  /// Sets the closure that opens stores on servers.
  ///
  /// - Parameters:
  ///   - new: The closure; nil in a program that is built without libpq.
  ///   - arguments: The arguments of this program.
  ///   - sibling: The program that has a closure. Without one here, it runs with the arguments if
  ///     they contain an address, and this program ends.
  /// - Throws: ``AddressFailure`` if the other program is missing.
  package static func use(
    _ new: Opener?, arguments: [String], or sibling: SiblingProgram
  ) throws {
    if let new {
      opener.withLock { $0 = new }
    } else if arguments.contains(where: ServerAddress.isIn) {
      try sibling.run(arguments)
    }
  }

  /// Opens a store.
  ///
  /// - Throws: `StoreError`; ``AddressFailure`` in a program that can't.
  package static func open(
    _ address: ServerAddress, _ key: (any StoreKey)?, isReadOnly: Bool
  ) throws -> any StoreBackend {
    guard let open = opener.withLock({ $0 }) else {
      throw AddressFailure(
        description: "Name the store on the command line: this program has started without libpq.")
    }
    return try open(address, key, isReadOnly)
  }
}
