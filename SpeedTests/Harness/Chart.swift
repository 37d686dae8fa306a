import Foundation
import SpeedWorkloads

/// Small bar charts of the results, one for each workload: times as multiples of SQLite's, on a
/// logarithmic scale.
///
/// A bar to the left of the line is faster than SQLite.
struct Chart {
  let results: [Result]
  let conditions: Conditions

  private let width = 900.0
  private let columns = 5
  private let barHeight = 6.0
  private let barsTop = 36.0
  private let top = 108.0
  /// The powers of two at which bars end.
  private let bounds = (low: -3.0, high: 3.0)

  /// The engines with bars, each with its position among the colors.
  private var contestants: [(position: Int, contestant: Contestant)] {
    Contestant.all(rivals: nil).filter { contestant in
      contestant.name != Contestant.yardstick
        && results.contains { $0.engine == contestant.name && ratio($0) != nil }
    }.enumerated().map { ($0, $1) }
  }

  private func ratio(_ result: Result) -> Double? { result.ratio(among: results) }

  private var panelWidth: Double { width / Double(columns) }
  private var panelHeight: Double {
    barsTop + Double(contestants.count) * (barHeight + 1) + 16
  }

  func write(to path: String) throws {
    let panels = yardsticks.enumerated().map { index, yardstick in
      panel(
        of: yardstick, x: Double(index % columns) * panelWidth,
        y: top + Double(index / columns) * panelHeight)
    }
    let rows = (panels.count + columns - 1) / columns
    let svg = """
      <svg xmlns="http://www.w3.org/2000/svg" \
      viewBox="0 0 \(text(width)) \(text(top + Double(rows) * panelHeight))" \
      font-family="sans-serif" font-size="11">
      \(style)
      <text x="0" y="20" font-size="16" font-weight="bold">Time as a multiple of SQLite's in C</text>
      <text x="0" y="38" class="quiet">\(conditions.machine). Left of the line is faster than \
      SQLite, whose time is below each name. A bar ends at 1/8 or 8.</text>
      <text x="0" y="53" class="quiet">The number is that of \
      \(contestants.first?.contestant.title ?? "").</text>
      \(legend)
      \(panels.joined(separator: "\n"))
      </svg>

      """
    try svg.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private var yardsticks: [Result] {
    results.filter { $0.engine == Contestant.yardstick && !members(of: $0).isEmpty }
  }

  private func members(of yardstick: Result) -> [(position: Int, result: Result)] {
    contestants.compactMap { position, contestant in
      results.first { $0.engine == contestant.name && $0.isComparable(with: yardstick) }
        .map { (position, $0) }
    }
  }

  // MARK: A workload

  private func panel(of yardstick: Result, x: Double, y: Double) -> String {
    let members = members(of: yardstick)
    let bars = members.compactMap { position, result in
      ratio(result).map { bar($0, position) }
    }
    let own = members.first { $0.position == 0 }.flatMap { ratio($0.result) }
    let bottom = barsTop + Double(contestants.count) * (barHeight + 1)
    return """
      <g transform="translate(\(text(x)) \(text(y)))">
      <title>\(members.map(description).joined(separator: ", "))</title>
      <text y="11" font-weight="bold">\(yardstick.workload)</text>
      <text x="\(text(panelWidth - 14))" y="11" text-anchor="end" font-weight="bold">\
      \(own.map { format($0, 2) } ?? "")</text>
      <text y="26" class="quiet">\(format(Double(yardstick.count), 0)), \
      \(yardstick.durability), \(milliseconds(yardstick.medianMs)) ms</text>
      <line class="grid" x1="0" x2="\(text(panelWidth - 14))" y1="\(text(bottom))" \
      y2="\(text(bottom))"/>
      \(bars.joined(separator: "\n"))
      <line class="one" x1="\(text(position(1)))" x2="\(text(position(1)))" \
      y1="\(text(barsTop - 3))" y2="\(text(bottom + 3))"/>
      </g>
      """
  }

  private func description(_ member: (position: Int, result: Result)) -> String {
    "\(contestants[member.position].contestant.title) \(format(ratio(member.result) ?? 1, 2))"
  }

  private func bar(_ ratio: Double, _ row: Int) -> String {
    let (from, to) = (min(position(1), position(ratio)), max(position(1), position(ratio)))
    return """
      <rect class="c\(row)" x="\(text(from))" \
      y="\(text(barsTop + Double(row) * (barHeight + 1)))" width="\(text(max(1, to - from)))" \
      height="\(text(barHeight))"/>
      """
  }

  /// Returns the horizontal position of a ratio in a panel.
  private func position(_ ratio: Double) -> Double {
    let power = min(max(log2(ratio), bounds.low), bounds.high)
    return (power - bounds.low) / (bounds.high - bounds.low) * (panelWidth - 14)
  }

  // MARK: Labels

  private var legend: String {
    var (left, y) = (0.0, 63.0)
    return contestants.map { position, contestant in
      let room = 34 + Double(contestant.title.count) * 6.2
      if left + room > width { (left, y) = (0, y + 18) }
      defer { left += room }
      return """
        <rect class="c\(position)" x="\(text(left))" y="\(text(y))" width="11" height="11"/>
        <text x="\(text(left + 16))" y="\(text(y + 10))">\(contestant.title)</text>
        """
    }.joined(separator: "\n")
  }

  private func text(_ value: Double) -> String { String(format: "%.1f", value) }

  private let style = """
    <style>
    text { fill: #1f2328 } .quiet { fill: #59636e }
    .grid { stroke: #d1d9e0 } .one { stroke: #1f2328; stroke-width: 1.5 }
    .c0 { fill: #0969da } .c1 { fill: #8250df } .c2 { fill: #bf8700 } .c3 { fill: #cf222e }
    .c4 { fill: #6e7781 } .c5 { fill: #1a7f37 } .c6 { fill: #bf3989 } .c7 { fill: #953800 }
    @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .quiet { fill: #9198a1 }
    .grid { stroke: #3d444d } .one { stroke: #f0f6fc }
    .c0 { fill: #4493f8 } .c1 { fill: #ab7df8 } .c2 { fill: #d29922 } .c3 { fill: #f85149 }
    .c4 { fill: #9198a1 } .c5 { fill: #3fb950 } .c6 { fill: #db61a2 } .c7 { fill: #f0883e }
    }
    </style>
    """
}
