import ArgumentParser
import Foundation

/// The destinations of the results, in addition to the terminal.
struct Outputs: ParsableArguments {
  @Option(help: "Write the results to this file, as JSON.") var json: String?
  @Option(help: "Draw the results into this file, as SVG.") var chart: String?
  @Flag(help: "Put the results into SpeedTests/README.md, and draw SpeedTests/Chart.svg.")
  var updateReadme = false

  @Option(help: "Measure nothing: take the results that --json wrote into this file.")
  var from: String?

  /// The chart of the last complete run, for its page and for the documentation.
  private static let charts = [
    "SpeedTests/Chart.svg",
    "Sources/StoredObjectsCore/StoredObjectsCore.docc/Resources/SpeedChart.svg",
  ]

  func write(_ results: [Result], _ conditions: Conditions) throws {
    if let json { try Report(results: results).write(to: json) }
    if let chart { try Chart(results: results, conditions: conditions).write(to: chart) }
    if updateReadme {
      try Readme.update(results, conditions)
      let chart = Chart(results: results, conditions: conditions)
      for path in Self.charts { try chart.write(to: path) }
    }
  }
}
