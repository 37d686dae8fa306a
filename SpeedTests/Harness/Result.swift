import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// The costs of one run.
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
  /// The number of cores of each run; nil for all.
  let cores: Int?
  let medianMs: Double
  let minMs: Double
  let maxMs: Double
  let peakRssMib: Double
  let fileBytes: Int
  /// The bytes that a run wrote to the disk.
  let writtenBytes: Int
  /// The peak memory without pages of mapped files.
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

  /// Whether both results are of the same work.
  func isComparable(with other: Result) -> Bool {
    workload == other.workload && count == other.count && operations == other.operations
      && durability == other.durability && cores == other.cores
  }

  /// Whether the run was timed inside the process, as always for an engine that has to be prepared
  /// there.
  var isInside: Bool {
    let workload = workloads.first { $0.name == self.workload }
    return workload?.timing == .inside || !outlivesProcess
  }

  private var outlivesProcess: Bool {
    engines.first { $0.name == engine }?.outlivesProcess ?? true
  }

  /// Returns the time as a multiple of the yardstick's, for the same work and durability.
  func ratio(among results: [Result]) -> Double? {
    guard outlivesProcess else { return nil }
    let yardstick = results.first { $0.engine == Contestant.yardstick && isComparable(with: $0) }
    return yardstick.map { medianMs / $0.medianMs }
  }
}

/// The report that `--json` writes and `--from` reads.
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

/// Returns the median of some numbers.
func median(_ numbers: [Double]) -> Double {
  let sorted = numbers.sorted()
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// Returns a number with a number of decimals, and commas between thousands.
func format(_ value: Double, _ digits: Int) -> String {
  let text = String(format: "%.\(digits)f", abs(value))
  let whole = text.prefix { $0 != "." }
  let grouped = whole.enumerated().map { workspace, digit in
    workspace > 0 && (whole.count - workspace) % 3 == 0 ? ",\(digit)" : "\(digit)"
  }.joined()
  return (value < 0 ? "-" : "") + grouped + text.dropFirst(whole.count)
}

/// Returns milliseconds with only the significant decimals.
func milliseconds(_ value: Double) -> String { format(value, value < 10 ? 2 : value < 100 ? 1 : 0) }
