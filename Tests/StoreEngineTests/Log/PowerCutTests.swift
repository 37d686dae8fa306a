import StoreEngine
import StoredObjectsTestSupport
import Testing

/// A power cut at every single call of a session, and what the next opening finds.
///
/// The files under the log are `SimulatedFiles`, which check themselves whenever they are read.
/// What the C library does to a class file through its memory map does not matter to a power cut:
/// it only ever writes to new files, which are synced through the file system when they are closed,
/// and named in the log after that. `./dev crash power` looks at that order from outside, with real
/// files.
@Suite("Power cuts")
struct PowerCutTests {
  private static let limits = {
    var limits = CheckpointLimits(logBytes: 1500, filePart: 1000, bulkBytes: 1500)
    limits.logGrowth = 8 << 10
    return limits
  }()
  private static let saveCount = 24

  /// What a session has done before the power failed.
  private struct Session {
    let durability: Durability
    let key: TestKey?
    let saves: [ScriptedSave]
    /// The image after each save, from the empty store.
    var images = [StoreImage()]
    /// How many saves have returned.
    var acknowledged = 0

    init(seed: UInt64, durability: Durability, key: TestKey?) {
      (self.durability, self.key) = (durability, key)
      saves = (1...saveCount + 4).map { ScriptedSave($0, seed: seed, largeByteCount: 2000) }
      for save in saves { images.append(images[save.number - 1].applying(save)) }
    }

    func open(_ disk: SimulatedDisk) throws -> LoggedBackend<SimulatedFiles> {
      try LoggedBackend(
        files: SimulatedFiles(disk), durability: durability, limits: limits, key: key)
    }

    /// Saves on, and opens the store again at every tenth save.
    mutating func run(_ disk: SimulatedDisk) throws {
      var backend = try open(disk)
      for number in 1...saveCount {
        if number % 10 == 0 {
          try backend.close()
          backend = try open(disk)
        }
        let save = saves[number - 1]
        try save.commit(to: backend)
        acknowledged = number
        if save.isFollowedByCheckpoint { try backend.checkpoint() }
      }
      try backend.close()
    }

    /// Which save a reopened store ends with; nil when it is none of them, whole.
    func lastSave(in image: StoreImage) -> Int? { images.lastIndex(of: image) }
  }

  @Test("At full, every acknowledged save is there, and the next one whole or not at all")
  func full() throws {
    try cutEverywhere(.full) { session, last in last >= session.acknowledged }
  }

  @Test("At process, a power cut leaves the saves up to some moment")
  func process() throws {
    try cutEverywhere(.process) { _, _ in true }
  }

  @Test("At full, an encrypted store has the same, and always its key file")
  func encrypted() throws {
    try cutEverywhere(.full, key: TestKey()) { session, last in last >= session.acknowledged }
  }

  private func cutEverywhere(
    _ durability: Durability, key: TestKey? = nil, isEnough: (Session, Int) -> Bool
  ) throws {
    var generator = Seeds.generator(
      for: "power cuts, \(durability)\(key == nil ? "" : ", encrypted")")
    let seed = generator.next()
    let disk = SimulatedDisk()
    let unused = Session(seed: seed, durability: durability, key: key)
    var whole = unused
    try whole.run(disk)
    let operations = disk.operations
    #expect(operations.count > 100)
    #expect(operations.contains(.rename))
    for cut in operations.indices {
      let disk = SimulatedDisk()
      disk.plan(.cutPower(at: cut))
      var session = unused
      do { try session.run(disk) } catch {}
      disk.plan(.cutPower(at: 0))
      for _ in 0..<2 {
        try check(disk, session, "cut at \(cut), \(operations[cut])", isEnough, &generator)
      }
    }
    print("\(operations.count) cuts at \(durability), two images of the disk for each")
  }

  /// Reopens after a cut, perhaps with another one meanwhile; saves on, and cuts once more.
  private func check(
    _ disk: SimulatedDisk, _ session: Session, _ moment: String,
    _ isEnough: (Session, Int) -> Bool, _ generator: inout SeededGenerator
  ) throws {
    var rebooted = disk.afterPowerCut(using: &generator)
    if Bool.random(using: &generator) {
      rebooted.plan(.cutPower(at: .random(in: 0..<12, using: &generator)))
      do { _ = try session.open(rebooted) } catch {}
      rebooted.plan(.cutPower(at: 0))
      rebooted = rebooted.afterPowerCut(using: &generator)
    }
    do {
      let backend = try session.open(rebooted)
      let image = try StoreImage(of: backend)
      guard let last = session.lastSave(in: image), isEnough(session, last) else {
        let nearest = session.images[session.acknowledged]
        Issue.record(
          "\(moment): after \(session.acknowledged): \(image.differences(from: nearest))")
        return
      }
      for number in last + 1...last + 2 where number < session.images.count {
        try session.saves[number - 1].commit(to: backend)
      }
      // Neither closed nor folded.
      rebooted.plan(.cutPower(at: 0))
      let again = try session.open(rebooted.afterPowerCut(using: &generator))
      let found = try StoreImage(of: again)
      let end = min(last + 2, session.images.count - 1)
      #expect(
        session.durability == .full
          ? found == session.images[end] : session.images.contains(found),
        "\(moment): the saves after the cut")
    } catch {
      Issue.record("\(moment): \(error)")
    }
  }
}
