import Foundation
import SpeedWorkloads

/// A bar chart of the results: times as multiples of SQLite's, on a logarithmic scale.
///
/// A bar to the left of the line is faster than SQLite.
struct Chart {
  let results: [Result]
  let conditions: Conditions

  private let width = 860.0
  private let labelWidth = 260.0
  private let barHeight = 13.0
  private let top = 96.0

  /// The engines with bars, each with its position among the colors.
  private var contestants: [(position: Int, contestant: Contestant)] {
    Contestant.all(rivals: nil).filter { contestant in
      contestant.name != Contestant.yardstick
        && results.contains { $0.engine == contestant.name && ratio($0) != nil }
    }.enumerated().map { ($0, $1) }
  }

  private func ratio(_ result: Result) -> Double? { result.ratio(among: results) }

  /// Returns the position of a ratio on the scale.
  private func x(_ ratio: Double) -> Double {
    let (low, high) = bounds
    let share = (log2(ratio) - low) / (high - low)
    return labelWidth + share * (width - labelWidth - 70)
  }

  /// The powers of two that enclose all ratios.
  private var bounds: (low: Double, high: Double) {
    let powers = results.compactMap(ratio).map { log2($0) }
    return (min(-1, (powers.min() ?? 0).rounded(.down)), max(1, (powers.max() ?? 0).rounded(.up)))
  }

  func write(to path: String) throws {
    var y = top
    let groups = yardsticks.map { yardstick in
      let text = group(of: yardstick, at: y)
      y += height(of: yardstick)
      return text
    }
    let svg = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(text(width)) \(text(y + 10))" \
      font-family="sans-serif" font-size="12">
      \(style)
      <text x="0" y="20" font-size="16" font-weight="bold">Time as a multiple of SQLite's in C</text>
      <text x="0" y="40" class="quiet">\(conditions.machine). Shorter is better: \
      left of the line is faster than SQLite.</text>
      \(legend)
      \(grid(to: y))
      \(groups.joined(separator: "\n"))
      </svg>

      """
    try svg.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private var yardsticks: [Result] { results.filter { $0.engine == Contestant.yardstick } }

  private func members(of yardstick: Result) -> [(position: Int, result: Result)] {
    contestants.compactMap { position, contestant in
      results.first { $0.engine == contestant.name && $0.isComparable(with: yardstick) }
        .map { (position, $0) }
    }
  }

  private func height(of yardstick: Result) -> Double {
    Double(max(2, members(of: yardstick).count)) * (barHeight + 2) + 12
  }

  private func group(of yardstick: Result, at y: Double) -> String {
    let bars = members(of: yardstick).enumerated().map { row, member in
      bar(member.result, colour: member.position, at: y + Double(row) * (barHeight + 2))
    }
    return """
      <text x="0" y="\(text(y + 11))" font-weight="bold">\(yardstick.workload)</text>
      <text x="0" y="\(text(y + 26))" class="quiet">\(format(Double(yardstick.count), 0)), \
      \(yardstick.durability), SQLite \(milliseconds(yardstick.medianMs)) ms</text>
      \(bars.joined(separator: "\n"))
      """
  }

  private func bar(_ result: Result, colour: Int, at y: Double) -> String {
    let ratio = ratio(result) ?? 1
    let (from, to) = (min(x(1), x(ratio)), max(x(1), x(ratio)))
    return """
      <rect class="c\(colour)" x="\(text(from))" y="\(text(y))" \
      width="\(text(max(1, to - from)))" height="\(text(barHeight))"/>
      <text x="\(text(to + 5))" y="\(text(y + 11))" class="quiet">\(format(ratio, 2))</text>
      """
  }

  private var legend: String {
    var (left, y) = (0.0, 49.0)
    return contestants.map { position, contestant in
      let room = 30 + Double(contestant.title.count) * 7
      if left + room > width { (left, y) = (0, y + 17) }
      defer { left += room }
      return """
        <rect class="c\(position)" x="\(text(left))" y="\(text(y))" width="12" height="12"/>
        <text x="\(text(left + 17))" y="\(text(y + 10))">\(contestant.title)</text>
        """
    }.joined(separator: "\n")
  }

  private func grid(to bottom: Double) -> String {
    let (low, high) = bounds
    return stride(from: low, through: high, by: 1).map { power in
      let position = text(x(exp2(power)))
      let label = power < 0 ? "1/\(Int(exp2(-power)))" : "\(Int(exp2(power)))"
      return """
        <line class="\(power == 0 ? "one" : "grid")" x1="\(position)" x2="\(position)" \
        y1="\(text(top - 6))" y2="\(text(bottom))"/>
        <text x="\(position)" y="\(text(top - 10))" text-anchor="middle" class="quiet">\(label)</text>
        """
    }.joined(separator: "\n")
  }

  private func text(_ value: Double) -> String { String(format: "%.1f", value) }

  private let style = """
    <style>
    text { fill: #1f2328 } .quiet { fill: #59636e }
    .grid { stroke: #d1d9e0 } .one { stroke: #1f2328; stroke-width: 1.5 }
    .c0 { fill: #0969da } .c1 { fill: #8250df } .c2 { fill: #bf8700 } .c3 { fill: #cf222e }
    .c4 { fill: #6e7781 } .c5 { fill: #1a7f37 } .c6 { fill: #bf3989 }
    @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .quiet { fill: #9198a1 }
    .grid { stroke: #3d444d } .one { stroke: #f0f6fc }
    .c0 { fill: #4493f8 } .c1 { fill: #ab7df8 } .c2 { fill: #d29922 } .c3 { fill: #f85149 }
    .c4 { fill: #9198a1 } .c5 { fill: #3fb950 } .c6 { fill: #db61a2 }
    }
    </style>
    """
}
