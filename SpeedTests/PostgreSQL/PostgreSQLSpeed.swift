import ArgumentParser
import Foundation

/// Measures StoredObjects and its rivals on one PostgreSQL server: `./dev bench postgresql`.
@main
struct PostgreSQLSpeed: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "speedtests-postgresql",
    abstract: "Measures StoredObjects and its rivals on one PostgreSQL server.",
    subcommands: [Compare.self, Client.self], defaultSubcommand: Compare.self)
}

/// The measurement itself: all programs work on the same server, in turns.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Compare saves, graphs of objects, and clients.")

  @Argument(help: "The connection string of the server.") var url: String
  @Option(help: "The directory of the rivals' programs.") var rivals: String
  @Option(help: "The script that measures RelStorage.") var script: String
  @Option(help: "The Python program of RelStorage's virtual environment.") var relstorage: String?
  @Option(help: "How often to run each program, in turns.") var rounds = 5
  @Option(help: "The number of small saves in each run.") var saves = 1000
  @Option(help: "How many seconds clients save.") var seconds = 5
  @Option(help: "The number of objects of which the size on the server is measured.")
  var objects = 100_000

  /// The maximum ratio of a small save to a transaction with one `INSERT`.
  private static let saveLimit = 1.5
  /// The minimum ratio of RelStorage's times to ours.
  private static let relStorageLimit = 3.0

  private var libpq: String { rivals + "/libpq-rival" }

  func run() throws {
    var isWithin = try compareSmallSaves()
    for workload in ["add", "update", "cold"] {
      isWithin = try compareGraphs(workload) && isWithin
    }
    try compareBulk()
    for count in [1, 2, 4, 8, 16] { try compareClients(count) }
    try measureSize()
    if !isWithin { throw ExitCode.failure }
  }

  // MARK: Programs

  private func own(
    _ store: String, _ workload: String, _ count: Int, _ start: Double = 0, threads: Int = 1
  ) throws -> TimedProcess {
    try TimedProcess(
      "/proc/self/exe",
      ["client", url, store, workload, "\(count)", "\(start)", "--threads", "\(threads)"])
  }

  private func rival(
    _ schema: String, _ workload: String, _ mode: String, _ count: Int, _ start: Double = 0
  ) throws -> TimedProcess {
    try TimedProcess(libpq, [url, schema, workload, mode, "\(count)", "\(start)"])
  }

  // MARK: Comparisons

  private func compareSmallSaves() throws -> Bool {
    var (mine, theirs, awaited, transactions): (Times?, Times?, Times?, Times?)
    var (ratios, ratiosToInsert): ([Double], [Double]) = ([], [])
    // The ratio of two short runs varies by a quarter, so there are more of them.
    for round in 0..<3 * rounds {
      let saved = try own("Small\(round)", "small", saves).times()
      let begun = try rival("begun\(round)", "small", "transaction", saves).times()
      let inserted = try rival("small\(round)", "small", "rows", saves).times()
      let written = try own("Container\(round)", "container", saves).times()
      ratios.append(saved.median / begun.median)
      ratiosToInsert.append(saved.median / inserted.median)
      transactions = transactions.map { $0.adding(begun) } ?? begun
      mine = mine.map { $0.adding(saved) } ?? saved
      theirs = theirs.map { $0.adding(inserted) } ?? inserted
      awaited = awaited.map { $0.adding(written) } ?? written
    }
    say("A small save:               \(mine?.text ?? "")")
    say("await container.write:      \(awaited?.text ?? "")")
    say("BEGIN, INSERT, COMMIT:      \(transactions?.text ?? "")")
    say("INSERT that commits itself: \(theirs?.text ?? "")")
    say("compared with that INSERT, saves take \(format(median(ratiosToInsert))) times as long")
    return isWithin(Self.saveLimit, ratios, "compared with BEGIN, INSERT, COMMIT, saves take")
  }

  private func compareGraphs(_ workload: String) throws -> Bool {
    var all: [(name: String, times: Times)] = []
    for _ in 0..<rounds {
      var found: [(String, Times)] = []
      // A store or schema for each workload, so that each finds only its own objects.
      found.append(("StoredObjects", try own(workload, workload, 20).times()))
      for mode in ["rows", "arrays"] {
        found.append(
          ("libpq, \(mode)", try rival("\(workload)_\(mode)", workload, mode, 20).times()))
      }
      if let relstorage {
        let process = try TimedProcess(relstorage, [script, url, workload, "20"])
        found.append(("RelStorage", try process.times()))
      }
      for (index, (name, times)) in found.enumerated() {
        if all.count <= index { all.append((name, times)) } else { all[index].times.add(times) }
      }
    }
    say("\n\(workload) of 1,000 songs in 10 playlists:")
    let mine = all[0].times.median
    for (name, times) in all {
      say("  \(name): \(times.text), \(format(times.median / mine)) of ours")
    }
    guard let rel = all.first(where: { $0.name == "RelStorage" }) else { return true }
    return rel.times.median / mine >= Self.relStorageLimit
  }

  private func compareBulk() throws {
    say("\nOne save of many songs:")
    for count in [10_000, 100_000] {
      let times = try own("Bulk\(count)", "bulk", count).times()
      say("  \(count): \(format(times.median)) ms, \(Int(Double(count) / times.median * 1000))/s")
    }
  }

  private func compareClients(_ count: Int) throws {
    if count == 1 { say("\nSaves a second of clients that save at the same time:") }
    // Gives the processes time to open their stores.
    let start = Date().timeIntervalSince1970 + 2
    let ways: [(name: String, processes: Int, begin: (Int) throws -> TimedProcess)] = [
      (
        "one store, threads of one process", 1,
        { _ in try own("Threads", "clients", seconds, start, threads: count) }
      ),
      (
        "one store, processes", count,
        { _ in try own("Clients", "clients", seconds, start + wait(1)) }
      ),
      ("a store each", count, { try own("Client\($0)", "clients", seconds, start + wait(2)) }),
      (
        "INSERT", count,
        { _ in try rival("clients", "clients", "rows", seconds, start + wait(3)) }
      ),
    ]
    for (name, processCount, begin) in ways {
      let processes = try (0..<processCount).map(begin)
      let times = try processes.map { try $0.times() }
      let all = times.dropFirst().reduce(into: times[0]) { $0.add($1) }
      say("  \(count) \(name): \(all.all.count / seconds)/s, \(all.text)")
    }
  }

  /// The time until a later measurement begins.
  private func wait(_ number: Int) -> Double { Double(number * (seconds + 2)) }

  /// Measures the size of the table of all records before and after many are saved.
  private func measureSize() throws {
    let before = try byteCountOfRecords()
    _ = try own("Size", "size", objects).times()
    let count = try byteCountOfRecords() - before
    say("\nAn object whose record has 128 bytes takes \(count / objects) bytes on the server.")
  }

  private func byteCountOfRecords() throws -> Int {
    let query = "select pg_total_relation_size('stored_objects.records')"
    let answer = try TimedProcess("/usr/bin/env", ["psql", "-XAtqc", query, url]).times()
    return Int(answer.median)
  }

  private func median(_ ratios: [Double]) -> Double { ratios.sorted()[ratios.count / 2] }

  private func isWithin(_ limit: Double, _ ratios: [Double], _ what: String) -> Bool {
    let ratio = median(ratios)
    say("\(what) \(format(ratio)) times as long; at most \(limit)")
    return ratio <= limit
  }
}

extension Times {
  func adding(_ others: Times) -> Times {
    var times = self
    times.add(others)
    return times
  }
}

/// Prints a line without buffering, also into a pipe.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
