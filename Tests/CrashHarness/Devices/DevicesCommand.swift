import ArgumentParser
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport

/// Runs a server and devices that synchronize with it, and kills one of them every few moments.
struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "Kill devices and their server while they synchronize, and compare their stores.")

  @Option(help: "The duration in seconds.") var seconds = 60
  @Option(help: "The number of devices.") var count = 5
  @Option(help: "The number of milliseconds between two kills.") var pause = 80
  @Option(help: "The seed; random if left out.") var seed: UInt64?
  @Option(help: "The backend.") var backend = BackendName.tokyoCabinet

  func run() throws {
    let seed = seed ?? .random(in: 0 ... .max)
    note("crash devices: seed \(seed), backend \(backend.rawValue)")
    try withTemporaryDirectory { directory in
      var run = try DevicesRun(seed: seed, backend: backend, count: count, directory.path)
      try run.work(seconds: seconds, pause: pause)
      try run.finish()
      let faults = try run.faults()
      for fault in faults.prefix(20) { note(fault) }
      print(
        """
        kills=\(run.killCount) inserted=\(run.seen.inserted.count) edits=\(run.seen.editCount) \
        deleted=\(run.seen.deleted.count) faults=\(faults.count)
        """)
      if !faults.isEmpty { throw ExitCode.failure }
    }
  }
}

/// The changes that devices have saved.
struct SavedEntries {
  private(set) var inserted: Set<Int> = []
  private(set) var deleted: Set<Int> = []
  /// The entries that may have been deleted, because the device was killed meanwhile.
  private var inDoubt: Set<Int> = []
  private var edits: [Int: Int] = [:]

  var editCount: Int { edits.values.reduce(0, +) }

  mutating func add(_ message: DeviceMessage) {
    switch message.kind {
    case .inserted: inserted.insert(message.number)
    case .edited: edits[message.number] = max(edits[message.number] ?? 0, message.edits)
    case .willDelete: inDoubt.insert(message.number)
    case .deleted: deleted.insert(message.number)
    }
  }

  /// Returns what a store lacks that was saved.
  func faults(_ entries: [Entry]) -> [String] {
    let found = Dictionary(entries.map { ($0.number, $0.edits) }) { first, _ in first }
    var faults = found.count == entries.count ? [] : ["entries are there twice"]
    for number in inserted.subtracting(inDoubt).sorted() where found[number] == nil {
      faults.append("entry \(number) is lost")
    }
    for number in deleted.sorted() where found[number] != nil {
      faults.append("entry \(number) has come back")
    }
    for (number, count) in edits {
      if let edits = found[number], edits < count {
        faults.append("entry \(number) has \(edits) of \(count) edits")
      }
    }
    return faults
  }
}

/// The server, the devices and their reports.
private struct DevicesRun {
  private let backend: BackendName
  private let folder: String
  private let count: Int
  private let seed: UInt64
  private var generator: SeededGenerator
  /// The server comes first.
  private var children: [ChildProcess] = []
  private var startCount = 0
  private var failures: [String] = []
  private(set) var killCount = 0
  private(set) var seen = SavedEntries()

  init(seed: UInt64, backend: BackendName, count: Int, _ folder: String) throws {
    (self.seed, self.backend, self.count, self.folder) = (seed, backend, count, folder)
    generator = SeededGenerator(seed: seed)
  }

  private func directory(_ number: Int) -> String {
    number == 0 ? folder + "/server" : folder + "/device\(number)"
  }

  private mutating func start(_ number: Int, _ options: [String] = []) throws -> ChildProcess {
    startCount += 1
    let store = [directory(number), folder + "/socket", "--backend", backend.rawValue]
    if number == 0 { return try ChildProcess(["sync-server"] + store) }
    return try ChildProcess(
      ["device"] + store + [
        "--device", "\(number)", "--process", "\(startCount)",
        "--seed", "\(seed &+ UInt64(startCount))",
      ] + options)
  }

  mutating func work(seconds: Int, pause: Int) throws {
    for number in 0...count { children.append(try start(number)) }
    let deadline = Date().addingTimeInterval(Double(seconds))
    while Date() < deadline {
      usleep(UInt32(pause * 1000))
      for number in 1...count { collect(number) }
      let victim = Int.random(in: 0...count, using: &generator)
      end(victim)
      children[victim] = try start(victim)
    }
    for number in 0...count { end(number) }
  }

  private mutating func end(_ number: Int) {
    let status = children[number].kill()
    collect(number)
    killCount += 1
    // 9 is SIGKILL; any other end of the child is a fault.
    if status & 0x7F != 9 { failures.append("process \(number) ended with status \(status)") }
  }

  private mutating func collect(_ number: Int) {
    while let message = children[number].next(timeout: 0) {
      if let message = DeviceMessage(message) { seen.add(message) }
    }
  }

  /// Lets all devices synchronize without kills, twice: the first may wait for the last.
  mutating func finish() throws {
    let server = try start(0)
    for number in (1...count).map({ $0 }) + (1...count) {
      let status = try start(number, ["--only-syncs"]).wait()
      if status != 0 { failures.append("the last sync of device \(number): status \(status)") }
    }
    _ = server.kill()
  }

  /// Returns the faults of all stores.
  func faults() throws -> [String] {
    var faults = failures
    var first: [String]?
    for number in 0...count {
      let name = number == 0 ? "server" : "device \(number)"
      faults += try backend.check(directory(number)).findings.map { "\(name): \($0)" }
      let opened = try backend.open(directory(number), isReadOnly: true, limits: .init())
      defer { try? opened.close() }
      let store = Store(backend: opened)
      try store.register(deviceClasses)
      let content = try content(store)
      if let first, content.lines != first { faults.append("\(name) differs from the server") }
      first = first ?? content.lines
      faults += content.faults.map { "\(name): \($0)" }
      faults += try store.check().findings.map { "\(name): \($0)" }
    }
    return faults
  }

  private func content(_ store: Store) throws -> (lines: [String], faults: [String]) {
    let entries = try store.allObjects(of: Entry.self)
    let shelves = try store.allObjects(of: Shelf.self)
    var faults = seen.faults(entries)
    if shelves.count != 1 { faults.append("\(shelves.count) shelves") }
    let listed = shelves.flatMap { $0.entries.map(\.number) }
    if listed.sorted() != entries.map(\.number).sorted() {
      faults.append("the shelf has \(listed.count) of \(entries.count) entries, or others")
    }
    let lines = entries.map { "\($0.rowID) \($0.number) \($0.device) \($0.edits)" }.sorted()
    return (lines + ["\(listed)"], faults)
  }
}
