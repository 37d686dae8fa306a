import ArgumentParser
import Foundation

/// Measures StoredObjects: `./dev bench`.
@main
struct SpeedTests: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "speedtests",
    abstract: "Measures StoredObjects on its backends.",
    discussion: workloadList,
    subcommands: [Compare.self, One.self, HashFiles.self],
    defaultSubcommand: Compare.self)

  private static var workloadList: String {
    let lines = workloads.map { "  \($0.name): \($0.summary) (\($0.defaultCount))" }
    return "Workloads, and how many objects they use:\n" + lines.joined(separator: "\n")
  }
}

/// The measurement itself: every workload on every engine, each run in a new process.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Run workloads and print a table (the default).")

  @Option(help: "Only this workload.") var workload: String?
  @Option(help: "Only this engine.") var engine: Engine?
  @Option(help: "How many objects, instead of the workload's own number.") var count: Int?
  @Option(help: "How often to run each.") var runs = 5
  @Option(help: "Write the results to this file, too.") var json: String?

  func validate() throws {
    guard runs > 0, count ?? 100 >= 100 else {
      throw ValidationError("At least one run and 100 objects, please.")
    }
    if let workload { _ = try find(workload) }
  }

  func run() throws {
    try refuseDebugBuild()
    let chosen = try workload.map { [try find($0)] } ?? workloads
    print(machine())
    print(Table.header)
    var results: [Result] = []
    for workload in chosen {
      for engine in engine.map({ [$0] }) ?? Engine.allCases {
        let count = count ?? workload.defaultCount
        let result = try Runner(runs: runs).measure(workload, engine, count)
        print(Table.row(result))
        results.append(result)
      }
    }
    if let json { try write(results, to: json) }
  }

  private func write(_ results: [Result], to path: String) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(Report(results: results)).write(to: URL(fileURLWithPath: path))
  }

  private func machine() -> String {
    let info = ProcessInfo.processInfo
    return """
      \(info.activeProcessorCount) cores, \(info.operatingSystemVersionString), release build, \
      \(runs) runs each in a new process, files warm
      """
  }
}

/// One step of one run, in a process of its own.
struct One: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)

  @Option var workload: String
  @Option var engine: Engine
  @Option var count: Int
  @Option var directory: String
  @Option var step: String

  func run() throws {
    let place = Place(engine: engine, directory: directory)
    guard let result = try runOnce(find(workload), place, count, step: step) else { return }
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }
}

private func find(_ name: String) throws -> any Workload {
  if let found = workloads.first(where: { $0.name.lowercased() == name.lowercased() }) {
    return found
  }
  throw ValidationError(
    "No workload \(name); there are \(workloads.map(\.name).joined(separator: ", ")).")
}

func refuseDebugBuild() throws {
  var isDebug = false
  assert(
    {
      isDebug = true; return true
    }())
  if isDebug {
    throw ValidationError("A debug build measures nothing: ./dev bench builds for release.")
  }
}
