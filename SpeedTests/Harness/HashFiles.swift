import ArgumentParser
import Foundation
import SpeedWorkloads
import TokyoCabinet
import TokyoCabinetFile

/// Measures the native reader and writer of hash files against the C library, in one process.
struct HashFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash-files", abstract: "Compare TokyoCabinetFile with the C library.")

  @Option(help: "How many records.") var count = 1_000_000
  @Option(help: "How often to measure each; the median counts.") var runs = 5

  func run() throws {
    try refuseDebugBuild()
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("speedtests-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    print("\(count) records, keys of 4 bytes, values of 30, \(runs) runs; C library : native")
    try measure(HashFileRace(directory: directory, count: UInt32(count)))
  }

  private func measure(_ race: HashFileRace) throws {
    try compare("build", { try race.buildByLibrary() }, { try race.build() })
    for part in [64, 16, 8] as [UInt32] {
      try compare(
        "change every \(part)th record in a new file", { try race.changeCopy(part) },
        { try race.changeAnew(part) })
    }
    let database = try HashDatabase(path: race.theirs, mode: .readOnly)
    let file = try HashFile(race.theirs)
    try compare("scan", { try race.scan(database) }, { try race.scan(file) })
    try compare(
      "100,000 look-ups", { try race.lookUp(database) }, { try race.lookUp(file) })
    try compare("check", {}, { try expect(file.check().isSound, "check") })
  }

  private func compare(_ name: String, _ theirs: () throws -> Void, _ ours: () throws -> Void)
    throws
  {
    var times: [[Double]] = [[], []]
    // Alternately, so that anything that slows the machine slows both.
    for _ in 0..<runs {
      times[0].append(try ContinuousClock().measure(theirs) / .milliseconds(1))
      times[1].append(try ContinuousClock().measure(ours) / .milliseconds(1))
    }
    let medians = times.map { $0.sorted()[runs / 2] }
    print(
      String(
        format: "%@: %.1f ms : %.1f ms, %.2f", name, medians[0], medians[1],
        medians[0] > 0.1 ? medians[1] / medians[0] : 0))
  }
}

/// The same work, by the C library and by the native code.
struct HashFileRace {
  let directory: String
  let count: UInt32
  var theirs: String { directory + "/theirs" }
  private var ours: String { directory + "/ours" }
  private var bucketCount: Int { Int(Tuning.bucketCount(forExpectedRecords: Int(count))) }

  private func key(_ row: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: row >> ($0 * 8)) }
  }

  private func forEachRecord(
    every step: UInt32 = 1, _ body: (RawSpan, RawSpan) throws -> Void
  ) throws {
    var key: [UInt8] = [0, 0, 0, 0]
    var value = [UInt8](repeating: 7, count: 30)
    for row in stride(from: 0, to: count, by: Int(step)) {
      for index in 0..<4 { key[index] = UInt8(truncatingIfNeeded: row >> (UInt32(index) * 8)) }
      value[0] = key[0]
      try unsafe body(key.span.bytes, value.span.bytes)
    }
  }

  func buildByLibrary() throws {
    let tuning = Tuning(bucketCount: Int64(bucketCount), alignmentPower: 2)
    let database = try HashDatabase(
      path: theirs, mode: .readWrite([.create, .truncate]), tuning: tuning)
    try forEachRecord { try database.put(key: $0, value: $1) }
    try database.close()
  }

  func build() throws {
    try removeFile(ours)
    let layout = HashFileLayout(bucketCount: bucketCount, alignmentPower: 2)
    var plan = try HashFilePlan(layout: layout, path: ours)
    try forEachRecord { try plan.add(key: $0, valueCount: $1.byteCount) }
    let writer = try HashFileWriter(ours, plan)
    try forEachRecord { try writer.append(key: $0, value: $1) }
    try writer.finish(synchronized: false)
  }

  /// Makes a copy and changes records in it.
  func changeCopy(_ part: UInt32) throws {
    let copy = directory + "/copy"
    try removeFile(copy)
    try FileManager.default.copyItem(atPath: theirs, toPath: copy)
    let database = try HashDatabase(path: copy)
    try forEachRecord(every: part) { try database.put(key: $0, value: $1) }
    try database.close()
  }

  /// Writes a new file in which some records are replaced.
  func changeAnew(_ part: UInt32) throws {
    try removeFile(ours)
    let file = try HashFile(theirs)
    var plan = try HashFilePlan(layout: file.layout, path: ours)
    try forEachRecord(of: file, changing: part) { try plan.add(key: $0, valueCount: $1.byteCount) }
    let writer = try HashFileWriter(ours, plan)
    try forEachRecord(of: file, changing: part) { try writer.append(key: $0, value: $1) }
    try writer.finish(synchronized: false)
  }

  private func forEachRecord(
    of file: HashFile, changing part: UInt32, _ body: (RawSpan, RawSpan) throws -> Void
  ) throws {
    let other = [UInt8](repeating: 8, count: 30)
    var rest: UInt32 = 0
    try file.forEach { key, value in
      rest = rest == part ? 1 : rest + 1
      if rest < part { return try body(key, value) }
      try unsafe body(key, other.span.bytes)
    }
  }

  func scan(_ database: HashDatabase) throws {
    var sum = 0
    try database.forEach { sum += $0.byte(at: 0) + $1.byteCount }
    try expect(sum > 0, "scan")
  }

  func scan(_ file: HashFile) throws {
    var sum = 0
    try file.forEach { sum += $0.byte(at: 0) + $1.byteCount }
    try expect(sum > 0, "scan")
  }

  func lookUp(_ database: HashDatabase) throws {
    try lookUp { key in try database.withValue(forKey: key) { $0.byteCount } }
  }

  func lookUp(_ file: HashFile) throws {
    try lookUp { key in try file.withValue(forKey: key) { $0.byteCount } }
  }

  /// Looks up rows in an order that defeats caches.
  private func lookUp(_ size: (RawSpan) throws -> Int?) throws {
    var (row, sum) = (UInt32(1), 0)
    for _ in 0..<100_000 {
      row = row &* 1_664_525 &+ 1_013_904_223
      let key = key(row % count)
      sum += try unsafe size(key.span.bytes) ?? 0
    }
    try expect(sum == 3_000_000, "look-ups: \(sum)")
  }
}

/// Removes a file if it exists.
private func removeFile(_ path: String) throws {
  if FileManager.default.fileExists(atPath: path) {
    try FileManager.default.removeItem(atPath: path)
  }
}
