import ArgumentParser
import Foundation

/// A program beside this one, which is built apart because of what it needs.
struct SiblingProgram {
  let name: String
  /// The library that it needs, and the Debian package of that library.
  let need: (what: String, package: String)

  /// Imports files of YTKKeyValueStore.
  static let importYTK = SiblingProgram(
    name: "stored-objects-import-ytk", need: ("SQLite", "libsqlite3-dev"))
  /// This tool, with stores on servers.
  static let postgreSQL = SiblingProgram(
    name: "stored-objects-postgresql", need: ("libpq", "libpq-dev"))

  /// That it is not there.
  var missing: Failure {
    Failure(
      description: """
        \(name) is not in the directory of this program. It needs \(need.what), and is built \
        separately: apt-get install \(need.package), then swift build --product \(name)
        """)
  }

  /// Runs it to its end.
  ///
  /// - Throws: Its exit code; `Failure` where it is not there.
  func run(_ arguments: [String]) throws -> Never {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = own.deletingLastPathComponent().appendingPathComponent(name)
    guard FileManager.default.isExecutableFile(atPath: program.path) else { throw missing }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    throw ExitCode(process.terminationReason == .exit ? process.terminationStatus : 1)
  }
}
