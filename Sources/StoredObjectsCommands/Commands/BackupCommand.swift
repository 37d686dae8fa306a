import ArgumentParser
import StoredObjectsCore

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a store into a new directory, once or continuously.",
    discussion: """
      Programs can have the store open and save to it meanwhile. The copy is the store as of one \
      commit.

      With --continuous, the directory gets a copy of the store. Then each second with new commits \
      adds a file, until SIGTERM or Control-C. If the machine is lost, at most the last second is \
      lost. The store must keep a history: see history --begin. A later run continues where the \
      last one ended. restore creates a store from the backup, also as of an earlier commit.

        stored-objects backup Music /backup/Music --continuous --run "aws s3 cp --recursive ..."
      """)

  @OptionGroup var store: StoreArgument
  @Argument(
    help: "The directory of the copy, which must not exist, be empty, or be a continuous backup.",
    completion: .directory)
  var target: String
  @Flag(help: "Continue with new commits.") var continuous = false
  @Option(help: "The minimum number of seconds between two new files.")
  var every = 1.0
  @Option(
    name: .customLong("run"),
    help: "A shell command to run for each new file, with its path as the last argument.")
  var command: String?
  @Flag(help: "With --continuous: end when the backup has all commits of the store.")
  var once = false
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    /// The last commit; absent without --continuous.
    var commit: UInt64?
  }

  func validate() throws {
    guard every > 0, every < 1e6 else { throw ValidationError("--every must be above 0.") }
    if !continuous, command != nil || once {
      throw ValidationError("--run and --once need --continuous.")
    }
  }

  func run() throws {
    if continuous { return try runContinuously() }
    let line = ProgressLine("backup")
    let backend = try store.openForReading()
    defer { line.end() }
    try backend.backup(to: target) { line.show($0) }
    try backend.close()
    line.end()
    try output.write(Report(target: target)) { ["The copy is in \(target)."] }
  }

  private func runContinuously() throws {
    var run = ContinuousBackupRun(
      store, to: target, every: every, running: command, isOnce: once)
    let number = try run.run()
    try output.write(Report(target: target, commit: number)) {
      ["The backup in \(target) has all commits up to \(number)."]
    }
  }
}
