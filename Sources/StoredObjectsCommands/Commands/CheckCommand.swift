import ArgumentParser
import StoreAddresses
import StoredObjectsCore

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Read everything and report what is wrong.",
    discussion: """
      Checks the structure of each file, the log, metadata rows, row IDs, counts, checksums, named \
      buffers, and the pages of indexes and other ordered tables. Checks that need the classes, \
      such as those of references and of the content of indexes, are made by store.check() in the \
      program.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var isSound: Bool
    var findings: [FindingReport]
    var omittedFindings: Int
    var classes: [Class]
    var namedBuffers: Int
    var orderedTables: [OrderedTableReport]
    /// The number of bytes of a save that a crash has cut off; absent if the log ends with a
    /// complete save.
    var tornTailBytes: Int?

    struct Class: Encodable {
      var name: String
      var objects: Int
      var hasChecksums: Bool
    }
  }

  func run() throws {
    let line = ProgressLine("check")
    let check = try check { line.show($0) }
    line.end()
    try output.write(report(check)) { lines(check) }
    if !check.isSound { throw ExitCode(1) }
  }

  private func check(_ progress: (IntegrityProgress) -> Void) throws -> StoreCheck {
    if ServerAddress.isURL(store.directory) {
      let backend = try store.openAnyForReading()
      let check = try BackendCheck(backend).run(progress: progress)
      try backend.close()
      return check
    }
    return try store.backendOfWreck().check(
      directory: store.directory, key: store.key.key(), progress: progress)
  }

  private func report(_ check: StoreCheck) -> Report {
    Report(
      isSound: check.isSound, findings: check.findings.map { FindingReport($0) },
      omittedFindings: check.omittedCount,
      classes: check.classes.map {
        .init(name: $0.name, objects: $0.objectCount, hasChecksums: $0.hasChecksums)
      },
      namedBuffers: check.namedBufferCount,
      orderedTables: check.orderedTables.map {
        .init(name: $0.name.description, keys: $0.keyCount)
      },
      tornTailBytes: check.tornTailByteCount)
  }

  private func lines(_ check: StoreCheck) -> [String] {
    var lines = check.classes.map { item in
      let checksums = item.hasChecksums ? "" : ", without checksums"
      return "\(item.name): \(counted(item.objectCount, "object", "objects"))\(checksums)"
    }
    lines.append(counted(check.namedBufferCount, "named buffer", "named buffers"))
    lines += check.orderedTables.map { "\($0.name): \(counted($0.keyCount, "key", "keys"))" }
    if let torn = check.tornTailByteCount { lines.append(tornTailText(torn)) }
    lines += check.findings.map { "\($0)" }
    if check.omittedCount > 0 { lines.append("... and \(check.omittedCount) more findings") }
    let count = check.findings.count + check.omittedCount
    lines.append(check.isSound ? "All is well." : counted(count, "finding", "findings"))
    return lines
  }
}
