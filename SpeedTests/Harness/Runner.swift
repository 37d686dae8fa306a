import Foundation

/// Runs workloads, each run in a new process with a new directory.
struct Runner {
  let runs: Int

  func measure(_ workload: any Workload, _ engine: Engine, _ count: Int) throws -> Result {
    var measurements: [Measurement] = []
    for _ in 0..<runs {
      let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("speedtests-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: directory) }
      if engine != .memory { _ = try start(workload, engine, count, directory, "prepare") }
      let data = try start(workload, engine, count, directory, "run")
      measurements.append(try JSONDecoder().decode(Measurement.self, from: data))
    }
    return Result(workload, engine, count, measurements)
  }

  private func start(
    _ workload: any Workload, _ engine: Engine, _ count: Int, _ directory: String, _ step: String
  ) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "one", "--workload", workload.name, "--engine", engine.rawValue, "--count", "\(count)",
      "--directory", directory, "--step", step,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try expect(process.terminationStatus == 0, "\(workload.name) failed on \(engine.rawValue)")
    return data
  }
}

/// What the new process does.
func runOnce(
  _ workload: any Workload, _ place: Place, _ count: Int, step: String
) throws -> Measurement? {
  if step == "prepare" {
    try workload.prepare(place, count)
    return nil
  }
  if place.engine == .memory { try workload.prepare(place, count) }
  let elapsed = try ContinuousClock().measure { try workload.run(place, count) }
  let (seconds, attoseconds) = elapsed.components
  return Measurement(
    milliseconds: Double(seconds) * 1e3 + Double(attoseconds) / 1e15,
    peakMiB: peakMemoryInMiB(), fileBytes: place.byteCount)
}
