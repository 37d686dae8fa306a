import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// A runner of workloads, with each run in a new process and a new directory.
struct Runner {
  let runs: Int
  var isCold = false
  /// The number of cores of a run; nil for all.
  var cores: Int?

  /// Measures engines with the same workload.
  ///
  /// They alternate, so that other work of the machine affects all of them equally.
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

  /// Performs one run with a copy of the prepared directory.
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

  /// Starts a program through the launcher, and waits until both have ended.
  ///
  /// - Returns: The output of the program, and the launcher's line about the whole process.
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

/// The answer of a program.
struct Answer: Decodable {
  /// The time from before the store was opened until it was closed.
  let milliseconds: Double
  /// The peak memory of the process.
  let peakMiB: Double
  /// The times of single operations, for a workload that measures them.
  let latencies: Latencies?
}

/// The launcher's measurements of a process.
struct ProcessCost {
  let milliseconds: Double
  /// The bytes written to the disk, in whole pages.
  let writtenBytes: Int
  /// The peak memory without pages of mapped files.
  let ownMiB: Double

  init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 3, let time = Double(words[0]), let bytes = Int(words[1]),
      let memory = Double(words[2])
    else { return nil }
    (milliseconds, writtenBytes, ownMiB) = (time, bytes, memory)
  }
}

/// An error of a program that failed to do its work.
struct RunFailure: Error, CustomStringConvertible {
  let workload: String
  let engine: String
  var description: String { "\(workload) failed on \(engine)" }
}
