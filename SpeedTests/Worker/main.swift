// One step of one run, in a process of its own:
// speedtests-worker one --workload W --engine E --count N --directory D --durability L
//   --step prepare|run
//
// What it took goes to the standard output as JSON. The programs of the rivals take and answer the
// same. There is no Foundation in here, because a process with it takes longer to start.
import Files
import SpeedWorkloads
import StoredObjectsCore

/// The command line can't be followed.
struct Misuse: Error, CustomStringConvertible {
  let description: String
}

/// The value that follows a name on the command line.
func option(_ name: String) throws -> String {
  let words = CommandLine.arguments
  guard let index = words.firstIndex(of: name), index + 1 < words.count else {
    throw Misuse(description: "\(name) is missing")
  }
  return words[index + 1]
}

/// One of those that there are, by its name.
func find<Thing>(_ kind: String, in things: [Thing], by name: (Thing) -> String) throws -> Thing {
  let wanted = try option(kind)
  guard let found = things.first(where: { name($0) == wanted }) else {
    throw Misuse(description: "there is no \(wanted) for \(kind)")
  }
  return found
}

/// The peak memory of this process, as the kernel counts it.
func peakMiB() throws -> Double {
  let bytes = try firstBytes(of: "/proc/self/status", count: 4096)
  let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  let words = lines.first { $0.hasPrefix("VmHWM:") }?.split { $0 == " " || $0 == "\t" }
  return (words.flatMap { Double($0[1]) } ?? 0) / 1024
}

/// The place of the run.
///
/// It lives until the process ends, and so do the objects that a workload keeps.
var place: Place?

if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "cdb" {
  // cdb STEP FILE COUNT, for the comparison with libcdb: it prints the milliseconds of the step.
  let words = CommandLine.arguments
  guard let step = ConstantDatabase.Step(rawValue: words[2]), let count = UInt32(words[4]) else {
    throw Misuse(description: "cdb STEP FILE COUNT")
  }
  let elapsed = try ContinuousClock().measure { try ConstantDatabase.run(step, words[3], count) }
  print(elapsed / .milliseconds(1))
} else {
  let workload = try find("--workload", in: workloads) { $0.name }
  let engine = try find("--engine", in: engines) { $0.name }
  let durability = try find("--durability", in: Durability.allCases) { $0.rawValue }
  let count = Int(try option("--count")) ?? 0
  let new = Place(engine: engine, directory: try option("--directory"), durability: durability)
  place = new
  if try option("--step") == "prepare" {
    try workload.prepare(new, count)
  } else {
    if !engine.outlivesProcess { try workload.prepare(new, count) }
    let elapsed = try ContinuousClock().measure { try workload.run(new, count) }
    let milliseconds = elapsed / .milliseconds(1)
    print("{\"milliseconds\": \(milliseconds), \"peakMiB\": \(try peakMiB())}")
  }
}
