#if DEBUG
  import Foundation
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
  @Suite("Power cuts, with the files of each backend")
  struct PowerCutTests {
    private static let limits = {
      var limits = CheckpointLimits(logBytes: 1500, filePart: 1000, bulkBytes: 1500)
      limits.logGrowth = 8 << 10
      return limits
    }()
    private static let saveCount = 16

    /// What a session has done before the power failed.
    private struct Session {
      let kind: TestedBackend
      let durability: Durability
      let saves: [ScriptedSave]
      /// The image after each save, from the empty store.
      var images = [StoreImage()]
      /// How many saves have returned.
      var acknowledged = 0

      init(_ kind: TestedBackend, _ durability: Durability, seed: UInt64) {
        (self.kind, self.durability) = (kind, durability)
        saves = (1...saveCount + 4).map { ScriptedSave($0, seed: seed, largeByteCount: 2000) }
        for save in saves { images.append(images[save.number - 1].applying(save)) }
      }

      func open(_ directory: String) throws -> any DirectoryBackend {
        try kind.open(directory, durability: durability, limits: limits)
      }

      /// Saves on, and opens the store again at every sixth save.
      mutating func run(_ directory: String) throws {
        var backend = try open(directory)
        for number in 1...saveCount {
          if number % 6 == 0 {
            try backend.close()
            backend = try open(directory)
          }
          let save = saves[number - 1]
          try save.commit(to: backend)
          acknowledged = number
          if save.isFollowedByCheckpoint { try backend.checkpoint() }
        }
        try backend.close()
      }
    }

    @Test(
      "At full, every acknowledged save is there, and the next one whole or not at all",
      arguments: TestedBackend.onDisk)
    func full(_ kind: TestedBackend) throws {
      try cutEverywhere(kind, .full) { session, last in last >= session.acknowledged }
    }

    @Test(
      "At process, a power cut leaves the saves up to some moment",
      arguments: [TestedBackend.tokyoCabinet, .cdb])
    func process(_ kind: TestedBackend) throws {
      try cutEverywhere(kind, .process) { _, _ in true }
    }

    @Test(
      "At none a power cut loses saves, which shows that the disk of these tests does",
      arguments: [TestedBackend.tokyoCabinet, .cdb])
    func none(_ kind: TestedBackend) throws {
      var generator = Seeds.generator(for: "power cuts without syncs, \(kind)")
      var session = Session(kind, .none, seed: generator.next())
      try withTemporaryDirectory(in: .memory) { directory in
        try FileManager.default.createDirectory(
          atPath: directory + "/store", withIntermediateDirectories: true)
        let disk = try CrashingDirectory(directory + "/store")
        try session.run(disk.path)
        var lossCount = 0
        for number in 0..<8 {
          let path = "\(directory)/\(number)"
          try disk.copyAfterPowerCut(to: path, using: &generator)
          let backend = try? session.open(path)
          let image = try? backend.map { try StoreImage(of: $0) }
          if image != session.images[session.acknowledged] { lossCount += 1 }
        }
        #expect(lossCount > 4)
      }
    }

    private func cutEverywhere(
      _ kind: TestedBackend, _ durability: Durability, isEnough: (Session, Int) -> Bool
    ) throws {
      var generator = Seeds.generator(for: "power cuts with real files, \(kind), \(durability)")
      let unused = Session(kind, durability, seed: generator.next())
      var operations: [String] = []
      try withTemporaryDirectory(in: .memory) { directory in
        try FileManager.default.createDirectory(
          atPath: directory + "/store", withIntermediateDirectories: true)
        let disk = try CrashingDirectory(directory + "/store")
        var whole = unused
        try whole.run(disk.path)
        operations = disk.operations
      }
      #expect(operations.count > 100)
      #expect(operations.contains("renameat"))
      // What encryption adds happens once, at the opening; the rest is the same for both.
      let isSample = kind.isEncrypted
      for cut in operations.indices where !isSample || cut < 40 || cut % 8 == 0 {
        try withTemporaryDirectory(in: .memory) { directory in
          try FileManager.default.createDirectory(
            atPath: directory + "/store", withIntermediateDirectories: true)
          let disk = try CrashingDirectory(directory + "/store")
          disk.plan(.cutPower(at: cut))
          var session = unused
          do { try session.run(disk.path) } catch {}
          let moment = "\(kind) at \(durability), cut at \(cut), \(operations[cut])"
          try disk.copyAfterPowerCut(to: directory + "/after", using: &generator)
          try check(directory, session, moment, isEnough, &generator)
        }
      }
      print("\(operations.count) cuts of \(kind) at \(durability)")
    }

    /// Reopens after a cut, perhaps with another one meanwhile; saves on, and cuts once more.
    private func check(
      _ directory: String, _ session: Session, _ moment: String,
      _ isEnough: (Session, Int) -> Bool, _ generator: inout SeededGenerator
    ) throws {
      var path = directory + "/after"
      if Bool.random(using: &generator) {
        let disk = try CrashingDirectory(path)
        disk.plan(.cutPower(at: .random(in: 0..<12, using: &generator)))
        do { _ = try session.open(path) } catch {}
        path = directory + "/again"
        try disk.copyAfterPowerCut(to: path, using: &generator)
      }
      do {
        let disk = try CrashingDirectory(path)
        let backend = try session.open(path)
        let image = try StoreImage(of: backend)
        guard let last = session.images.lastIndex(of: image), isEnough(session, last) else {
          let nearest = session.images[session.acknowledged]
          Issue.record(
            "\(moment): after \(session.acknowledged): \(image.differences(from: nearest))")
          return
        }
        for number in last + 1...last + 2 where number < session.images.count {
          try session.saves[number - 1].commit(to: backend)
        }
        // Neither closed nor folded.
        disk.plan(.cutPower(at: 0))
        try disk.copyAfterPowerCut(to: directory + "/last", using: &generator)
        let again = try session.open(directory + "/last")
        let found = try StoreImage(of: again)
        try again.close()
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
#endif
