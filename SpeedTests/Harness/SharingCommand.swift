import ArgumentParser
import Foundation
import SpeedWorkloads
import StoredObjectsCore
import TokyoCabinetBackend

/// Measures the cost of sharing a store between processes, and the concurrent saves of two
/// processes.
struct SharingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sharing",
    abstract: "Compare shared stores with exclusive ones; fails beyond the limits.")

  @Option(help: "How many seconds each run takes.") var seconds = 2.0
  @Option(help: "How often to run each, in turns.") var runs = 5
  @Option(help: "The directory of SQLite's program; without it there is no comparison.")
  var rivals: String?

  /// The minimum ratio of saves to a shared store that one process has open to those to an
  /// exclusive one, and the maximum ratio of the times of reads.
  private static let (saveLimit, readLimit) = (0.9, 1.02)
  /// The maximum median time until a save of another process is known, in milliseconds.
  private static let newsLimit = 1.0

  func run() throws {
    try refuseDebugBuild()
    // The C library locks nothing in a process that never had a second thread.
    Thread {}.start()
    var (saves, reads, pairs): ([Double], [Double], [Double]) = ([], [], [])
    var rivalPairs: [Double] = []
    // If it could not be built, the script has reported that.
    let rival = rivals.map { $0 + "/sqlite-writer" }
      .flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
    for _ in 0..<runs {
      let alone = try measure(.exclusive)
      let shared = try measure(.processes)
      let two = try savesOfTwoProcesses()
      if let rival { rivalPairs.append(try two / savesOfTwoRivals(rival)) }
      saves.append(shared.savesPerSecond / alone.savesPerSecond)
      reads.append(shared.readTime / alone.readTime)
      pairs.append(two / alone.savesPerSecond)
      print(
        """
        full: exclusive \(Int(alone.savesPerSecond)) saves/s, shared \(Int(shared.savesPerSecond)), \
        two processes \(Int(two)); a read \(format(alone.readTime, 1)) ns, \
        shared \(format(shared.readTime, 1))
        """)
    }
    let (save, read) = (saves.sorted()[runs / 2], reads.sorted()[runs / 2])
    print(
      """
      shared saves \(format(save, 2)), reads \(format(read, 2)), \
      two processes \(format(pairs.sorted()[runs / 2], 2)) of an exclusive store
      """)
    if !rivalPairs.isEmpty {
      let ratio = rivalPairs.sorted()[runs / 2]
      print("two processes save \(format(ratio, 2)) times as often as two with SQLite (WAL, FULL)")
      if ratio < 1 { throw ExitCode.failure }
    }
    let delays = try withFolder(NewsOfOthers.delays)
    let median = delays[delays.count / 2]
    print(
      """
      news of another process: median \(format(median, 3)) ms, p99 \
      \(format(delays[delays.count * 99 / 100], 3)) ms
      """)
    guard save >= Self.saveLimit, read <= Self.readLimit, median <= Self.newsLimit else {
      print("beyond the limits of \(Self.saveLimit), \(Self.readLimit) and \(Self.newsLimit) ms")
      throw ExitCode.failure
    }
  }

  private func measure(_ sharing: StoreSharing) throws -> SharedStore.Speed {
    try withFolder { try SharedStore($0, sharing).measure(seconds: seconds) }
  }

  /// Returns the number of saves per second of two processes together.
  private func savesOfTwoProcesses() throws -> Double {
    try withFolder { folder in
      let keeper = try SharedStore(folder, .processes)
      let workers = try (0..<2).map { _ in
        try OwnProcess(["sharing-worker", folder, "\(seconds)"])
      }
      let rate = try sum(of: workers)
      try keeper.close()
      return rate
    }
  }

  private func savesOfTwoRivals(_ program: String) throws -> Double {
    try withFolder { folder in
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let file = folder + "/songs.sqlite"
      // Creates the table, which takes the lock that the two will share.
      _ = try OwnProcess([file, "0"], of: program).lines()
      return try sum(of: (0..<2).map { _ in try OwnProcess([file, "\(seconds)"], of: program) })
    }
  }

  private func sum(of workers: [OwnProcess]) throws -> Double {
    try workers.reduce(0) { sum, worker in
      guard let own = worker.lines().first.flatMap(Double.init) else { throw ExitCode.failure }
      return sum + own
    }
  }

  private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "sharing-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
  }
}

/// One of two processes that save at the same time.
struct SharingWorker: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sharing-worker", shouldDisplay: false)

  @Argument var folder: String
  @Argument var seconds: Double

  func run() throws {
    let store = try SharedStore(folder, .processes)
    print(try store.savesPerSecond(seconds: seconds))
    try store.close()
  }
}

/// Opens a store, for this process or for others too.
func openStore(_ folder: String, _ sharing: StoreSharing) throws -> TokyoCabinetBackend {
  var configuration = TokyoCabinetBackend.Configuration()
  configuration.sharing = sharing
  return try TokyoCabinetBackend(directory: folder, configuration: configuration)
}

/// A store to which records are saved one by one.
private struct SharedStore {
  struct Speed {
    var savesPerSecond: Double
    /// The time of a read, in nanoseconds.
    var readTime: Double
  }

  private let backend: TokyoCabinetBackend
  private let table: TableID
  private static let record = [UInt8](repeating: 7, count: 100)

  init(_ folder: String, _ sharing: StoreSharing) throws {
    backend = try openStore(folder, sharing)
    table = try backend.table(named: "Song")
  }

  func close() throws { try backend.close() }

  func measure(seconds: Double) throws -> Speed {
    let saves = try savesPerSecond(seconds: seconds)
    try backend.checkpoint()
    let reads = try readTime()
    try close()
    return Speed(savesPerSecond: saves, readTime: reads)
  }

  func savesPerSecond(seconds: Double) throws -> Double {
    let (start, clock) = (ContinuousClock.now, ContinuousClock())
    var count = 0
    while start.duration(to: clock.now) < .seconds(seconds) {
      let record = ChangeSet.RecordChange(
        kind: .update, rowID: UInt32.random(in: 2..<1000), range: 0..<Self.record.count)
      try backend.commit(
        ChangeSet(bytes: Self.record, tables: [.init(table: table, records: [record])]))
      count += 1
    }
    return Double(count) / (start.duration(to: clock.now) / .seconds(1))
  }

  private func readTime() throws -> Double {
    let count = 2_000_000
    var bytes: [UInt8] = []
    bytes.reserveCapacity(200)
    let start = ContinuousClock.now
    for number in 0..<count {
      bytes.removeAll(keepingCapacity: true)
      _ = try backend.copyRecord(UInt32(2 + number % 998), in: table, to: &bytes)
    }
    return (start.duration(to: .now) / .nanoseconds(1)) / Double(count)
  }
}
