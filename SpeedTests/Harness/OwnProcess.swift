import Foundation

/// Another process, by default of this program.
struct OwnProcess {
  private let process = Process()
  private let output = Pipe()

  /// Starts the process.
  init(_ arguments: [String], of program: String = "/proc/self/exe") throws {
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// Waits until the process ends, and returns the lines of its output.
  func lines() -> [String] {
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
