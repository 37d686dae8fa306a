import ArgumentParser
import SpeedWorkloads
import StoredObjectsCore

/// The selection of measurements.
struct Options: ParsableArguments {
  @Option(help: "Only this workload; can be given again.") var workload: [String] = []
  @Option(help: "Only this engine; can be given again.") var engine: [String] = []
  @Option(help: "Another count than the workload's own.") var count: Int?
  @Option(help: "Another number of saves in SustainedSaves, and of operations in YCSB.")
  var operations: Int?
  @Option(help: "The number of runs of each.") var runs = 5
  @Option(help: "The number of cores for each run; all by default.") var cores: Int?
  @Option(
    help: """
      The durability of saves: full (survives power cuts), process (survives the end of the \
      process) or none; by default full, and for small saves process as well.
      """)
  var durability: String?
  @Flag(help: "Evict the files from memory before each run; without this, they are in memory.")
  var cold = false
  @Flag(help: "Fail when a time is beyond one of the limits, which are printed at the end.")
  var limits = false
  @Option(help: .hidden) var rivals: String?

  func check() throws {
    guard runs > 0, count ?? 100 >= 100 else {
      throw ValidationError("At least one run, and a count of 100, please.")
    }
    guard operations ?? 1 > 0, cores ?? 1 > 0 else {
      throw ValidationError("At least one operation, and one core, please.")
    }
    guard durability == nil || levels != nil else {
      throw ValidationError("The durability is full, process or none.")
    }
  }

  /// Returns the selected contestants, in groups whose members do the same work.
  func groups(of contestants: [Contestant]) throws -> [Group] {
    let engines = try chosenEngines(contestants)
    return try chosenWorkloads().flatMap { workload in
      (count.map { [$0] } ?? workload.defaultCounts).flatMap { count in
        (levels ?? workload.durabilities).enumerated().map { workspace, level in
          // An engine that never outlives the process has no durability: one level is enough.
          let members = engines.filter { workspace == 0 || $0.outlivesProcess }
            .filter { engine.isEmpty ? $0.takesPart(in: workload) : $0.canRun(workload) }
          return Group(
            workload: workload, count: count,
            operations: operations(of: workload, count), durability: level,
            members: members)
        }
      }
    }
  }

  private func operations(of workload: any Workload, _ count: Int) -> Int {
    guard let operations, workload.defaultOperations != nil else {
      return workload.operations(count)
    }
    return operations
  }

  private var levels: [Durability]? { durability.flatMap(Durability.init).map { [$0] } }

  private func chosenWorkloads() throws -> [any Workload] {
    guard !workload.isEmpty else { return workloads }
    return try workload.map { name in
      guard let found = workloads.first(where: { $0.name.lowercased() == name.lowercased() })
      else {
        let names = workloads.map(\.name).joined(separator: ", ")
        throw ValidationError("No workload \(name); there are \(names).")
      }
      return found
    }
  }

  private func chosenEngines(_ contestants: [Contestant]) throws -> [Contestant] {
    guard !engine.isEmpty else { return contestants.filter(\.isThere) }
    return try engine.map { name in
      guard let found = contestants.first(where: { $0.name == name.lowercased() }) else {
        let names = contestants.map(\.name).joined(separator: ", ")
        throw ValidationError("No engine \(name); there are \(names).")
      }
      guard found.isThere else {
        throw ValidationError("\(name) is not built: ./dev bench builds it.")
      }
      return found
    }
  }
}

/// Engines that do the same work, one after another.
struct Group {
  let workload: any Workload
  let count: Int
  let operations: Int
  let durability: Durability
  let members: [Contestant]
}
