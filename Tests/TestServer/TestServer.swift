import Foundation

/// A PostgreSQL server for the tests of a process, with a separate directory in memory, on a Unix
/// socket.
///
/// A shell watches the process, and starts the server again if it ends. As soon as the process has
/// ended, for any reason, the server stops and its directory is removed.
package final class TestServer: Sendable {
  /// The directory of the socket.
  package let directory: String

  /// The reason why there is no server.
  package struct Unavailable: Error, CustomStringConvertible {
    package let description: String
  }

  /// The server of this process, started by the first test that needs it.
  package static let shared = Result { try TestServer(at: newDirectory()) }

  /// Whether the programs are installed; otherwise tests are skipped.
  package static let isAvailable = (try? programs()) != nil

  /// Returns a connection string.
  package func url(
    role: String = "postgres", password: String? = nil, database: String = "postgres",
    through directory: String? = nil, port: Int? = nil
  ) -> String {
    let host =
      (directory ?? self.directory).replacingOccurrences(of: "/", with: "%2F")
      + (port.map { ":\($0)" } ?? "")
    return "postgresql://\(role)\(password.map { ":\($0)" } ?? "")@\(host)/\(database)"
  }

  // MARK: Starting

  static func programs() throws -> String {
    var folders = (try? output("pg_config", ["--bindir"])).map { [$0] } ?? []
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    folders += versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
    let isThere = { (folder: String) in
      ["initdb", "postgres", "psql"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: folder + "/" + $0)
      }
    }
    guard let folder = folders.first(where: isThere) else {
      throw Unavailable(description: "no PostgreSQL here: apt-get install postgresql")
    }
    return folder
  }

  /// Starts a server in an empty directory.
  ///
  /// - Parameters:
  ///   - directory: The directory, of which the server's user has all rights.
  ///   - creation: Options for `initdb`, divided by spaces.
  ///   - settings: Options for `postgres`, divided by spaces.
  /// - Throws: ``Unavailable``.
  package init(at directory: String, creation: String = "", settings: String = "") throws {
    self.directory = directory
    try Self.start(Self.script, [try Self.programs(), directory, creation, settings])
    try waitUntilReady()
  }

  /// Creates a directory in memory for a server or what it needs.
  package static func newDirectory(_ suffix: String = "") throws -> String {
    // The path of a socket has at most 107 bytes.
    let memory = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    let directory = "\(memory)/sopg-\(ProcessInfo.processInfo.processIdentifier)\(suffix)"
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    if try unprivilegedUser() != nil { _ = try output("chown", ["postgres", directory]) }
    return directory
  }

  /// Stops the server before the end of the process.
  package func stop() {
    _ = FileManager.default.createFile(atPath: directory + "/stop", contents: nil)
    let deadline = Date() + 30
    while Date() < deadline, FileManager.default.fileExists(atPath: directory + "/data") {
      usleep(20_000)
    }
  }

  /// Returns the command that runs a program as another user, if this process is root, which the
  /// server refuses.
  static func unprivilegedUser() throws -> [String]? {
    guard try output("id", ["-u"]) == "0" else { return nil }
    guard (try? output("id", ["-u", "postgres"])) != nil else {
      throw Unavailable(description: "the server refuses root, and there is no user postgres")
    }
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
  }

  /// A script that starts an independent program, without the open files of this process.
  ///
  /// Foundation waits for a process until its end of a socket is closed, and the program may have
  /// inherited one of another thread. Exit tests wait for all processes that have ended before them.
  private static let starter = """
    cd /
    for file in /proc/self/fd/*; do
      [ "${file##*/}" -le 2 ] || eval "exec ${file##*/}>&-"
    done
    "$@" </dev/null >/dev/null 2>&1 &
    """

  /// Starts a script with arguments, followed by the ID of this process.
  static func start(_ script: String, _ arguments: [String]) throws {
    let own = String(ProcessInfo.processInfo.processIdentifier)
    _ = try output(
      "bash",
      ["-c", starter, "bash"] + (try unprivilegedUser() ?? [])
        + ["setsid", "bash", "-c", script, "bash"] + arguments + [own])
  }

  /// The script of the server; its arguments are the folder of the programs, the directory, the
  /// options of both programs, and the process that it serves.
  private static let script = """
    trap '' HUP INT TERM
    cd "$2" || exit 1
    exec >log 2>&1
    "$1/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync $3 || exit 1
    printf 'local all locked scram-sha-256\\nlocal all all trust\\n' > data/pg_hba.conf
    is_wanted() { [ -d "/proc/$1" ] && [ ! -e stop ]; }
    while is_wanted "$5"; do
      "$1/postgres" -D data -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off \
        -c max_connections=300 -c autovacuum_naptime=10min -c dynamic_shared_memory_type=mmap $4 &
      server=$!
      while is_wanted "$5" && kill -0 $server 2>/dev/null; do sleep 0.3; done
      kill -INT $server 2>/dev/null
      wait $server
    done
    rm -rf "$2/data" "$2"
    """

  private func waitUntilReady() throws {
    let deadline = Date() + 60
    while Date() < deadline {
      if (try? sql("select 1")) == "1" { return }
      usleep(50_000)
    }
    let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
    throw Unavailable(description: "the server does not start: \(log.suffix(500))")
  }

  // MARK: Programs

  /// Runs statements as the owner of the server.
  ///
  /// - Returns: The fields, divided by `|`.
  @discardableResult
  package func sql(_ text: String, database: String = "postgres") throws -> String {
    try psql(["-c", text], database)
  }

  /// Runs statements in a session, each as a transaction of its own.
  ///
  /// - Returns: The fields of all answers, divided by `|`.
  package func session(_ statements: [String], database: String) throws -> String {
    try psql(["-v", "ON_ERROR_STOP=1"] + statements.flatMap { ["-c", $0] }, database)
  }

  private func psql(_ arguments: [String], _ database: String) throws -> String {
    let options = ["-h", directory, "-U", "postgres", "-d", database, "-XAtq"]
    return try Self.output(Self.programs() + "/psql", options + arguments)
  }
}
