import Foundation

/// The results as lines of a table.
enum Table {
  static let header = line(
    "workload", "engine", "durability", "count", "median ms", "min", "max", "ns each", "peak MiB",
    "file MiB")

  static func row(_ result: Result) -> String {
    line(
      result.workload, result.engine, result.durability, "\(result.count)",
      number(result.medianMs, 1), number(result.minMs, 1), number(result.maxMs, 1),
      number(result.medianMs * 1e6 / Double(result.count), 0), number(result.peakRssMib, 0),
      number(Double(result.fileBytes) / 1_048_576, 1))
  }

  private static func line(_ cells: String...) -> String {
    let widths = [18, 14, 11, 9, 10, 9, 9, 8, 9, 9]
    return zip(cells, widths).enumerated().map { index, cell in
      let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index < 3 ? cell.0 + padding : padding + cell.0
    }.joined(separator: " ")
  }

  private static func number(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }
}
