import SpeedWorkloads

/// The latencies of one workload on one engine in milliseconds, each the median of all runs.
struct LatencySummary: Codable {
  let p50: Double
  let p99: Double
  let p999: Double
  let longest: Double
  /// The maximum of all runs.
  let longestOfAll: Double

  init?(_ runs: [Latencies]) {
    guard let most = runs.map(\.longest).max() else { return nil }
    p50 = median(runs.map(\.p50))
    p99 = median(runs.map(\.p99))
    p999 = median(runs.map(\.p999))
    longest = median(runs.map(\.longest))
    longestOfAll = most
  }
}

/// The second table, with the results of workloads that measure single operations.
enum LatencyTable {
  static let head = [
    "durability", "count", "times", "each s", "p50 ms", "p99", "p99.9", "longest", "of all",
    "written MiB", "own MiB",
  ]
  private static let table = TextTable(
    widths: [17, 16, 10, 10, 9, 8, 8, 8, 8, 8, 8, 11, 8], leading: 3)

  /// The lines of the table; none without such results.
  static func lines(_ results: [Result]) -> [String] {
    let rows = results.compactMap { result in
      cells(result).map { table.line([result.workload, result.engine] + $0) }
    }
    return rows.isEmpty ? [] : ["", table.line(["workload", "engine"] + head)] + rows
  }

  /// The cells under the ``head``, or nil for a result without latencies.
  static func cells(_ result: Result) -> [String]? {
    guard let latencies = result.latencies else { return nil }
    let times = [
      latencies.p50, latencies.p99, latencies.p999, latencies.longest, latencies.longestOfAll,
    ]
    return [
      result.durability, format(Double(result.count), 0), format(Double(result.operations), 0),
      format(Double(result.operations) * 1e3 / result.medianMs, 0),
    ] + times.map(milliseconds) + [
      format(Double(result.writtenBytes) / 1_048_576, 1), format(result.ownMib, 0),
    ]
  }
}
