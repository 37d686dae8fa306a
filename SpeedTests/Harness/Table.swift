/// The results as lines of a table in a terminal.
enum Table {
  private static let table = TextTable(
    widths: [17, 16, 10, 10, 10, 8, 8, 9, 10, 8, 8, 7], leading: 3)

  static let header = table.line([
    "workload", "engine", "durability", "count", "median ms", "min", "max", "to SQLite",
    "us each", "peak MiB", "file MiB", "timed",
  ])

  static func row(_ result: Result, among results: [Result]) -> String {
    table.line([
      result.workload, result.engine, result.durability, format(Double(result.count), 0),
      milliseconds(result.medianMs), milliseconds(result.minMs), milliseconds(result.maxMs),
      result.ratio(among: results).map { format($0, 2) } ?? "-",
      format(result.medianMs * 1e3 / Double(result.operations), 2), format(result.peakRssMib, 0),
      format(Double(result.fileBytes) / 1_048_576, 1), result.isInside ? "inside" : "process",
    ])
  }
}

/// A table of text: the leading columns are left-aligned, the others right-aligned.
struct TextTable {
  let widths: [Int]
  let leading: Int

  func line(_ cells: [String]) -> String {
    zip(cells, widths).enumerated().map { index, cell in
      let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index < leading ? cell.0 + padding : padding + cell.0
    }.joined(separator: " ")
  }
}
