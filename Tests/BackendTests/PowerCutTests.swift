import Files
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A power cut at every call of a session that changes something, and what the next opening
/// finds.
///
/// The files are those of users, also where the C library writes them. `./dev crash power` looks
/// at the order of its calls from outside.
@Suite("Power cuts")
struct PowerCutTests {
  private static let saveCount = 16

  /// How the log is folded.
  enum Folding: CaseIterable {
    /// While the save that makes it due waits.
    case atOnce
    /// Beside the saves that follow: they go to a second log.
    case beside
    /// The same, by one of three openings that share the store, and save in turn.
    case shared

    var sharing: StoreSharing { self == .shared ? .processes : .exclusive }
    var openingCount: Int { self == .shared ? 3 : 1 }

    var limits: CheckpointLimits {
      var limits = ScriptedSession.limits
      if self != .atOnce {
        // A session of few saves begins several logs, and ends some in time and some late.
        limits.logBytes = 400
        (limits.besideBytes, limits.foldsOnThread) = (0, false)
      }
      return limits
    }
  }

  private static func open(
    _ kind: TestedBackend, _ disk: CrashingDirectory, _ durability: Durability,
    _ folding: Folding = .atOnce
  ) throws -> any DirectoryBackend {
    try kind.open(
      disk, durability: durability, sharing: folding.sharing, limits: folding.limits)
  }

  @Test(
    "At full, all acknowledged saves are there, and the next one is complete or missing",
    arguments: TestedBackend.onDisk, Folding.allCases)
  func full(_ kind: TestedBackend, _ folding: Folding) throws {
    try cutEverywhere(kind, .full, folding) { session, last in last >= session.acknowledged }
  }

  @Test(
    "At process, a power cut leaves the saves up to some commit",
    arguments: [TestedBackend.tokyoCabinet, .cdb], Folding.allCases)
  func process(_ kind: TestedBackend, _ folding: Folding) throws {
    try cutEverywhere(kind, .process, folding) { _, _ in true }
  }

  @Test(
    "At none, a power cut loses saves, which shows that the simulated disk does",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func none(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts without syncs, \(kind)")
    var session = ScriptedSession(seed: generator.next(), saveCount: Self.saveCount)
    let disk = try CrashingDirectory()
    try session.run { try Self.open(kind, disk, .none) }
    var lossCount = 0
    for _ in 0..<8 {
      let rebooted = try disk.afterPowerCut(using: &generator)
      let backend = try? Self.open(kind, rebooted, .none)
      let image = try? backend.map { try StoreImage(of: $0) }
      if image != session.images[session.acknowledged] { lossCount += 1 }
    }
    #expect(lossCount > 4)
  }

  private func cutEverywhere(
    _ kind: TestedBackend, _ durability: Durability, _ folding: Folding,
    isEnough: (ScriptedSession, Int) -> Bool
  ) throws {
    var generator = Seeds.generator(for: "power cuts, \(kind), \(durability)")
    let unused = ScriptedSession(seed: generator.next(), saveCount: Self.saveCount)
    let (operations, changes) = try operations(of: unused, kind, durability, folding)
    #expect(changes.count > 100)
    #expect(operations.contains(.rename))
    // Encryption differs only once, when the store opens, so a sample of the calls is enough.
    let isSample = kind.isEncrypted
    #expect(operations.contains(.exchange) == (folding != .atOnce))
    // All ways of folding share most calls.
    let sample = CaseSampling(every: folding == .atOnce ? 2 : 4, using: &generator)
    let encryptedSample = CaseSampling(every: isSample ? 3 : 1, using: &generator)
    for (number, cut) in changes.enumerated()
    where sample.includes(number) && (number < 40 || encryptedSample.includes(number / 4)) {
      let disk = try CrashingDirectory()
      disk.plan(.cutPower(at: cut))
      var session = unused
      do { try run(&session, kind, disk, durability, folding) } catch {}
      let title = "\(kind) at \(durability), \(folding), cut at \(cut), \(operations[cut])"
      do {
        try check(disk, session, kind, durability, folding, title, isEnough, &generator)
      } catch {
        Issue.record("\(title): \(error)")
      }
    }
    print("\(changes.count) cuts of \(kind) at \(durability)")
  }

  /// The operations of a session in which nothing fails, and which of them change something.
  private func operations(
    of unused: ScriptedSession, _ kind: TestedBackend, _ durability: Durability,
    _ folding: Folding
  ) throws -> ([FileCall], changes: [Int]) {
    let disk = try CrashingDirectory()
    var session = unused
    try run(&session, kind, disk, durability, folding)
    return (disk.operations, disk.changes)
  }

  private func run(
    _ session: inout ScriptedSession, _ kind: TestedBackend, _ disk: CrashingDirectory,
    _ durability: Durability, _ folding: Folding
  ) throws {
    try session.run(openings: folding.openingCount) {
      try Self.open(kind, disk, durability, folding)
    }
  }

  /// Reopens after a cut, perhaps with another one meanwhile; saves on, and cuts once more.
  private func check(
    _ disk: CrashingDirectory, _ session: ScriptedSession, _ kind: TestedBackend,
    _ durability: Durability, _ folding: Folding, _ title: String,
    _ isEnough: (ScriptedSession, Int) -> Bool, _ generator: inout SeededGenerator
  ) throws {
    var disk = try disk.afterPowerCut(using: &generator)
    if Bool.random(using: &generator) {
      disk.plan(.cutPower(at: .random(in: 0..<30, using: &generator)))
      do { _ = try Self.open(kind, disk, durability, folding) } catch {}
      disk = try disk.afterPowerCut(using: &generator)
    }
    let backend = try Self.open(kind, disk, durability, folding)
    let image = try StoreImage(of: backend)
    guard let last = session.lastSave(in: image), isEnough(session, last) else {
      Issue.record("\(title): \(session.differences(of: image))")
      return
    }
    let end = try session.saveOn(after: last, count: 2, to: backend)
    // Neither closed nor folded.
    disk.plan(.cutPower(at: 0))
    let rebooted = try disk.afterPowerCut(using: &generator)
    let again = try Self.open(kind, rebooted, durability, folding)
    let found = try StoreImage(of: again)
    try again.close()
    #expect(
      durability == .full ? found == session.images[end] : session.images.contains(found),
      "\(title): the saves after the cut")
  }
}
