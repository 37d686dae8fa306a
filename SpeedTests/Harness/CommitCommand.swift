import ArgumentParser
import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// Measures how many more saves several stores make than one, because their commits share a sync.
struct CommitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "commits",
    abstract: "Compare the saves of several stores at once with one; fails below the limit.")

  @Option(help: "The number of stores.") var stores = 16
  @Option(help: "The duration of each run in seconds.") var seconds = 3.0
  @Option(help: "The number of runs of both.") var runs = 3

  /// The minimum ratio at the level `full`, where a sync takes 0.1 ms; slower disks gain more.
  private static let limit = 4.0

  func run() throws {
    try refuseDebugBuild()
    let full = try measure(.full)
    _ = try measure(.process)
    if full < Self.limit {
      print("\(stores) stores save \(format(full, 2)) times as often: TOO FEW")
      throw ExitCode.failure
    }
  }

  /// Returns the median of the runs' ratios; the minimum would depend on chance.
  private func measure(_ durability: Durability) throws -> Double {
    var ratios: [Double] = []
    for _ in 0..<runs {
      let alone = try measure(1, durability)
      let together = try measure(stores, durability)
      ratios.append(together.savesPerSecond / alone.savesPerSecond)
      print(
        "\(durability): one store \(text(alone)); \(stores) stores \(text(together)); "
          + "ratio \(format(ratios[ratios.count - 1], 2))")
    }
    return ratios.sorted()[runs / 2]
  }

  private func measure(_ count: Int, _ durability: Durability) throws -> CommitsTogether.Outcome {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "commits-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try CommitsTogether(directory: folder.path, durability: durability)
      .measure(stores: count, seconds: seconds)
  }

  private func text(_ outcome: CommitsTogether.Outcome) -> String {
    let times = outcome.times
    let (median, tail) = (times[times.count / 2], times[times.count * 99 / 100])
    return
      "\(Int(outcome.savesPerSecond)) saves/s, median \(format(median, 3)) ms, p99 \(format(tail, 2)) ms"
  }
}
