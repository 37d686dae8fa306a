import Foundation
import StoredObjectsCore

/// An error of the command line.
package struct Misuse: Error, CustomStringConvertible {
  package let description: String

  /// Creates an error with its description.
  package init(description: String) { self.description = description }
}

/// Returns the value that follows a name on the command line.
private func option(_ name: String) throws -> String {
  let words = CommandLine.arguments
  guard let index = words.firstIndex(of: name), index + 1 < words.count else {
    throw Misuse(description: "\(name) is missing")
  }
  return words[index + 1]
}

/// Returns one of the available things by its name.
private func find<Thing>(_ kind: String, in things: [Thing], by name: (Thing) -> String) throws
  -> Thing
{
  let wanted = try option(kind)
  guard let found = things.first(where: { name($0) == wanted }) else {
    throw Misuse(description: "there is no \(wanted) for \(kind)")
  }
  return found
}

/// Returns the peak memory of this process, as counted by the kernel.
private func peakMiB() throws -> Double {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let lines = status.split(separator: "\n")
  let words = lines.first { $0.hasPrefix("VmHWM:") }?.split { $0 == " " || $0 == "\t" }
  return (words.flatMap { Double($0[1]) } ?? 0) / 1024
}

/// Runs the step that the command line names, on one of the engines.
///
/// - Returns: The workspace of the run. It must live until the process ends, and so must the
///   objects that a workload keeps.
package func runStep(on engines: [any Engine]) throws -> Workspace {
  let workload = try find("--workload", in: workloads) { $0.name }
  let engine = try find("--engine", in: engines) { $0.name }
  let durability = try find("--durability", in: Durability.allCases) { $0.rawValue }
  let count = Int(try option("--count")) ?? 0
  let workspace = Workspace(
    engine: engine, directory: try option("--directory"), durability: durability,
    operations: Int(try option("--operations")) ?? 0)
  if try option("--step") == "prepare" {
    try workload.prepare(workspace, count)
  } else {
    if !engine.outlivesProcess { try workload.prepare(workspace, count) }
    let elapsed = try ContinuousClock().measure { try workload.run(workspace, count) }
    let milliseconds = elapsed / .milliseconds(1)
    let latencies = workspace.latencies.latencies.map { ", \"latencies\": \($0.json)" } ?? ""
    print("{\"milliseconds\": \(milliseconds), \"peakMiB\": \(try peakMiB())\(latencies)}")
  }
  return workspace
}
