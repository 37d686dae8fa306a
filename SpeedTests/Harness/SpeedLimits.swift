/// The most that a time of ours may be, as a multiple of another one of the same run.
struct SpeedLimit {
  let workload: String
  /// Another engine at the same work, or the same engine at another.
  let other: Other
  let most: Double

  enum Other {
    case engine(String)
    case workload(String)
  }

  private static let ours = "tokyo-cabinet"

  /// What finding objects and texts may take, and keeping indexes for it.
  static let all =
    [
      "IndexedLookup", "RangeFetch", "SortedPage", "CountRange", "FullTextSearch", "FullTextBest",
      "FullTextWords",
    ].map { workload in
      SpeedLimit(workload: workload, other: .engine("grdb"), most: 1)
    } + [
      SpeedLimit(workload: "IndexedLookup", other: .engine("sqlite-c"), most: 2),
      SpeedLimit(workload: "FullTextSearch", other: .engine("sqlite-c"), most: 2),
      SpeedLimit(workload: "FullTextBuild", other: .engine("sqlite-c"), most: 1.2),
      SpeedLimit(workload: "IndexedInsert", other: .workload("SimpleInsert"), most: 1.6),
    ]

  /// The ratios of which both times have been measured, each with its limit.
  static func ratios(_ results: [Result]) -> [(limit: SpeedLimit, ratio: Double)] {
    all.flatMap { limit in
      results.filter { $0.workload == limit.workload && $0.engine == ours }.compactMap { own in
        limit.reference(for: own, results).map { (limit, own.medianMs / $0.medianMs) }
      }
    }
  }

  private func reference(for own: Result, _ results: [Result]) -> Result? {
    results.first { result in
      guard result.count == own.count, result.durability == own.durability else { return false }
      switch other {
      case .engine(let name): return result.engine == name && result.workload == own.workload
      case .workload(let name): return result.engine == own.engine && result.workload == name
      }
    }
  }

  /// The ratio in a line.
  func text(_ ratio: Double) -> String {
    let name =
      switch other {
      case .engine(let name), .workload(let name): name
      }
    return "\(workload): \(format(ratio, 2)) times \(name), at most \(format(most, 1))"
      + (ratio > most ? "  BEYOND" : "")
  }
}
