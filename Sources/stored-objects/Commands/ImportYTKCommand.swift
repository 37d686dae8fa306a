import ArgumentParser
import Foundation

struct ImportYTKCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import-ytk",
    abstract: "Copy a SQLite file of YTKKeyValueStore into a key-value store.",
    discussion: """
      FILE is the SQLite file, which is only read; DIR is the directory of the store. It is done by \
      the program stored-objects-import-ytk, which is built apart because it needs SQLite.
      """)

  @Argument(parsing: .captureForPassthrough, help: "FILE --store DIR [--keep-arrays] [--json]")
  var arguments: [String] = []

  private static let program = "stored-objects-import-ytk"

  /// Runs the program beside this one that is built with SQLite.
  func run() throws {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = own.deletingLastPathComponent().appendingPathComponent(Self.program)
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw Failure(
        description: """
          \(Self.program) is not beside this program. It needs SQLite, and is built apart: \
          apt-get install libsqlite3-dev, then swift build --product \(Self.program)
          """)
    }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    throw ExitCode(process.terminationReason == .exit ? process.terminationStatus : 1)
  }
}
