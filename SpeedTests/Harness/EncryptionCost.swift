import ArgumentParser
import SpeedWorkloads
import StoredObjectsCore

/// Measures the additional time of encryption for a record, alternating with an unencrypted store.
struct EncryptionCost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "encryption",
    abstract: "Measure what encryption adds to each record; fails beyond the limits.")

  @Option(help: "How many records.") var count = 1_000_000
  @Option(help: "How often to run each; the least time counts.") var runs = 5

  /// The workloads, with the maximum additional time for a record in microseconds.
  private static let limits = [("SimpleInsert", 3.0), ("SimpleFetch", 1.5)]

  func run() throws {
    try refuseDebugBuild()
    print("\(count) records, the least of \(runs) runs, in microseconds a record")
    var excesses = 0
    for engine in ["tokyo-cabinet", "cdb"] {
      for (workload, limit) in Self.limits {
        let (plain, encrypted) = try measure(workload, on: engine)
        let isBeyond = encrypted - plain > limit
        if isBeyond { excesses += 1 }
        print(
          "\(workload) on \(engine): \(format(plain, 2)), encrypted \(format(encrypted, 2)), "
            + "which is \(format(encrypted - plain, 2)) more, at most \(format(limit, 1))"
            + (isBeyond ? "  TOO MUCH" : ""))
      }
    }
    if excesses > 0 { throw ExitCode.failure }
  }

  /// Returns the minimum time for a record, without and with encryption.
  private func measure(
    _ name: String, on engine: String
  ) throws -> (plain: Double, encrypted: Double) {
    let members = try [engine, engine + "-encrypted"].map { name in
      let member = Contestant.all(rivals: nil).first { $0.name == name && $0.isThere }
      guard let member else {
        throw ValidationError("\(name) is not built: ./dev bench encryption builds it.")
      }
      return member
    }
    guard let workload = workloads.first(where: { $0.name == name }) else {
      throw ValidationError("There is no workload \(name).")
    }
    let group = Group(
      workload: workload, count: count, operations: count, durability: .full, members: members)
    let times = try Runner(runs: runs).measure(group)
      .map { $0.minMs * 1000 / Double(count) }
    return (times[0], times[1])
  }
}
