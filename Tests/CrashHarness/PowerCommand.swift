import ArgumentParser
import Foundation
import Glibc
import StoredObjectsCore
import StoredObjectsTestSupport

/// Simulates power failures below the C library.
///
/// A session on real files is recorded at every sync and rename. For each moment, directories are
/// generated as a power failure could leave them.
struct PowerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Cut the power at every sync and rename of real sessions, and open what is left.")

  @Option(help: "How many directories to try.") var rounds = 3000
  @Option(help: "The seed of saves and cuts; random if left out.") var seed: UInt64?
  @Option(help: "The backend.") var backend = BackendName.tokyoCabinet
  @Flag(help: "Write through a key-value store.") var values = false
  @Flag(help: "Save in turn from several openings, as processes do that share the store.")
  var sharing = false
  @Flag(help: "Print what each session was.") var verbose = false

  func run() throws {
    let seed = seed ?? .random(in: 0 ... .max)
    let kinds = (values ? ", values" : "") + (sharing ? ", shared" : "")
    note("crash power: seed \(seed), backend \(backend.rawValue)\(kinds)")
    var counts = KillCounts()
    var done = 0
    try withTemporaryDirectory { directory in
      let recorder = try PowerRecorder(
        directory, backend, flags: (values ? ["--values"] : []) + (sharing ? ["--sharing"] : []))
      var session: UInt64 = 0
      while done < rounds {
        let count = min(rounds - done, 1000)
        var rounds = PowerRounds(
          seed: seed &+ session, backend: backend, hasValues: values, isShared: sharing,
          directory: directory)
        let events = try recorder.record(seed: seed &+ session, isLarge: session % 4 == 3)
        try rounds.run(events, count: count)
        if verbose { note("session \(session): \(events.count) moments, \(count) cuts") }
        counts.add(rounds.counts)
        done += count
        session += 1
      }
    }
    print(
      "rounds=\(done) lost=\(counts.lost) torn=\(counts.torn) undetected=\(counts.undetected)")
    if counts.lost + counts.torn + counts.undetected > 0 { throw ExitCode.failure }
  }
}

extension KillCounts {
  fileprivate mutating func add(_ other: KillCounts) {
    lost += other.lost
    torn += other.torn
    undetected += other.undetected
  }
}

/// Makes saves, checkpoints and openings, each of which the recorder sees.
struct SessionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "session", shouldDisplay: false)

  @Argument var directory: String
  @Option var backend: BackendName
  @Option var seed: UInt64
  @Flag var isLarge = false
  @Flag var values = false
  @Flag var sharing = false

  static let saveCount = 36

  func run() throws {
    let store = SmallStore(directory: directory, backend: backend)
    let count = sharing ? 3 : 1
    var contents = try (0..<count).map { _ in try open(store) }
    for number in 1...Self.saveCount {
      if number % 12 == 0 {
        try contents[number / 12 % count].close()
        contents[number / 12 % count] = try open(store)
      }
      let content = contents[number % count]
      let save = ScriptedSave(number, seed: seed, largeByteCount: 4000)
      try content.commit(save)
      _ = unsafe unlink("\(directory)/\(PowerTrace.mark)\(number)")
      if save.isFollowedByCheckpoint { try content.backend.checkpoint() }
    }
    if isLarge { _ = try contents[0].backend.compact { _ in } }
    for content in contents { try content.close() }
  }

  private func open(_ store: SmallStore) throws -> CrashedContent {
    let sharing: StoreSharing = sharing ? .processes : .exclusive
    return try CrashedContent(
      store.open(isReadOnly: false, sharing: sharing, logBytes: 3000), hasValues: values)
  }
}

/// A recorder that is preloaded into sessions.
struct PowerRecorder {
  private let directory: URL
  private let backend: BackendName
  private let flags: [String]
  private let library: String

  /// Compiles the recorder for sessions with some flags.
  init(_ directory: URL, _ backend: BackendName, flags: [String]) throws {
    (self.directory, self.backend, self.flags) = (directory, backend, flags)
    library = directory.path + "/shim.so"
    let folder = URL(filePath: #filePath).deletingLastPathComponent().path
    let compiler = try Process.run(
      URL(fileURLWithPath: "/usr/bin/env"),
      arguments: [
        "cc", "-shared", "-fPIC", "-O1", "-o", library, folder + "/PowerShim/shim.c", "-ldl",
      ])
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else {
      throw HarnessError("the recorder can't be compiled: is there a C compiler?")
    }
  }

  /// Records a session; a large one writes class files with a realistic number of buckets.
  func record(seed: UInt64, isLarge: Bool) throws -> [PowerTrace.Event] {
    let store = directory.appendingPathComponent("session\(seed)").path
    let trace = directory.appendingPathComponent("trace\(seed)").path
    defer {
      for path in [store, trace] { try? FileManager.default.removeItem(atPath: path) }
    }
    try SmallStore(directory: store, backend: backend)
      .makeFiles((isLarge ? [] : ScriptedSave.tables) + ["NamedBuffers"])
    let variables = ["LD_PRELOAD": library, "POWER_DIR": store, "POWER_TRACE": trace]
    for (name, value) in variables { unsafe setenv(name, value, 1) }
    let child = try ChildProcess(
      ["session", store, "--seed", "\(seed)", "--backend", backend.rawValue]
        + (isLarge ? ["--is-large"] : []) + flags)
    for name in variables.keys { unsafe unsetenv(name) }
    let status = child.wait()
    guard status == 0 else { throw HarnessError("the session ended with status \(status)") }
    let events = PowerTrace([UInt8](try Data(contentsOf: URL(fileURLWithPath: trace)))).events
    guard events.compactMap(\.acknowledged).count == SessionCommand.saveCount,
      events.contains(where: { $0.kind == .rename }), events.contains(where: { $0.kind == .sync }),
      flags.contains("--sharing") == events.contains(where: { $0.kind == .exchange })
    else { throw HarnessError("the recorder has seen \(events.count) calls: was it not loaded?") }
    return events
  }
}

/// The power failures of one session.
struct PowerRounds {
  private(set) var counts = KillCounts()
  private let seed: UInt64
  private let backend: BackendName
  private let hasValues: Bool
  private let isShared: Bool
  private let directory: URL
  private var generator: SeededGenerator
  /// The store after each save.
  private var images = [StoreImage()]

  init(seed: UInt64, backend: BackendName, hasValues: Bool, isShared: Bool, directory: URL) {
    self.seed = seed
    (self.backend, self.hasValues, self.isShared) = (backend, hasValues, isShared)
    self.directory = directory
    generator = SeededGenerator(seed: seed)
    for number in 1...SessionCommand.saveCount + 2 {
      images.append(images[number - 1].applying(save(number)))
    }
  }

  private func save(_ number: Int) -> ScriptedSave {
    ScriptedSave(number, seed: seed, largeByteCount: 4000)
  }

  /// Simulates a number of power failures, spread over the session.
  mutating func run(_ events: [PowerTrace.Event], count: Int) throws {
    var cuts = [Int](repeating: count / events.count, count: events.count)
    for _ in 0..<count % events.count {
      cuts[Int.random(in: 0..<events.count, using: &generator)] += 1
    }
    var disk = PowerDisk(events[0])
    var acknowledged = 0
    for (number, event) in events.enumerated() {
      disk.advance(to: event)
      if let save = event.acknowledged { acknowledged = save }
      for _ in 0..<cuts[number] {
        try cut(disk.image(using: &generator), acknowledged, "moment \(number), \(event.kind)")
      }
    }
  }

  private mutating func cut(
    _ files: [String: [UInt8]], _ acknowledged: Int, _ moment: String
  ) throws {
    let path = directory.appendingPathComponent("cut").path
    let store = SmallStore(directory: path, backend: backend)
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, content) in files {
      try Data(content).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
    do {
      // A store that processes have shared may be opened by one alone, and vice versa.
      let sharing: StoreSharing =
        isShared && Bool.random(using: &generator) ? .processes : .exclusive
      let content = try CrashedContent(
        store.open(isReadOnly: false, sharing: sharing), hasValues: hasValues)
      let found = try content.image()
      guard let last = images[acknowledged...].firstIndex(of: found), last <= acknowledged + 1
      else {
        judge(found, acknowledged, moment)
        return try content.close()
      }
      try goOn(content, store, last)
    } catch {
      note("seed \(seed), \(moment), after save \(acknowledged): \(error)")
      counts.lost += 1
    }
  }

  /// Verifies that the remaining store can be used further.
  private func goOn(_ content: CrashedContent, _ store: SmallStore, _ last: Int) throws {
    try content.commit(save(last + 1))
    try content.backend.checkpoint()
    try content.close()
    let check = try store.backend.check(store.directory)
    // These tables have no classes, but by chance a record in row 1 may look like a class.
    let kinds = Set(check.findings.map(\.kind)).subtracting([
      .metadataMissing, .metadataDamaged, .classMissing, .rowOutOfRange, .checksum,
    ])
    guard kinds.isEmpty else { throw HarnessError("\(check.findings)") }
    let again = try CrashedContent(store.open(isReadOnly: true), hasValues: hasValues)
    defer { try? again.close() }
    let found = try again.image()
    guard found == images[last + 1] else {
      throw HarnessError("after one more save: \(found.differences(from: images[last + 1]))")
    }
  }

  private mutating func judge(_ found: StoreImage, _ acknowledged: Int, _ moment: String) {
    let differences = found.differences(from: images[acknowledged]).prefix(8)
    note("seed \(seed), \(moment), after save \(acknowledged): \(differences)")
    if images.contains(found) { counts.lost += 1 } else { counts.torn += 1 }
  }
}
