import Foundation

/// A pgbouncer in front of the tests' server, in transaction mode, with few connections.
package final class TestPooler: Sendable {
  /// The directory of the pooler's socket.
  package let directory: String
  package let port = 6432

  /// The pooler of this process, started by the first test that needs it.
  package static let shared = Result { try TestPooler(before: TestServer.shared.get()) }

  /// Whether the program is installed; otherwise tests are skipped.
  package static let isAvailable = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
    .contains(where: FileManager.default.isExecutableFile)

  private init(before server: TestServer) throws {
    directory = server.directory + "/pool"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    try Self.settings(server, directory)
      .write(toFile: directory + "/settings", atomically: false, encoding: .utf8)
    try "\"postgres\" \"\"\n"
      .write(toFile: directory + "/users", atomically: false, encoding: .utf8)
    if try TestServer.unprivilegedUser() != nil {
      _ = try TestServer.output("chown", ["-R", "postgres", directory])
    }
    try TestServer.start(Self.script, [directory])
    try waitUntilReady()
  }

  /// The name by which the pooler gives the database more sessions, for programs that hold
  /// snapshots.
  package static let wideDatabase = "wide"

  private static func settings(_ server: TestServer, _ directory: String) -> String {
    """
    [databases]
    * = host=\(server.directory)
    \(wideDatabase) = host=\(server.directory) dbname=postgres pool_size=40
    [pgbouncer]
    listen_addr =
    listen_port = 6432
    unix_socket_dir = \(directory)
    auth_type = trust
    auth_file = \(directory)/users
    pool_mode = transaction
    default_pool_size = 3
    max_client_conn = 500
    """
  }

  /// The script of the pooler; its arguments are the directory, and the process that it serves.
  private static let script = """
    cd "$1" || exit 1
    PATH="$PATH:/usr/sbin"
    pgbouncer settings >log 2>&1 &
    pooler=$!
    while [ -d "/proc/$2" ] && kill -0 $pooler 2>/dev/null; do sleep 0.3; done
    kill -KILL $pooler 2>/dev/null
    """

  private func waitUntilReady() throws {
    let deadline = Date() + 30
    while Date() < deadline {
      if FileManager.default.fileExists(atPath: "\(directory)/.s.PGSQL.\(port)") { return }
      usleep(20_000)
    }
    let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
    throw TestServer.Unavailable(description: "the pooler does not start: \(log.suffix(500))")
  }
}
