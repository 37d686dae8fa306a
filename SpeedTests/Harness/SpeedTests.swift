import ArgumentParser
import Foundation
import SpeedWorkloads

/// Measures StoredObjects and its rivals: `./dev bench`.
@main
struct SpeedTests: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "speedtests",
    abstract: "Measures StoredObjects on its backends, and other stores at the same work.",
    discussion: """
      Workloads, and their counts:
      \(workloadList)

      Engines:
      \(engineList)

      Each run is a new process; the engines take turns, run by run. ./dev bench compare --help \
      lists the options. ./dev bench --check compares counts (allocations, system calls, bytes) \
      with their limits instead.

      SustainedSaves measures each save. A second table has the median, the 99th and 99.9th \
      percentile and the longest, the bytes that the process wrote to the disk, and its peak \
      memory without mapped files, sampled every 10 ms. Use --count 5000000 or --count 20000000 \
      for larger stores and --operations 30000 for more saves. YCSBA to YCSBF do 100,000 \
      operations each; --operations sets another number. --cores 1 runs everything on one core.
      """,
    subcommands: [
      Compare.self, EncryptionCost.self, HashFiles.self, ConstantDatabases.self, CommitCommand.self,
      SharingCommand.self, SharingWorker.self, NewsWorker.self,
    ],
    defaultSubcommand: Compare.self)

  private static var workloadList: String {
    workloads.map { workload in
      let counts = workload.defaultCounts.map { "\($0)" }.joined(separator: ", ")
      return "  \(workload.name): \(workload.summary) (\(counts))"
    }.joined(separator: "\n")
  }

  private static var engineList: String {
    Contestant.all(rivals: nil).map { "  \($0.name): \($0.title)" }.joined(separator: "\n")
  }
}

/// The measurement itself: workloads on engines that alternate.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Run workloads and print a table (the default).")

  @OptionGroup var options: Options
  @OptionGroup var outputs: Outputs

  func validate() throws {
    try options.check()
    _ = try chosen()
  }

  func run() throws {
    try refuseDebugBuild()
    let conditions = Conditions(runs: options.runs, isCold: options.cold, cores: options.cores)
    say(conditions.text)
    if let from = outputs.from { return try outputs.write(Report(from: from).results, conditions) }
    if let missing = missingRivals() { say(missing) }
    say("\n" + Table.header)
    var results: [Result] = []
    let runner = Runner(runs: options.runs, isCold: options.cold, cores: options.cores)
    for group in try chosen() {
      let measured = try runner.measure(group)
      measured.forEach { say(Table.row($0, among: measured)) }
      results += measured
      // After each group, so that an interrupted measurement leaves its results.
      try outputs.write(results, conditions)
    }
    LatencyTable.lines(results).forEach(say)
    try compareWithLimits(results)
  }

  /// Prints the ratios that have a limit.
  ///
  /// - Throws: `ExitCode` if one exceeds its limit and the options ask for that.
  private func compareWithLimits(_ results: [Result]) throws {
    let ratios = SpeedLimit.ratios(results)
    if ratios.isEmpty { return }
    say("")
    for (limit, ratio) in ratios { say(limit.text(ratio)) }
    if options.limits, ratios.contains(where: { $1 > $0.most }) { throw ExitCode.failure }
  }

  /// Returns the groups that the options select.
  private func chosen() throws -> [Group] {
    try options.groups(of: Contestant.all(rivals: options.rivals))
  }

  private func missingRivals() -> String? {
    let missing = Contestant.all(rivals: options.rivals).filter { !$0.isThere }
    guard options.engine.isEmpty, !missing.isEmpty else { return nil }
    return "Not built, and left out: \(missing.map(\.name).joined(separator: ", "))."
  }
}

/// Ends a program that was not built for release.
///
/// - Throws: `ValidationError`.
func refuseDebugBuild() throws {
  var isDebug = false
  assert(
    {
      isDebug = true
      return true
    }())
  if isDebug {
    throw ValidationError("A debug build measures nothing: ./dev bench builds for release.")
  }
}

/// Prints a line without buffering, also into a pipe.
private func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
