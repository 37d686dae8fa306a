import ArgumentParser
import Foundation
import SpeedWorkloads

/// The results as the tables in the README of the speed tests.
enum Readme {
  /// The file, from the folder of the repository, which `./dev bench` starts in.
  static let path = "SpeedTests/README.md"

  private static let beginning = "<!-- Written by ./dev bench --update-readme, from here -->"
  private static let end = "<!-- to here -->"
  private static let ours = "tokyo-cabinet"

  /// Replaces the text between the two marks.
  ///
  /// - Throws: `ValidationError` if the file has no marks, and the errors of reading and writing.
  static func update(_ results: [Result], _ conditions: Conditions) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard let from = text.range(of: beginning), let to = text.range(of: end),
      from.upperBound <= to.lowerBound
    else {
      throw ValidationError("\(path) has no marks to write between.")
    }
    let tables = section(results, conditions)
    let updated = text[..<from.upperBound] + "\n\n\(tables)\n\n" + text[to.lowerBound...]
    try updated.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private static func section(_ results: [Result], _ conditions: Conditions) -> String {
    """
    \(conditions.text)

    \(times(results))

    Times are in milliseconds. The number in parentheses is the ratio to the time of SQLite in C.
    (i) marks times inside the process. All other times are of whole processes.

    \(sizes(results))\(latencies(results))
    """
  }

  /// Returns groups of results of the same work, in order.
  private static func groups(_ results: [Result]) -> [[Result]] {
    results.reduce(into: [[Result]]()) { groups, result in
      let index = groups.firstIndex {
        $0[0].workload == result.workload
          && $0[0].count == result.count
          && ($0[0].durability == result.durability || result.durability == "none")
      }
      if let index { groups[index].append(result) } else { groups.append([result]) }
    }
  }

  private static func times(_ results: [Result]) -> String {
    let columns = Contestant.all(rivals: nil).filter { contestant in
      results.contains { $0.engine == contestant.name }
    }
    let head = ["Workload", "Count", "Durability"] + columns.map(\.title)
    let rows = groups(results).map { group in
      let workload = workloads.first { $0.name == group[0].workload }
      let mark = workload?.timing == .inside ? " (i)" : ""
      return [group[0].workload + mark, format(Double(group[0].count), 0), group[0].durability]
        + columns.map { column in time(group.first { $0.engine == column.name }, group) }
    }
    return table(head, rows, leading: 1)
  }

  private static func time(_ result: Result?, _ group: [Result]) -> String {
    guard let result else { return "" }
    let text = milliseconds(result.medianMs)
    guard result.engine == ours, let ratio = result.ratio(among: group) else { return text }
    return "\(text) (\(format(ratio, 2)))"
  }

  /// Returns the memory and file sizes of our engines, and of the yardstick.
  private static func sizes(_ results: [Result]) -> String {
    let head = [
      "Workload", "Count", "Peak memory, MiB", "of SQLite", "Files, MiB", "of SQLite",
    ]
    // Durability changes neither of them.
    let first = groups(results).reduce(into: [[Result]]()) { groups, group in
      let isKnown = groups.contains {
        $0[0].workload == group[0].workload && $0[0].count == group[0].count
      }
      if !isKnown { groups.append(group) }
    }
    let rows: [[String]] = first.compactMap { group in
      guard let own = group.first(where: { $0.engine == ours }),
        let other = group.first(where: { $0.engine == Contestant.yardstick })
      else { return nil }
      return [own.workload, format(Double(own.count), 0)]
        + [own.peakRssMib, other.peakRssMib].map { format($0, 0) }
        + [own.fileBytes, other.fileBytes].map { format(Double($0) / 1_048_576, 1) }
    }
    return table(head, rows, leading: 1)
  }

  /// Returns the times of single operations, for workloads that measure them; otherwise an empty
  /// text.
  private static func latencies(_ results: [Result]) -> String {
    let titles = Contestant.all(rivals: nil).map { ($0.name, $0.title) }
    let rows = results.compactMap { result in
      LatencyTable.cells(result).map { cells in
        [result.workload, titles.first { $0.0 == result.engine }?.1 ?? result.engine] + cells
      }
    }
    if rows.isEmpty { return "" }
    let head = LatencyTable.head.map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return """


      Latencies are in milliseconds. Each is the median of the runs. "Of all" is the longest in any run.
      "Own" is the peak memory without mapped files.

      \(table(["Workload", "Engine"] + head, rows, leading: 3))
      """
  }

  private static func table(_ head: [String], _ rows: [[String]], leading: Int) -> String {
    let rule = head.indices.map { $0 < leading ? "---" : "---:" }
    return ([head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
      .joined(separator: "\n")
  }
}
