import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// What one run took.
struct Measurement {
  let milliseconds: Double
  let peakMiB: Double
  let fileBytes: Int
  let process: ProcessCost
  let latencies: Latencies?
}

/// The runs of one workload on one engine.
struct Result: Codable {
  let workload: String
  let engine: String
  let durability: String
  let count: Int
  let operations: Int
  /// How many cores each run had; nil for all.
  let cores: Int?
  let medianMs: Double
  let minMs: Double
  let maxMs: Double
  let peakRssMib: Double
  let fileBytes: Int
  /// What a run wrote to the disk.
  let writtenBytes: Int
  /// The peak memory without pages of files that are mapped.
  let ownMib: Double
  let latencies: LatencySummary?

  init(_ group: Group, _ contestant: Contestant, cores: Int?, _ runs: [Measurement]) {
    let times = runs.map(\.milliseconds).sorted()
    workload = group.workload.name
    engine = contestant.name
    durability = contestant.durability(group.durability).rawValue
    count = group.count
    operations = group.operations
    self.cores = cores
    medianMs = median(times)
    minMs = times[0]
    maxMs = times[times.count - 1]
    peakRssMib = runs.map(\.peakMiB).max() ?? 0
    fileBytes = runs.map(\.fileBytes).max() ?? 0
    writtenBytes = Int(median(runs.map { Double($0.process.writtenBytes) }))
    ownMib = runs.map(\.process.ownMiB).max() ?? 0
    latencies = LatencySummary(runs.compactMap(\.latencies))
  }

  /// Whether both are the same work.
  func isComparable(with other: Result) -> Bool {
    workload == other.workload && count == other.count && operations == other.operations
      && durability == other.durability && cores == other.cores
  }

  /// Whether it was timed inside the process: what has to be prepared there always is.
  var isInside: Bool {
    let workload = workloads.first { $0.name == self.workload }
    return workload?.timing == .inside || !outlivesProcess
  }

  private var outlivesProcess: Bool {
    engines.first { $0.name == engine }?.outlivesProcess ?? true
  }

  /// The time as a multiple of the yardstick's, at the same work and durability.
  func ratio(among results: [Result]) -> Double? {
    guard outlivesProcess else { return nil }
    let yardstick = results.first { $0.engine == Contestant.yardstick && isComparable(with: $0) }
    return yardstick.map { medianMs / $0.medianMs }
  }
}

/// What `--json` writes, and `--from` reads.
struct Report: Codable {
  let results: [Result]

  init(results: [Result]) { self.results = results }

  init(from path: String) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    self = try decoder.decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: URL(fileURLWithPath: path))
  }
}

/// The middle one of some numbers.
func median(_ numbers: [Double]) -> Double {
  let sorted = numbers.sorted()
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// A number with so many digits behind the point, and commas between thousands.
func format(_ value: Double, _ digits: Int) -> String {
  let text = String(format: "%.\(digits)f", abs(value))
  let whole = text.prefix { $0 != "." }
  let grouped = whole.enumerated().map { workspace, digit in
    workspace > 0 && (whole.count - workspace) % 3 == 0 ? ",\(digit)" : "\(digit)"
  }.joined()
  return (value < 0 ? "-" : "") + grouped + text.dropFirst(whole.count)
}

/// Milliseconds with as many digits as mean something.
func milliseconds(_ value: Double) -> String { format(value, value < 10 ? 2 : value < 100 ? 1 : 0) }
