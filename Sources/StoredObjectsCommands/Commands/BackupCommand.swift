import ArgumentParser
import StoredObjectsCore

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a store into a new directory, once or continuously.",
    discussion: """
      Programs may have the store open, and save to it meanwhile. The copy is the store as of one \
      commit.

      With --continuous the directory gets a copy of the store, and then, every second in which there \
      is something new, a file with the commits of that second, until SIGTERM or Control-C. A machine \
      that is lost costs that second. The store keeps a history: history --begin. A later run goes on \
      where the last one has ended. restore makes a store of it again, also as of an earlier commit.

        stored-objects backup Music /backup/Music --continuous --run "aws s3 cp --recursive ..."
      """)

  @OptionGroup var store: StoreArgument
  @Argument(
    help: "Where the copy goes; it must not exist, or be empty, or be a continuous backup.",
    completion: .directory)
  var target: String
  @Flag(help: "Go on with each new commit.") var continuous = false
  @Option(help: "The number of seconds in which there is one new file at most.")
  var every = 1.0
  @Option(
    name: .customLong("run"),
    help: "The command that is run with the path of each new file behind it.")
  var command: String?
  @Flag(help: "With --continuous: end when the backup has all commits that the store has.")
  var once = false
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    /// The last commit; absent without --continuous.
    var commit: UInt64?
  }

  func validate() throws {
    guard every > 0, every < 1e6 else { throw ValidationError("--every is a number above 0.") }
    if !continuous, command != nil || once {
      throw ValidationError("--run and --once go with --continuous.")
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
