import Foundation

/// Another process: of this program, if nothing else is said.
struct OwnProcess {
  private let process = Process()
  private let output = Pipe()

  /// Starts it.
  init(_ arguments: [String], of program: String = "/proc/self/exe") throws {
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// Waits for its end, and returns the lines of its output.
  func lines() -> [String] {
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
