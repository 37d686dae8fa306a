import ArgumentParser
import StoredObjectsCore

struct SalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copy the readable part of a damaged store, and list what was lost.",
    discussion: """
      The damaged store is not changed. Indexes are left out: they are rebuilt from the records. \
      The exit code is 1 when anything was lost.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "Where the new store goes; it must not exist, or be empty.")
  var target: String
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var classes: [Class]
    var namedBuffers: Int
    var orderedTables: [OrderedTableReport]
    var losses: [FindingReport]
    var omittedLosses: Int

    struct Class: Encodable {
      var name: String
      var objects: Int
    }
  }

  func run() throws {
    let line = ProgressLine("salvage")
    defer { line.end() }
    let report = try store.backendOfWreck().salvage(
      from: store.directory, to: target, key: store.key.key()
    ) {
      line.show($0)
    }
    line.end()
    try output.write(json(report)) { lines(report) }
    if !report.losses.isEmpty { throw ExitCode(1) }
  }

  private func json(_ report: SalvageReport) -> Report {
    Report(
      target: target,
      classes: report.classes.map { .init(name: $0.name, objects: $0.objectCount) },
      namedBuffers: report.namedBufferCount,
      orderedTables: report.orderedTables.map {
        .init(name: $0.name.description, keys: $0.keyCount)
      },
      losses: report.losses.map { FindingReport($0) },
      omittedLosses: report.omittedCount)
  }

  private func lines(_ report: SalvageReport) -> [String] {
    var lines = report.classes.map {
      "\($0.name): \(counted($0.objectCount, "object", "objects")) salvaged"
    }
    let buffers = counted(report.namedBufferCount, "named buffer", "named buffers")
    lines.append("\(buffers) salvaged")
    lines += report.orderedTables.map {
      "\($0.name): \(counted($0.keyCount, "key", "keys")) salvaged"
    }
    lines += report.losses.map { "\($0)" }
    if report.omittedCount > 0 { lines.append("... and \(report.omittedCount) more losses") }
    lines.append(report.losses.isEmpty ? "Nothing is lost." : "The new store is in \(target).")
    return lines
  }
}
