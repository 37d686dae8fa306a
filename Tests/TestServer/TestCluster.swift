import Foundation

/// Three PostgreSQL nodes under Patroni, with etcd, whose commits wait for a standby.
///
/// Each node is reached by lines that can be cut off. A shell watches the process, as for
/// ``TestServer``.
package final class TestCluster: Sendable {
  /// The number of nodes.
  package static let nodeCount = 3
  /// The directory of the nodes' data and logs.
  package let directory: String
  private let programs: String
  private let nodes: [Node]

  private struct Node: Sendable {
    let name: String
    /// The port of the server itself.
    let port: UInt16
    /// The port at which Patroni says what the node is.
    let statusPort: UInt16
    /// The way of clients and standbys to the server.
    let line: TestLine
    /// The way of the node to etcd.
    let etcd: TestLine

    /// Whether Patroni says that the node has a role: `primary`, or `sync` for the standby that may
    /// replace it.
    func `is`(_ role: String) -> Bool { ask(["http://127.0.0.1:\(statusPort)/\(role)"]) }

    /// Asks Patroni to hand the role over to another node.
    func switchOver() {
      let leader = "{\"leader\": \"\(name)\"}"
      _ = ask(["-d", leader, "-m", "60", "http://127.0.0.1:\(statusPort)/switchover"])
    }

    /// Asks Patroni to copy the node from the primary.
    func copy() {
      let force = "{\"force\": true}"
      _ = ask(["-d", force, "-m", "10", "http://127.0.0.1:\(statusPort)/reinitialize"])
    }

    private func ask(_ arguments: [String]) -> Bool {
      (try? TestServer.output("curl", ["-sf", "-m", "2"] + arguments)) != nil
    }
  }

  /// A way in which a node fails.
  package enum Fault: String, CaseIterable, Sendable {
    /// The server and Patroni are killed, and start again when another node is the primary.
    case kill
    /// Patroni is asked to make another node the primary, and shuts the server down.
    case switchover
    /// All processes of the node stop. A watchdog ends them when another one is the primary.
    case freeze
    /// The node neither is reached nor reaches etcd until another one is the primary.
    case cutOff
  }

  /// Whether the programs are installed; otherwise tests are skipped.
  package static let isAvailable =
    TestServer.isAvailable
    && ["patroni", "etcd", "curl"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
    }

  // MARK: Starting

  /// Starts the nodes, and waits until they are healthy.
  package init() throws {
    programs = try TestServer.programs()
    directory = "/tmp/sopg-cluster-\(ProcessInfo.processInfo.processIdentifier)"
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    let (etcd, peers) = (try TestLine.unusedPort(), try TestLine.unusedPort())
    nodes = try ["a", "b", "c"].map { name in
      let port = try TestLine.unusedPort()
      return Node(
        name: name, port: port, statusPort: try TestLine.unusedPort(),
        line: try TestLine(to: port), etcd: try TestLine(to: etcd))
    }
    for node in nodes {
      try settings(node).write(
        toFile: "\(directory)/\(node.name).yml", atomically: false, encoding: .utf8)
    }
    if try TestServer.unprivilegedUser() != nil {
      _ = try TestServer.output("chown", ["-R", "postgres", directory])
    }
    try TestServer.start(Self.script, [directory, String(etcd), String(peers)])
    _ = try waitUntilHealthy()
  }

  private func settings(_ node: Node) throws -> String {
    """
    scope: stored-objects
    name: \(node.name)
    restapi: {listen: "127.0.0.1:\(node.statusPort)"}
    etcd3: {hosts: ["127.0.0.1:\(node.etcd.port)"], use_proxies: true}
    bootstrap:
      dcs:
        ttl: 8
        loop_wait: 1
        retry_timeout: 3
        primary_start_timeout: 0
        master_start_timeout: 0
        synchronous_mode: true
        synchronous_mode_strict: true
        postgresql:
          use_pg_rewind: true
          parameters: {wal_log_hints: "on", wal_keep_size: 256MB, max_connections: 100}
      initdb: [{encoding: UTF8}, {locale: C}, data-checksums]
    postgresql:
      listen: "127.0.0.1:\(node.port)"
      connect_address: "127.0.0.1:\(node.line.port)"
      data_dir: \(directory)/\(node.name)
      bin_dir: \(programs)
      pgpass: \(directory)/\(node.name).pass
      authentication:
        superuser: {username: postgres, password: secret}
        replication: {username: replicator, password: secret}
      parameters: {unix_socket_directories: \(directory)}
      pg_hba: [local all all trust, host all all 127.0.0.1/32 trust,
        host replication all 127.0.0.1/32 trust]
    """
  }

  /// The script of the cluster; its arguments are the directory, the ports of etcd, and the process
  /// that it serves.
  private static let script = """
    cd "$1" || exit 1
    etcd --data-dir etcd --listen-client-urls "http://127.0.0.1:$2" \
      --advertise-client-urls "http://127.0.0.1:$2" --listen-peer-urls "http://127.0.0.1:$3" \
      --initial-advertise-peer-urls "http://127.0.0.1:$3" \
      --initial-cluster "default=http://127.0.0.1:$3" >etcd.log 2>&1 &
    for node in a b c; do
      (
        while :; do
          patroni "$node.yml" >>"$node.log" 2>&1 &
          echo $! >"$node.patroni"
          wait $!
          sleep 1
          while [ -e "$node.rest" ]; do sleep 0.2; done
        done
      ) &
    done
    while [ -d "/proc/$4" ]; do sleep 0.3; done
    for node in a b c; do kill -KILL "$(head -n 1 "$node/postmaster.pid")"; done
    rm -rf "$1"
    kill -KILL -- -$$
    """

  // MARK: Looking

  /// The connection string that names all nodes.
  package var url: String {
    let hosts = nodes.map { "127.0.0.1:\($0.line.port)" }.joined(separator: ",")
    return "postgresql://postgres:secret@\(hosts)/postgres"
  }

  /// Returns the node that accepts writes and has both others as standbys; nil if there is none, or
  /// Patroni has not yet noted which standby may replace it.
  private func healthyPrimary() -> Node? {
    guard let primary = nodes.first(where: { $0.is("primary") }),
      nodes.contains(where: { $0.is("sync") })
    else { return nil }
    return standbys(of: primary).count == nodes.count - 1 ? primary : nil
  }

  /// Returns the names of the nodes that follow a node; none if it does not accept writes.
  private func standbys(of node: Node) -> [String] {
    answer(
      of: node,
      """
      select application_name from pg_stat_replication
      where state = 'streaming' and application_name in ('a', 'b', 'c') and not pg_is_in_recovery()
      """)
  }

  /// Returns the rows that a node answers, or none if it can't.
  private func answer(of node: Node, _ question: String) -> [String] {
    let answer = try? TestServer.output(
      "timeout",
      [
        "5", programs + "/psql", "-h", directory, "-p", String(node.port), "-U", "postgres",
        "-XAtqc", question,
      ])
    return answer?.split(separator: "\n").map(String.init) ?? []
  }

  /// Waits until all nodes take part, and returns the primary.
  private func waitUntilHealthy() throws -> Node {
    for attempt in 0..<6 {
      let deadline = Date() + 30
      while Date() < deadline {
        if let primary = healthyPrimary() { return primary }
        usleep(200_000)
      }
      // Patroni 3.0 may refuse its own note on the standby from now on ("updated by someone else").
      // It reads the note again when it starts again; the server runs on.
      signal(SIGKILL, nodes.filter { $0.is("primary") }.flatMap(patroni))
      // A standby may have begun a timeline that no primary has continued. An operator copies such
      // a node from the primary.
      if attempt > 1 { copyStandbys() }
    }
    throw unhealthy("the nodes don't take part")
  }

  /// Copies the standbys that do not follow the primary from it.
  private func copyStandbys() {
    guard let primary = nodes.first(where: { $0.is("primary") }) else { return }
    let following = standbys(of: primary)
    for node in nodes where node.name != primary.name && !following.contains(node.name) {
      node.copy()
    }
  }

  private func unhealthy(_ message: String) -> TestServer.Unavailable {
    let logs = nodes.map { node in
      let log = try? String(contentsOfFile: "\(directory)/\(node.name).log", encoding: .utf8)
      return "\(node.name): …\((log ?? "no log").suffix(2000))"
    }
    return TestServer.Unavailable(description: "\(message):\n\(logs.joined(separator: "\n"))")
  }

  // MARK: Failing

  /// Lets the primary fail until another node is the primary, and returns when all nodes take part
  /// again.
  package func fail(_ fault: Fault) throws {
    let old = try waitUntilHealthy()
    let rest = "\(directory)/\(old.name).rest"
    switch fault {
    case .switchover:
      old.switchOver()
      try waitForPrimary(besides: old)
    case .kill:
      _ = FileManager.default.createFile(atPath: rest, contents: nil)
      signal(SIGKILL, processes(old))
      defer { try? FileManager.default.removeItem(atPath: rest) }
      try waitForPrimary(besides: old)
    case .freeze:
      let frozen = processes(old)
      signal(SIGSTOP, frozen)
      // If they continued, Patroni 3.0 could take the role back, and saves of the new primary would
      // be lost. Patroni leaves this case to the watchdog of the machine.
      defer { signal(SIGKILL, frozen) }
      try waitForPrimary(besides: old)
    case .cutOff:
      (old.line.isCut, old.etcd.isCut) = (true, true)
      defer { (old.line.isCut, old.etcd.isCut) = (false, false) }
      try waitForPrimary(besides: old)
    }
    _ = try waitUntilHealthy()
  }

  private func waitForPrimary(besides old: Node) throws {
    let deadline = Date() + 120
    while Date() < deadline {
      // Patroni calls a node the primary before the server has ended its recovery. If the old one
      // returned then, it would be the primary again.
      let isThere = nodes.contains { node in
        node.name != old.name && node.is("primary")
          && answer(of: node, "select not pg_is_in_recovery()") == ["t"]
      }
      if isThere { return }
      usleep(200_000)
    }
    throw unhealthy("no other node becomes the primary")
  }

  private func patroni(_ node: Node) -> [Int32] { number(in: "\(node.name).patroni") }

  /// The processes of a node: Patroni first, so that it does nothing about the others.
  private func processes(_ node: Node) -> [Int32] {
    let server = number(in: "\(node.name)/postmaster.pid")
    let sessions = server.flatMap { server in
      ((try? TestServer.output("pgrep", ["-P", String(server)])) ?? "").split(separator: "\n")
        .compactMap { Int32($0) }
    }
    return patroni(node) + server + sessions
  }

  private func number(in file: String) -> [Int32] {
    let text = try? String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
    return (text?.split(separator: "\n").first).flatMap { Int32($0) }.map { [$0] } ?? []
  }

  private func signal(_ signal: Int32, _ processes: [Int32]) {
    for process in processes { kill(process, signal) }
  }

  /// Lets the lines go; the nodes end with the process.
  package func close() {
    for node in nodes {
      node.line.close()
      node.etcd.close()
    }
  }
}
