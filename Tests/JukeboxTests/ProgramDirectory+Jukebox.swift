import Foundation
import ProgramTesting

extension ProgramDirectory {
  /// Writes a file and gives its path.
  func write(_ data: Data, _ name: String) throws -> String {
    try data.write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// Runs a command on the store "Music" in the directory, to its end.
  func run(_ arguments: String...) throws -> ProgramRun {
    try runBare(arguments + ["--store", path("Music")])
  }

  /// Runs the program with these arguments and no others.
  func runBare(_ arguments: [String]) throws -> ProgramRun { try run("jukebox", arguments) }
}
