import Files
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Every single call of a session fails once that opens, makes, reads, maps, writes, resizes, syncs,
/// renames or removes a file.
@Suite("Failing disks")
struct DiskFailureTests {
  private static let saveCount = 20

  /// A session that goes on after a failure: it tries again, and opens the store again if it must.
  private struct Session {
    let kind: TestedBackend
    let disk: CrashingDirectory
    let saves: [ScriptedSave]
    let title: String
    var image = StoreImage()
    var failures = 0

    func open() throws -> any DirectoryBackend {
      try kind.open(disk, limits: ScriptedSession.limits)
    }

    mutating func reopen() throws -> any DirectoryBackend {
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
      #expect(end == image, "\(title): at the end")
      // A close that can't fold leaves the saves in the log.
      do { try backend.close() } catch { expectStoreError(error) }
      backend = try reopen()
      let reopened = try read(backend)
      #expect(reopened == image, "\(title): reopened")
    }

    /// Reads everything; a look-up that fails can be tried again.
    private mutating func read(_ backend: any DirectoryBackend) throws -> StoreImage {
      do {
        return try StoreImage(of: backend)
      } catch {
        expectStoreError(error)
        return try StoreImage(of: backend)
      }
    }

    private mutating func expectStoreError(_ error: any Error) {
      failures += 1
      #expect(error is StoreError, "\(title): \(error)")
    }

    private mutating func afterFailure(
      _ save: ScriptedSave, _ mustReopen: Bool, _ backend: inout any DirectoryBackend
    ) throws {
      let done = image.applying(save)
      guard mustReopen else {
        // Nothing is changed, and another try succeeds: of the save, or of the checkpoint.
        let found = try read(backend)
        #expect(found == image, "\(title): after \(save.number)")
        if save.isFollowedByCheckpoint, image == done { return try backend.checkpoint() }
        try save.commit(to: backend)
        image = done
        return
      }
      #expect(throws: StoreError.self) { try save.commit(to: backend) }
      try backend.close()
      backend = try reopen()
      let found = try read(backend)
      #expect(found == image || found == done, "\(title): reopened after \(save.number)")
      if found != done { try save.commit(to: backend) }
      image = done
    }
  }

  @Test(
    "After any failing call the save throws and can be tried again, and other saves are unchanged",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func everyCall(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "a failing disk, \(kind)")
    let seed = generator.next()
    let saves = (1...Self.saveCount).map { ScriptedSave($0, seed: seed, largeByteCount: 2000) }
    var whole = try Session(
      kind: kind, disk: CrashingDirectory(), saves: saves, title: "no failure")
    try whole.run()
    let operations = whole.disk.operations
    #expect(
      Set(operations).isSuperset(of: [
        .open, .create, .read, .map, .write, .sync, .syncData, .rename, .remove,
      ]))
    var failures = 0
    let sample = CaseSampling(every: 3, using: &generator)
    for (number, operation) in operations.enumerated() where sample.includes(number) {
      let disk = try CrashingDirectory()
      // No room, or an I/O error.
      disk.plan(.fail(at: number, errno: number % 2 == 0 ? 28 : 5))
      var session = Session(
        kind: kind, disk: disk, saves: saves, title: "\(operation) \(number) failed")
      do {
        try session.run()
        // And what has been acknowledged is durable in spite of the failure.
        let rebooted = try disk.afterPowerCut(using: &generator)
        let backend = try kind.open(rebooted, limits: ScriptedSession.limits)
        #expect(try StoreImage(of: backend) == session.image, "\(session.title): power cut")
      } catch {
        Issue.record("\(session.title): \(error)")
      }
      failures += session.failures
    }
    print("a sample of \(operations.count) calls failed, \(failures) errors were thrown")
    #expect(failures > operations.count / 12)
  }
}
