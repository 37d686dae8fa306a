import StoreEngine

/// The server to connect to, and the settings of the connection.
struct ConnectionTarget: Sendable {
  /// The settings for libpq.
  ///
  /// Settings in the connection string override those before it.
  let settings: [(key: String, value: String)]
  /// The address of the database for errors, without a password or a user.
  let location: String
  private let secrets: [String]

  /// Parses a connection string.
  ///
  /// - Throws: ``StoreError`` with `invalidArgument`.
  init(
    _ text: String, store: String, _ configuration: PostgreSQLConfiguration
  ) throws(StoreError) {
    guard let parsed = parseConnectionString(text), Self.hasPorts(parsed["port"]) else {
      throw StoreError(
        .invalidArgument,
        """
        The connection string is not valid: give postgresql://role@host:port/database, with \
        special characters of a password as %XX.
        """)
    }
    secrets = ["password", "sslpassword"].compactMap { parsed[$0] }.filter { !$0.isEmpty }
    let (host, port) = (parsed["host"] ?? parsed["hostaddr"], parsed["port"])
    let database = parsed["dbname"] ?? parsed["user"] ?? ""
    location =
      "postgresql://\(host ?? "")\(port.map { ":\($0)" } ?? "")/\(database) (\(store))"
    let seconds = String(max(2, configuration.connectTimeout.components.seconds))
    settings = [
      ("connect_timeout", seconds), ("tcp_user_timeout", seconds + "000"),
      ("application_name", "StoredObjects"),
      ("target_session_attrs", configuration.access == .readOnly ? "any" : "read-write"),
      ("dbname", text), ("client_encoding", "UTF8"),
    ]
  }

  /// Whether the ports are numbers; libpq's own error would repeat the text.
  private static func hasPorts(_ ports: String?) -> Bool {
    (ports ?? "").split(separator: ",").allSatisfy { UInt16($0) != nil }
  }

  /// Returns a message without any password.
  func withoutSecrets(_ message: String) -> String {
    var message = message
    for secret in secrets {
      while let range = message.firstRange(of: secret) { message.replaceSubrange(range, with: "…") }
    }
    return message
  }
}
