import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// Runs workloads, each run in a new process with a new directory.
struct Runner {
  let runs: Int
  var isCold = false
  /// How many cores a run has; nil for all.
  var cores: Int?

  /// Measures engines at the same work.
  ///
  /// They take turns, so that what else the machine does hits all of them alike.
  func measure(_ group: Group) throws -> [Result] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "speedtests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let prepared = folder.appending(path: "prepared")
    try FileManager.default.createDirectory(at: prepared, withIntermediateDirectories: true)
    for member in group.members where member.outlivesProcess {
      _ = try start(member, group, prepared.appending(path: member.name), "prepare")
    }
    var measurements = group.members.map { _ in [Measurement]() }
    for _ in 0..<runs {
      for (workspace, member) in group.members.enumerated() {
        measurements[workspace].append(try run(member, group, in: folder))
      }
    }
    return zip(group.members, measurements).map { Result(group, $0, cores: cores, $1) }
  }

  /// One run, with a copy of what was prepared.
  private func run(_ member: Contestant, _ group: Group, in folder: URL) throws -> Measurement {
    let prepared = folder.appending(path: "prepared/\(member.name)")
    let workspace = folder.appending(path: "run")
    defer { try? FileManager.default.removeItem(at: workspace) }
    if FileManager.default.fileExists(atPath: prepared.path) {
      try FileManager.default.copyItem(at: prepared, to: workspace)
      try settle(workspace, isCold: isCold)
    }
    let lines = try start(member, group, workspace, "run").split(separator: "\n")
    guard lines.count == 2, let process = ProcessCost(line: lines[1]) else {
      throw RunFailure(workload: group.workload.name, engine: member.name)
    }
    let answer = try JSONDecoder().decode(Answer.self, from: Data(lines[0].utf8))
    let isInside = group.workload.timing == .inside || !member.outlivesProcess
    return Measurement(
      milliseconds: isInside ? answer.milliseconds : process.milliseconds,
      peakMiB: answer.peakMiB, fileBytes: byteCount(workspace), process: process,
      latencies: answer.latencies)
  }

  /// Has the launcher run a program, and waits until both have ended.
  ///
  /// - Returns: what the program wrote, and the launcher's line about the whole process.
  private func start(
    _ member: Contestant, _ group: Group, _ directory: URL, _ step: String
  ) throws -> String {
    let process = Process()
    process.executableURL = ownProgram("speedtests-launcher")
    process.arguments = [
      "\(cores ?? 0)", member.program.path, "one", "--workload", group.workload.name,
      "--engine", member.name, "--count", "\(group.count)", "--operations",
      "\(group.operations)", "--directory", directory.path, "--durability",
      group.durability.rawValue, "--step", step,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw RunFailure(workload: group.workload.name, engine: member.name)
    }
    return String(decoding: data, as: UTF8.self)
  }
}

/// What a program answers.
struct Answer: Decodable {
  /// From before the store was opened to when it was closed.
  let milliseconds: Double
  /// The most memory that the process had at any time.
  let peakMiB: Double
  /// How long single operations took, of a workload that measures them.
  let latencies: Latencies?
}

/// What the launcher says of a process.
struct ProcessCost {
  let milliseconds: Double
  /// What it wrote to the disk, in whole pages.
  let writtenBytes: Int
  /// The most memory that it had, without pages of files that it maps.
  let ownMiB: Double

  init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 3, let time = Double(words[0]), let bytes = Int(words[1]),
      let memory = Double(words[2])
    else { return nil }
    (milliseconds, writtenBytes, ownMiB) = (time, bytes, memory)
  }
}

/// A program did not do its work.
struct RunFailure: Error, CustomStringConvertible {
  let workload: String
  let engine: String
  var description: String { "\(workload) failed on \(engine)" }
}
