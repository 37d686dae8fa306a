import SpeedWorkloads

/// The results as lines of a table in a terminal.
enum Table {
  static let header = line(
    "workload", "engine", "durability", "count", "median ms", "min", "max", "to SQLite",
    "us each", "peak MiB", "file MiB", "timed")

  static func row(_ result: Result, among results: [Result]) -> String {
    let workload = workloads.first { $0.name == result.workload }
    let operations = workload?.operations(result.count) ?? result.count
    return line(
      result.workload, result.engine, result.durability, format(Double(result.count), 0),
      milliseconds(result.medianMs), milliseconds(result.minMs), milliseconds(result.maxMs),
      result.ratio(among: results).map { format($0, 2) } ?? "-",
      format(result.medianMs * 1e3 / Double(operations), 2), format(result.peakRssMib, 0),
      format(Double(result.fileBytes) / 1_048_576, 1), result.isInside ? "inside" : "process")
  }

  private static func line(_ cells: String...) -> String {
    let widths = [17, 16, 10, 10, 10, 8, 8, 9, 10, 8, 8, 7]
    return zip(cells, widths).enumerated().map { index, cell in
      let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index < 3 ? cell.0 + padding : padding + cell.0
    }.joined(separator: " ")
  }
}
