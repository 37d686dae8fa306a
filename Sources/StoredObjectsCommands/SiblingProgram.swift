import ArgumentParser
import Foundation

/// A program in the same directory, which is built separately because of a library that it needs.
struct SiblingProgram {
  let name: String
  /// The library that the program needs, and its Debian package.
  let need: (what: String, package: String)

  /// The program that imports files of YTKKeyValueStore.
  static let importYTK = SiblingProgram(
    name: "stored-objects-import-ytk", need: ("SQLite", "libsqlite3-dev"))
  /// The program that imports encrypted files of YTKKeyValueStore.
  static let importSQLCipher = SiblingProgram(
    name: "stored-objects-import-sqlcipher", need: ("SQLCipher", "libsqlcipher-dev"))
  /// This tool with support for stores on servers.
  static let postgreSQL = SiblingProgram(
    name: "stored-objects-postgresql", need: ("libpq", "libpq-dev"))

  /// The error for a missing program.
  var missing: Failure {
    Failure(
      description: """
        \(name) is not in the directory of this program. It needs \(need.what), and is built \
        separately: apt-get install \(need.package), then swift build --product \(name)
        """)
  }

  /// Runs the program, and exits with its exit code.
  ///
  /// - Throws: The exit code; `Failure` if the program is missing.
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
