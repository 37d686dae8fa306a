import ArgumentParser
import Foundation
import SpeedWorkloads

/// Compares the constant database with libcdb, alternately, with each step in a new process.
struct ConstantDatabases: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdb", abstract: "Compare CDB with libcdb in C, at the same work.")

  @Option(help: "How many records.") var count = 1_000_000
  @Option(help: "How often to run each; the least time counts.") var runs = 15
  @Option(help: .hidden) var rivals: String?

  func run() throws {
    try refuseDebugBuild()
    let theirs = URL(fileURLWithPath: rivals ?? "/nonexistent").appending(path: "cdb-rival")
    guard FileManager.default.isExecutableFile(atPath: theirs.path) else {
      throw ValidationError("cdb-rival is not built: ./dev bench cdb builds it.")
    }
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "speedtests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    print(
      "\(count) records, keys of 8 bytes, values of 30, the least of \(runs) runs; libcdb : CDB")
    for step in ConstantDatabase.Step.allCases {
      let times = try measure(step, [theirs, ownProgram("speedtests-worker")], folder)
      print(
        String(
          format: "%@: %.1f ms : %.1f ms, %.2f", step.rawValue, times[0], times[1],
          times[1] / times[0]))
    }
  }

  private func measure(
    _ step: ConstantDatabase.Step, _ programs: [URL], _ folder: URL
  ) throws -> [Double] {
    var best = programs.map { _ in Double.infinity }
    for run in 0..<runs {
      // The second one runs on a machine in the state that the first has left, so they also
      // alternate in the order.
      for index in run % 2 == 0 ? [0, 1] : [1, 0] {
        // Both read the same file, and overwrite none.
        let file = folder.appending(path: "records.cdb")
        if step == .write { try? FileManager.default.removeItem(at: file) }
        best[index] = min(best[index], try time(programs[index], step, file))
      }
    }
    return best
  }

  private func time(_ program: URL, _ step: ConstantDatabase.Step, _ file: URL) throws -> Double {
    let process = Process()
    process.executableURL = program
    process.arguments = ["cdb", step.rawValue, file.path, "\(count)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard process.terminationStatus == 0, let milliseconds = Double(text) else {
      throw RunFailure(workload: "cdb \(step.rawValue)", engine: program.lastPathComponent)
    }
    return milliseconds
  }
}
