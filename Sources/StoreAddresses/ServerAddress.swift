import Foundation

/// The address of a store on a server.
package struct ServerAddress: Sendable, Equatable {
  /// The connection string for libpq.
  package let connection: String
  /// The name of the store in the database.
  package let storeName: String

  /// Parses `postgresql://HOST/DATABASE#STORE`; returns nil for any other text.
  ///
  /// - Throws: ``AddressFailure`` if the name is missing.
  package init?(_ text: String) throws(AddressFailure) {
    guard Self.isURL(text) else { return nil }
    let parts = text.split(separator: "#", maxSplits: 1).map(String.init)
    guard parts.count == 2, let name = parts[1].removingPercentEncoding, !name.isEmpty else {
      // The message contains nothing of the URL, which may have a password.
      throw AddressFailure(
        description: "The URL names no store. Write its name after a #: postgresql://…/music#Music"
      )
    }
    (connection, storeName) = (parts[0], name)
  }

  /// Whether a text is the address of a server.
  package static func isURL(_ text: some StringProtocol) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// Whether a command-line argument is an address, or an option with one: `--store=postgresql://…`.
  static func isIn(_ argument: String) -> Bool {
    guard argument.hasPrefix("--"), let sign = argument.firstIndex(of: "=") else {
      return isURL(argument)
    }
    return isURL(argument[sign...].dropFirst())
  }
}

/// An error with a remedy, in words for the user of the terminal.
package struct AddressFailure: Error, CustomStringConvertible {
  /// The message.
  package let description: String
}
