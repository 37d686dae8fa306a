import StoreEngine
import StoredObjectsTestSupport
import Testing

/// Every single call of a session fails once: each write, sync, rename, resize, read and removal.
@Suite("A disk that fails")
struct DiskFailureTests {
  private static let saveCount = 20
  private static let limits = {
    var limits = CheckpointLimits(logBytes: 1500, filePart: 1000, bulkBytes: 1500)
    limits.logGrowth = 8 << 10
    return limits
  }()

  /// A session that goes on after a failure: it tries again, and opens the store again if it must.
  private struct Session {
    let disk: SimulatedDisk
    let saves: [ScriptedSave]
    let moment: String
    var image = StoreImage()
    var failures = 0

    func open() throws -> LoggedBackend<SimulatedFiles> {
      try LoggedBackend(files: SimulatedFiles(disk), limits: limits)
    }

    mutating func reopen() throws -> LoggedBackend<SimulatedFiles> {
      do {
        return try open()
      } catch {
        expectStoreError(error)
        return try open()
      }
    }

    mutating func run() throws {
      var backend = try reopen()
      for save in saves {
        do {
          try save.commit(to: backend)
          image.apply(save)
          if save.isFollowedByCheckpoint { try backend.checkpoint() }
        } catch {
          expectStoreError(error)
          try afterFailure(save, (error as? StoreError)?.code == .reopenNeeded, &backend)
        }
      }
      let end = try read(backend)
      #expect(end == image, "\(moment): at the end")
      // A close that can't fold leaves the saves in the log.
      do { try backend.close() } catch { expectStoreError(error) }
      backend = try reopen()
      let reopened = try read(backend)
      #expect(reopened == image, "\(moment): reopened")
    }

    /// Reads everything; a look-up that fails can be tried again.
    private mutating func read(_ backend: LoggedBackend<SimulatedFiles>) throws -> StoreImage {
      do {
        return try StoreImage(of: backend)
      } catch {
        expectStoreError(error)
        return try StoreImage(of: backend)
      }
    }

    private mutating func expectStoreError(_ error: any Error) {
      failures += 1
      #expect(error is StoreError, "\(moment): \(error)")
    }

    private mutating func afterFailure(
      _ save: ScriptedSave, _ mustReopen: Bool, _ backend: inout LoggedBackend<SimulatedFiles>
    ) throws {
      let done = image.applying(save)
      guard mustReopen else {
        // Nothing is changed, and another try succeeds: of the save, or of the checkpoint.
        let found = try read(backend)
        #expect(found == image, "\(moment): after \(save.number)")
        if save.isFollowedByCheckpoint, image == done { return try backend.checkpoint() }
        try save.commit(to: backend)
        image = done
        return
      }
      #expect(throws: StoreError.self) { try save.commit(to: backend) }
      try backend.close()
      backend = try reopen()
      let found = try read(backend)
      #expect(found == image || found == done, "\(moment): reopened after \(save.number)")
      if found != done { try save.commit(to: backend) }
      image = done
    }
  }

  @Test("Whichever call fails, the save throws, can be tried again, and no other save is touched")
  func everyCall() throws {
    var generator = Seeds.generator(for: "a failing disk")
    let seed = generator.next()
    let saves = (1...Self.saveCount).map { ScriptedSave($0, seed: seed, largeByteCount: 2000) }
    var whole = Session(disk: SimulatedDisk(), saves: saves, moment: "no failure")
    try whole.run()
    let operations = whole.disk.operations
    #expect(Set(operations) == Set(SimulatedDisk.Operation.allCases.filter { $0 != .remove }))
    var failures = 0
    for (number, operation) in operations.enumerated() {
      let disk = SimulatedDisk()
      // No room, or an I/O error.
      disk.plan(.fail(at: number, errno: number % 2 == 0 ? 28 : 5))
      var session = Session(disk: disk, saves: saves, moment: "\(operation) \(number) failed")
      do { try session.run() } catch { Issue.record("\(session.moment): \(error)") }
      failures += session.failures
      // And what has been acknowledged is durable in spite of the failure.
      let rebooted = disk.afterPowerCut(using: &generator)
      session.disk.plan(.cutPower(at: 0))
      let backend = try LoggedBackend(files: SimulatedFiles(rebooted), limits: Self.limits)
      #expect(try StoreImage(of: backend) == session.image, "\(session.moment): power cut")
    }
    print("\(operations.count) calls failed, \(failures) errors were thrown")
    #expect(failures > operations.count / 4)
  }
}
