import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

/// Saves that go on in a second log while those before them are brought to the files.
@Suite("Folding during saves")
struct FoldingBesideTests {
  private typealias Fixture = FoldingFixture

  @Test(
    "Saves before, during and after a fold are read as from one log",
    arguments: TestedBackend.onDisk)
  func model(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "folding beside saves, \(kind)")
    for _ in 0..<3 {
      let session = ScriptedSession(seed: generator.next(), saveCount: 36)
      try Fixture.withStore { directory in
        var (backend, folding) = try Fixture.open(kind, directory)
        for save in session.saves {
          try save.commit(to: backend)
          #expect(try StoreImage(of: backend) == session.images[save.number])
          switch Int.random(in: 0..<12, using: &generator) {
          case 0, 1, 2: _ = try folding.beginFolding()
          case 3, 4: try folding.endFolding()
          case 5: try backend.checkpoint()
          case 6:
            try backend.close()
            #expect(try Fixture.damage(kind, directory).isEmpty)
            (backend, folding) = try Fixture.open(kind, directory)
          default: continue
          }
          #expect(try StoreImage(of: backend) == session.images[save.number])
        }
        try backend.close()
        #expect(try Fixture.damage(kind, directory).isEmpty)
      }
    }
  }

  @Test(
    "A process that dies during a fold leaves both logs, which are read, checked and salvaged",
    arguments: TestedBackend.onDisk)
  func killed(_ kind: TestedBackend) throws {
    let session = ScriptedSession(seed: 7, saveCount: 9)
    try Fixture.withStore { directory in
      let (backend, _) = try Fixture.open(kind, directory)
      try Fixture.save(session, 0..<3, thenFoldingBeside: 3..<6, on: backend)
      let image = session.images[6]
      var left = try Fixture.copy(directory)
      try backend.close()
      #expect(try Fixture.earlierLogs(in: left).count == 1)

      #expect(try Fixture.damage(kind, left).isEmpty)
      let reader = try Fixture.open(kind, left, readOnly: true).backend
      #expect(try StoreImage(of: reader) == image)
      try reader.close()
      let report = try kind.salvage(left, to: left + " salvaged")
      #expect(report.losses.allSatisfy { $0.kind == .metadataDamaged })
      let salvaged = try kind.open(left + " salvaged")
      #expect(try Fixture.holdsSame(StoreImage(of: salvaged), image))
      #expect(salvaged.lastCommitNumber == 6)
      try salvaged.close()

      // Dies again while the log of the second process is folded, and once more.
      for round in 0..<2 {
        let (again, folding) = try Fixture.open(kind, left)
        #expect(try StoreImage(of: again) == session.images[6 + round])
        #expect(try folding.beginFolding())
        try session.saves[6 + round].commit(to: again)
        let next = try Fixture.copy(left)
        try again.close()
        left = next
      }
      #expect(try Fixture.earlierLogs(in: left).count == 3)
      let (last, _) = try Fixture.open(kind, left)
      #expect(try StoreImage(of: last) == session.images[8])
      #expect(last.lastCommitNumber == 8)
      try last.checkpoint()
      #expect(try Fixture.earlierLogs(in: left).isEmpty)
      #expect(try StoreImage(of: last) == session.images[8])
      try last.close()
      #expect(try Fixture.damage(kind, left).isEmpty)
    }
  }

  @Test(
    "A missing, truncated or older log is damage, and its saves are reported as lost",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func lost(_ kind: TestedBackend) throws {
    let session = ScriptedSession(seed: 8, saveCount: 9)
    for loss in ["gone", "cut off", "another"] {
      try Fixture.withStore { directory in
        let (backend, folding) = try Fixture.open(kind, directory)
        for save in session.saves.prefix(3) { try save.commit(to: backend) }
        let other = try StoreFile(FileLocation(directory + "/Commit.log"), writable: false)
        let otherBytes = try other.read(other.size(), at: 0)
        #expect(try folding.beginFolding())
        try folding.endFolding()
        for save in session.saves.prefix(6).dropFirst(3) { try save.commit(to: backend) }
        #expect(try folding.beginFolding())
        try session.saves[6].commit(to: backend)
        let left = try Fixture.copy(directory)
        try backend.close()
        let name = try #require(try Fixture.earlierLogs(in: left).first)
        let path = FileLocation(left + "/" + name)
        switch loss {
        case "gone": try removeFile(path)
        case "cut off":
          let file = try StoreFile(path, writable: true)
          // The last batch, whole.
          var reader = try #require(try CommitLogReader(file))
          var last = CommitLogFormat.firstBatch
          while let batch = try reader.next() { last = batch.offset }
          try file.write([UInt8](repeating: 0, count: file.size() - last), at: last)
        default:
          try removeFile(path)
          try StoreFile(path, writable: true).write(otherBytes, at: 0)
        }
        let error = TokyoFixtures.error { _ = try Fixture.open(kind, left) }
        #expect(error?.code == .damaged, "\(loss)")
        #expect(
          error?.location.path?.hasSuffix(name) == true, "\(loss): \(String(describing: error))")
        #expect(try !Fixture.damage(kind, left).isEmpty, "\(loss)")
        let report = try kind.salvage(left, to: left + " salvaged")
        #expect(report.losses.contains { $0.kind == .log })
        let salvaged = try kind.open(left + " salvaged")
        // A save behind lost ones may rest on them.
        let image = try StoreImage(of: salvaged)
        #expect(session.images[..<7].contains { Fixture.holdsSame(image, $0) }, "\(loss)")
        try salvaged.close()
      }
    }
  }

  @Test(
    "Processes that die one after the other, in a log with a checkpoint, lose no save",
    arguments: TestedBackend.onDisk)
  func killedAgain(_ kind: TestedBackend) throws {
    let session = ScriptedSession(seed: 13, saveCount: 8)
    try Fixture.withStore { directory in
      let (backend, folding) = try Fixture.open(kind, directory)
      for save in session.saves.prefix(2) { try save.commit(to: backend) }
      #expect(try folding.beginFolding())
      try folding.endFolding()
      try Fixture.save(session, 2..<4, thenFoldingBeside: 4..<5, on: backend)
      var left = try Fixture.copy(directory)
      try backend.close()
      for number in 5..<8 {
        let (next, _) = try Fixture.open(kind, left)
        #expect(try StoreImage(of: next) == session.images[number])
        try session.saves[number].commit(to: next)
        let after = try Fixture.copy(left)
        try next.close()
        left = after
      }
      let (last, _) = try Fixture.open(kind, left)
      #expect(try StoreImage(of: last) == session.images[8])
      try last.close()
    }
  }

  @Test("Changing any byte of an earlier log does not change the data that is read")
  func flips() throws {
    let session = ScriptedSession(seed: 12, saveCount: 8)
    try Fixture.withStore { directory in
      let (backend, _) = try Fixture.open(.cdb, directory)
      try Fixture.save(session, 0..<4, thenFoldingBeside: 4..<6, on: backend)
      let left = try Fixture.copy(directory)
      try backend.close()
      let names = ["Commit.log"] + (try Fixture.earlierLogs(in: left))
      var damageCount = 0
      for name in names {
        let file = try StoreFile(FileLocation(left + "/" + name), writable: true)
        let used = CommitLogFormat.firstBatch + (try file.size() - CommitLogFormat.firstBatch) / 2
        var generator = Seeds.generator(for: "spoilt earlier logs, \(names.count)")
        let offset = Int.random(in: 0..<23, using: &generator)
        for place in stride(from: offset, to: used, by: 23) {
          let byte = try file.read(1, at: place)
          try file.write([byte[0] ^ 0x20], at: place)
          do {
            let reader = try Fixture.open(.cdb, left, readOnly: true).backend
            let image = try StoreImage(of: reader)
            // Of the last log the last save may pass for one that was cut off.
            #expect(
              image == session.images[6] || name == "Commit.log" && image == session.images[5],
              "\(name) at \(place)")
            try reader.close()
          } catch let error as StoreError {
            #expect(error.code == .damaged, "\(name) at \(place): \(error)")
            damageCount += 1
          }
          try file.write(byte, at: place)
        }
      }
      #expect(damageCount > 20)
      #expect(try StoreImage(of: Fixture.open(.cdb, left).backend) == session.images[6])
    }
  }

  @Test("A closed store has one log, which earlier versions of this library can read")
  func closed() throws {
    try Fixture.withStore { directory in
      let session = ScriptedSession(seed: 9, saveCount: 9)
      let (backend, folding) = try Fixture.open(.cdb, directory)
      for save in session.saves.prefix(3) { try save.commit(to: backend) }
      #expect(try folding.beginFolding())
      try folding.endFolding()
      try session.saves[3].commit(to: backend)
      try backend.close()
      #expect(try Fixture.earlierLogs(in: directory).isEmpty)
      let names = try Fixture.entries(of: directory)
      #expect(!names.contains { $0.hasPrefix(".new.") })
      let log = try StoreFile(FileLocation(directory + "/Commit.log"), writable: false)
      #expect(try CommitLogReader(log)?.slot.earlier == nil)
    }
  }

  @Test("During a fold other threads save and read, and each sees complete saves")
  func threads() async throws {
    var limits = CheckpointLimits(logBytes: 4000, filePart: 1 << 30, bulkBytes: 1 << 30)
    limits.logGrowth = 8 << 10
    limits.besideBytes = 0
    for kind in [TestedBackend.tokyoCabinet, .encryptedCDB] {
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let backend = try kind.open(directory, durability: .process, limits: limits)
      let (first, second) = (try backend.table(named: "A"), try backend.table(named: "B"))
      try backend.commit {
        $0.insert(2, in: first, [0])
        $0.insert(2, in: second, [0])
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for number in 0..<400 {
            let record = [UInt8(number & 0xFF)] + [UInt8](repeating: 7, count: 60)
            try backend.commit {
              $0.update(2, in: first, record)
              $0.update(2, in: second, record)
              $0.insert(UInt32(number + 3), in: first, record)
            }
            #expect(try backend.recordCount(in: first) == number + 2)
            #expect(try backend.record(UInt32(number + 3), in: first) == record)
          }
        }
        group.addTask {
          while backend.lastCommitNumber < 400 {
            // The second is read later, so it is never the older one.
            let one = try backend.record(2, in: first)?.first ?? 0
            let two = try backend.record(2, in: second)?.first ?? 0
            #expect(two &- one < 128)
            let records = try backend.records(in: first)
            #expect(try records.count <= backend.recordCount(in: first))
          }
        }
        try await group.waitForAll()
      }
      try backend.close()
      let again = try kind.open(directory)
      #expect(try again.recordCount(in: again.table(named: "A")) == 401)
      try again.close()
      #expect(try Fixture.damage(kind, directory).isEmpty)
    }
  }

  @Test("Backups, checks and conversions during a fold have all saves")
  func meanwhile() throws {
    let session = ScriptedSession(seed: 10, saveCount: 9)
    try Fixture.withStore { directory in
      let (backend, folding) = try Fixture.open(.tokyoCabinet, directory)
      try Fixture.save(session, 0..<4, thenFoldingBeside: 4..<6, on: backend)
      #expect(try BackendCheck(backend).run { _ in }.findings.allSatisfy { $0.kind != .log })
      try backend.backup(to: directory + " backup") { _ in }
      let copy = try TestedBackend.tokyoCabinet.open(directory + " backup")
      #expect(try StoreImage(of: copy) == session.images[6])
      #expect(copy.lastCommitNumber == 6)
      try copy.close()
      #expect(try backend.compact { _ in } >= 0)
      #expect(!folding.isFolding)
      #expect(try StoreImage(of: backend) == session.images[6])
      try backend.close()
    }
  }

  @Test(
    "A failing call anywhere in a session loses no acknowledged save",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func failingCalls(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "folding beside saves, failing calls, \(kind)")
    let unused = ScriptedSession(seed: generator.next(), saveCount: 16)
    let limits = PowerCutTests.Folding.beside.limits
    let whole = try CrashingDirectory()
    var session = unused
    try session.run { try kind.open(whole, limits: limits) }
    let offset = Int.random(in: 0..<5, using: &generator)
    for number in stride(from: offset, to: whole.operations.count, by: 5) {
      let disk = try CrashingDirectory()
      disk.plan(.fail(at: number, errno: [5, 28][number % 2]))
      var session = unused
      do { try session.run { try kind.open(disk, limits: limits) } } catch {}
      disk.plan(.none)
      let backend = try kind.open(disk, limits: limits)
      let image = try StoreImage(of: backend)
      let last = session.lastSave(in: image)
      #expect(
        last.map { $0 >= session.acknowledged } == true,
        "\(whole.operations[number]) at \(number): \(session.differences(of: image))")
      try backend.close()
    }
  }

  @Test(
    "If new files can't be created, the folded data stays readable, and folding is tried again"
  )
  func failure() throws {
    try Fixture.withStore { directory in
      let session = ScriptedSession(seed: 11, saveCount: 12)
      let (backend, folding) = try Fixture.open(.tokyoCabinet, directory)
      for save in session.saves.prefix(4) { try save.commit(to: backend) }
      // A directory where the first new file would be made is in the way.
      try makeDirectories(directory + "/.new.0/in the way")
      #expect(try folding.beginFolding())
      for save in session.saves.prefix(6).dropFirst(4) { try save.commit(to: backend) }
      #expect(throws: StoreError.self) { try folding.endFolding() }
      #expect(backend.foldFailure?.tryCount == 1 && folding.isFolding)
      #expect(try StoreImage(of: backend) == session.images[6])
      let left = try Fixture.copy(directory)
      let (again, _) = try Fixture.open(.tokyoCabinet, left)
      #expect(try StoreImage(of: again) == session.images[6])
      try again.close()
      try removeDirectory(directory + "/.new.0/in the way")
      try removeDirectory(directory + "/.new.0")
      try folding.endFolding()
      #expect(backend.foldFailure == nil && !folding.isFolding)
      #expect(try StoreImage(of: backend) == session.images[6])
      try backend.close()
    }
  }

  @Test(
    "The unfinished copy of a dead process never replaces the complete file",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func begunCopy(_ kind: TestedBackend) throws {
    try FoldingFixture.withStore { directory in
      let (backend, folding) = try FoldingFixture.open(kind, directory)
      try kind.write(1, to: backend)
      #expect(try folding.beginFolding())
      try kind.write(2, to: backend)
      // The record of this checkpoint stays in the log, and names a new file.
      try folding.endFolding()
      let image = try StoreImage(of: backend)
      let copied = try FoldingFixture.copy(directory)
      let song = URL(filePath: copied + (kind == .cdb ? "/Song.cdb" : "/Song"))
      let bytes = try Data(contentsOf: song)
      try bytes.prefix(bytes.count / 2).write(to: URL(filePath: copied + "/.new.0"))
      let report = try kind.salvage(copied, to: copied + "-salvaged")
      // These classes have no metadata rows.
      #expect(report.losses.allSatisfy { $0.kind == .metadataDamaged })
      let found = report.classes.first { $0.name == "Song" }?.objectCount
      #expect(try found == backend.recordCount(in: backend.table(named: "Song")))
      let opened = try kind.open(copied)
      #expect(try StoreImage(of: opened) == image)
      try opened.close()
      try backend.close()
      #expect(try Data(contentsOf: song).count >= bytes.count / 2 + 1)
    }
  }
}
