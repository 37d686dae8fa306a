/// The upper limit of one of our times, as a multiple of another time of the same run.
struct SpeedLimit {
  let workload: String
  /// Another engine with the same workload, or the same engine with another workload.
  let other: Other
  let most: Double
  /// The durability; nil for all that are measured.
  var durability: String?

  enum Other {
    case engine(String)
    case workload(String)
  }

  private static let ours = "tokyo-cabinet"

  /// The limits for finding objects and texts, for maintaining their indexes, and for key-value
  /// stores.
  static let all = finding + keyValues

  /// The limit 0.33 means three times as fast as GRDB with statements prepared once.
  ///
  /// Single puts at full durability wait for the disk, whose time is not ours. At process
  /// durability a quarter of the time of 2,000 puts is spent on opening and closing, with both.
  private static let keyValues =
    ([
      ("KeyValuePut", nil, 0.33), ("KeyValueGet", nil, 0.33),
      ("KeyValueSinglePuts", "process", 0.5),
      ("KeyValueSinglePuts", "full", 1), ("KeyValueThreadPuts", "full", 0.33),
    ] as [(String, String?, Double)]).map { workload, durability, most in
      SpeedLimit(
        workload: workload, other: .engine("grdb-optimised"), most: most, durability: durability)
    }

  private static let finding =
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

  /// Returns the ratios for which both times have been measured, each with its limit.
  static func ratios(_ results: [Result]) -> [(limit: SpeedLimit, ratio: Double)] {
    all.flatMap { limit in
      results.filter { limit.isFor($0) }.compactMap { own in
        limit.reference(for: own, results).map { (limit, own.medianMs / $0.medianMs) }
      }
    }
  }

  private func isFor(_ result: Result) -> Bool {
    result.workload == workload && result.engine == Self.ours
      && durability ?? result.durability == result.durability
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

  /// Returns the ratio as a line of text.
  func text(_ ratio: Double) -> String {
    let name =
      switch other {
      case .engine(let name), .workload(let name): name
      }
    let level = durability.map { " (\($0))" } ?? ""
    return "\(workload)\(level): \(format(ratio, 2)) times \(name), at most \(format(most, 2))"
      + (ratio > most ? "  BEYOND" : "")
  }
}
