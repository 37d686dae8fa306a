import Foundation

/// An optional program of the machine that gives a second opinion on files.
package struct InstalledProgram: Sendable {
  private let path: String

  /// Finds a program; returns nil if it isn't installed.
  package init?(_ name: String) {
    let paths = ["/usr/bin/\(name)", "/usr/local/bin/\(name)", "/bin/\(name)"]
    guard let path = paths.first(where: FileManager.default.isExecutableFile) else { return nil }
    self.path = path
  }

  /// Runs the program to its end, and returns its standard output and error together.
  package func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }
}
