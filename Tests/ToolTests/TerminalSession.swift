import Foundation
import ProgramTesting
import Testing

/// The tool at a terminal of its own, with somebody who answers its questions.
struct TerminalSession {
  static let script = "/usr/bin/script"
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ tool: ProgramDirectory, _ command: String) throws {
    process.executableURL = URL(fileURLWithPath: Self.script)
    let program = try ProgramDirectory.executable("stored-objects").path
    process.arguments = ["-qec", "\"\(program)\" \(command)", "/dev/null"]
    process.currentDirectoryURL = tool.folder
    (process.standardInput, process.standardOutput) = (input, output)
  }

  /// Types each answer when its question is there; what was on the screen in the end.
  func answer(
    _ answers: [(question: String, answer: String)]
  ) throws -> (status: Int32, output: String) {
    try process.run()
    var screen = Data()
    var answered = 0
    for (question, answer) in answers {
      while screen.dropFirst(answered).range(of: Data(question.utf8)) == nil {
        let part = output.fileHandleForReading.availableData
        try #require(!part.isEmpty, "\(String(decoding: screen, as: UTF8.self))")
        screen += part
      }
      answered = screen.count
      try input.fileHandleForWriting.write(contentsOf: Data("\(answer)\n".utf8))
    }
    screen += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: screen, as: UTF8.self))
  }
}
