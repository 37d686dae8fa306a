import Foundation

/// What one run, in a process of its own, took.
struct Measurement: Codable {
  /// From opening the store to closing it.
  var milliseconds: Double
  /// The most memory that the process had at any time, preparation included where it is not a
  /// process of its own.
  var peakMiB: Double
  var fileBytes: Int
}

/// The runs of one workload on one engine.
struct Result: Encodable {
  let workload: String
  let engine: String
  let durability: String
  let count: Int
  let medianMs: Double
  let minMs: Double
  let maxMs: Double
  let peakRssMib: Double
  let fileBytes: Int

  init(_ workload: any Workload, _ engine: Engine, _ count: Int, _ runs: [Measurement]) {
    let times = runs.map(\.milliseconds).sorted()
    self.workload = workload.name
    self.engine = engine.rawValue
    durability = engine.durability
    self.count = count
    medianMs = times[times.count / 2]
    minMs = times[0]
    maxMs = times[times.count - 1]
    peakRssMib = runs.map(\.peakMiB).max() ?? 0
    fileBytes = runs[0].fileBytes
  }
}

/// What `--json` writes.
struct Report: Encodable {
  let results: [Result]
}

/// The peak memory of this process, as the kernel counts it.
func peakMemoryInMiB() -> Double {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  let kibibytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
  return (kibibytes.flatMap { Double($0) } ?? 0) / 1024
}
