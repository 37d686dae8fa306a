import ArgumentParser
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport

/// Kills a child while it saves, in many rounds; its store must contain the saves that it has
/// reported.
struct KillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kill", abstract: "Kill writing processes at random moments (the default).")

  @Option(help: "How many processes to kill.") var rounds = 400
  @Option(help: "The seed of saves and moments; random if left out.") var seed: UInt64?
  @Option(help: "The backend.") var backend = BackendName.tokyoCabinet
  @Flag(help: "Write through a key-value store.") var values = false
  @Flag(help: "Print the rate, and what was killed where.") var verbose = false

  func run() throws {
    let seed = seed ?? .random(in: 0 ... .max)
    note("crash: seed \(seed), backend \(backend.rawValue)\(values ? ", values" : "")")
    let start = Date()
    let counts = try withTemporaryDirectory { directory in
      var rounds = KillRounds(
        seed: seed, backend: backend, hasValues: values, directory: directory)
      for number in 0..<self.rounds { try rounds.run(number) }
      return rounds.counts
    }
    if verbose {
      let rate = Double(rounds) / Date().timeIntervalSince(start)
      note("\(counts), \(String(format: "%.1f", rate)) rounds a second")
    }
    print(
      "rounds=\(rounds) lost=\(counts.lost) torn=\(counts.torn) undetected=\(counts.undetected)")
    if counts.lost + counts.torn + counts.undetected > 0 { throw ExitCode.failure }
  }
}

/// The counts of the results.
struct KillCounts {
  /// Stores that lack an acknowledged save, or that don't open.
  var lost = 0
  /// Stores with part of a save.
  var torn = 0
  /// Stores with bytes that no save has written, without an error.
  var undetected = 0
  /// Acknowledged saves, and saves that were found without having been acknowledged.
  var acknowledged = 0
  var unacknowledged = 0
  /// Children that were killed before their store was open.
  var killedOpening = 0
}

/// The state of the harness between rounds.
struct KillRounds {
  let seed: UInt64
  let backend: BackendName
  let hasValues: Bool
  let directory: URL
  private(set) var counts = KillCounts()
  private var generator: SeededGenerator
  /// The content of the store after a number of saves.
  private var image = StoreImage()
  private var number = 0
  private var store = ""

  init(seed: UInt64, backend: BackendName, hasValues: Bool, directory: URL) {
    self.seed = seed
    (self.backend, self.hasValues) = (backend, hasValues)
    self.directory = directory
    generator = SeededGenerator(seed: seed)
  }

  mutating func run(_ round: Int) throws {
    if round % 25 == 0 { startStore(round) }
    let options = storeOptions()
    let acknowledged = try killWriter(options)
    if Int.random(in: 0..<3, using: &generator) == 0 { try killOpening(options) }
    check(acknowledged, options, round)
  }

  private mutating func startStore(_ round: Int) {
    try? FileManager.default.removeItem(atPath: store)
    store = directory.appendingPathComponent("store\(round)").path
    (image, number) = (StoreImage(), 0)
  }

  private mutating func storeOptions() -> [String] {
    let durability = ["full", "process", "none"].randomElement(using: &generator) ?? ""
    let isTiny = Int.random(in: 0..<4, using: &generator) > 0
    return [
      store, "--backend", backend.rawValue, "--durability", durability,
      "--log-bytes", isTiny ? "\(Int.random(in: 500...60000, using: &generator))" : "4194304",
      "--bulk-bytes", isTiny ? "20000" : "1048576",
      // Half of the children may also die in a thread that folds.
      "--beside-bytes", Bool.random(using: &generator) ? "0" : "4194304",
    ] + (hasValues ? ["--values"] : [])
  }

  /// Kills a writer, and returns the number of the last acknowledged save.
  private mutating func killWriter(_ options: [String]) throws -> Int {
    let child = try ChildProcess(
      ["write"] + options + ["--seed", "\(seed)", "--first", "\(number + 1)"])
    var last = number
    if Int.random(in: 0..<4, using: &generator) > 0 {
      if child.next() == nil { note("a writer ended by itself: \(child.wait())") }
    }
    usleep(.random(in: 0..<15000, using: &generator))
    let status = child.kill()
    var isOpen = false
    while let number = child.next(timeout: 0) {
      isOpen = true
      last = max(last, Int(number))
    }
    if !isOpen { counts.killedOpening += 1 }
    // 9 is SIGKILL; any other end of the child is a fault.
    if status & 0x7F != 9 {
      note("a writer ended with status \(status), after save \(last)")
      counts.lost += 1
    }
    return last
  }

  private mutating func killOpening(_ options: [String]) throws {
    let child = try ChildProcess(["open"] + options)
    _ = child.next()
    usleep(.random(in: 0..<4000, using: &generator))
    _ = child.kill()
  }

  // MARK: Checking

  private mutating func check(_ acknowledged: Int, _ options: [String], _ round: Int) {
    for save in number..<acknowledged { image.apply(ScriptedSave(save + 1, seed: seed)) }
    counts.acknowledged += acknowledged - number
    number = acknowledged
    do {
      let found = try read(options)
      if found == image { return }
      let next = image.applying(ScriptedSave(number + 1, seed: seed))
      if found == next {
        (image, number) = (next, number + 1)
        counts.unacknowledged += 1
        return
      }
      judge(found, round)
    } catch {
      note("round \(round), after save \(number): \(error)")
      counts.lost += 1
    }
    startStore(round)
  }

  private mutating func read(_ options: [String]) throws -> StoreImage {
    let isThere = FileManager.default.fileExists(atPath: store)
    let store = try StoreOptions.parse(options)
    if isThere && Bool.random(using: &generator) {
      // Leaves the log unchanged for the next child.
      do {
        let content = try store.open(isReadOnly: true)
        defer { try? content.close() }
        return try content.image()
      } catch let error where "\(error)".hasPrefix("readOnly") {}
    }
    let content = try store.open()
    let image = try content.image()
    try content.close()
    return image
  }

  private mutating func judge(_ found: StoreImage, _ round: Int) {
    let differences = found.differences(from: image)
    note("round \(round), after save \(number): \(differences.prefix(8))")
    var earlier = StoreImage()
    var written = Set<[UInt8]>()
    for save in 1...number + 1 {
      let save = ScriptedSave(save, seed: seed)
      if earlier == found { return counts.lost += 1 }
      earlier.apply(save)
      written.formUnion(save.rows.compactMap(\.record))
    }
    let records = found.tables.values.flatMap(\.values)
    if records.allSatisfy(written.contains) {
      counts.torn += 1
    } else {
      counts.undetected += 1
    }
  }
}
