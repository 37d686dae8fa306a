import ArgumentParser
import StoredObjectsCore

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Rename or retire classes of a store.",
    discussion: """
      A renamed class keeps its objects, and references to them stay valid. A retired class is \
      removed with its objects and indexes. All other changes of a migration need the classes of a \
      program, see Migration.

      The same command finishes an interrupted migration. Until then no program can open the \
      store.

      Examples:
        stored-objects migrate Music --rename Song=Track --retire Genre --rehearse
        stored-objects migrate Music --rename Song=Track --retire Genre
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "Rename a class, as in Song=Track; may be repeated.")
  var rename: [Rename] = []
  @Option(help: "Remove a class; may be repeated.")
  var retire: [String] = []
  @Flag(help: "Work on a copy, which is removed afterwards, and print what would change.")
  var rehearse = false
  @OptionGroup var output: OutputOptions

  struct Rename: ExpressibleByArgument {
    let oldName: String
    let newName: String

    init?(argument: String) {
      let names = argument.split(separator: "=", omittingEmptySubsequences: false)
      guard names.count == 2, names.allSatisfy({ !$0.isEmpty }) else { return nil }
      (oldName, newName) = (String(names[0]), String(names[1]))
    }
  }

  private struct Report: Encodable {
    struct Class: Encodable {
      var name: String
      var formerName: String?
      var isRetired: Bool
      var inserted: Int
      var updated: Int
      var deleted: Int
      var examples: [String]
    }
    var steps: [String]
    var classes: [Class]?
  }

  func validate() throws {
    if rename.isEmpty && retire.isEmpty {
      throw ValidationError("Give --rename Song=Track or --retire Genre.")
    }
  }

  private var migrations: [Migration] {
    rename.map { .rename($0.oldName, to: $0.newName) } + retire.map { .retire($0) }
  }

  func run() throws {
    try rehearse ? runOnCopy() : runOnStore()
  }

  private func runOnCopy() throws {
    let key = try store.key.key()
    let backend = try store.openForReading(key)
    try checkClassExists(backend)
    let report = try backend.rehearseOnce(migrations, key: key)
    try backend.close()
    let classes = report.classes.map { changes in
      Report.Class(
        name: changes.name, formerName: changes.formerName, isRetired: changes.isRetired,
        inserted: changes.insertedCount, updated: changes.updatedCount,
        deleted: changes.deletedCount, examples: changes.examples)
    }
    try output.write(Report(steps: report.steps, classes: classes)) {
      [report.description, "Nothing was changed: this was a rehearsal."]
    }
  }

  private func runOnStore() throws {
    let backend = try store.openForWriting()
    try checkClassExists(backend)
    let line = ProgressLine("migrate")
    defer { line.end() }
    try Store(backend: backend).migrateOnce(migrations) { progress in
      line.show(IntegrityProgress(progress.className, progress.done, of: progress.total))
    }
    try backend.close()
    line.end()
    try output.write(Report(steps: migrations.map(\.name))) {
      migrations.map { "Done: \($0.name)." }
    }
  }

  /// Refuses a name that doesn't exist, which is more likely a mistake than a migration.
  ///
  /// An interrupted migration may have renamed some already.
  private func checkClassExists(_ backend: any StoreBackend) throws {
    if try backend.savedMigrations().interrupted != nil { return }
    let names = try backend.tableNames()
    for name in rename.map(\.oldName) + retire where !names.contains(name) {
      throw Failure(
        description: """
          There is no class "\(name)" in the store. It has \(names.sorted().joined(separator: ", ")).
          """)
    }
  }
}
