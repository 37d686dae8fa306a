import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Tests of followers with repeated power cuts, broken networks and failing disks.
@Suite("Killed followers")
struct FollowerKillTests {
  /// The number of kills, which `./dev crash follow` sets.
  private static let killCount =
    ProcessInfo.processInfo.environment["STOREDOBJECTS_FOLLOWER_KILLS"].flatMap { Int($0) } ?? 100

  @Test(
    "A follower killed at any call applies each commit once, and ends with the same bytes",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func kills(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "a follower that is killed, \(kind)")
    var store = try RememberedStore(try MemoryBackend(), seed: generator.next())
    try store.saveWithImages(3)
    var disk = try CrashingDirectory()
    try makeCopy(of: store.backend, kind, disk)
    var (cutCount, fullCount, killCount) = (0, 0, 0)
    var last: UInt64 = 0
    while killCount < Self.killCount {
      try store.saveWithImages(.random(in: 0...4, using: &generator))
      switch Int.random(in: 0..<20, using: &generator) {
      case 0:
        disk.plan(.fail(at: .random(in: 0..<40, using: &generator), errno: ENOSPC))
        fullCount += 1
      default: disk.plan(.cutPower(at: .random(in: 0..<250, using: &generator)))
      }
      let isCut = Bool.random(using: &generator)
      if isCut { cutCount += 1 }
      do { try follow(store, kind, disk, isCut, &generator) } catch {}
      killCount += 1
      disk = try disk.afterPowerCut(using: &generator)
      let copy = try kind.open(disk, limits: ScriptedSession.limits)
      let position = try #require(try StoreFollower(copy).position())
      // Acknowledged commits are on the disk, and all commits are complete.
      #expect(position.number >= last && position.number == copy.lastCommitNumber)
      last = position.number
      let image = try #require(store.images[last])
      let differences = try RememberedStore.image(of: copy).differences(from: image)
      #expect(differences == [], "\(kind), kill \(killCount), commit \(last)")
      try copy.close()
    }
    disk.plan(.none)
    let copy = try kind.open(disk, limits: ScriptedSession.limits)
    var follower = try StoreFollower(copy)
    try follower.catchUp(with: store.backend)
    #expect(try RememberedStore.image(of: copy) == RememberedStore.image(of: store.backend))
    try copy.close()
    let damage: Set<StoreFinding.Kind> = [.log, .fileDamaged, .notAuthentic]
    #expect(try kind.check(disk.path, in: disk).findings.filter { damage.contains($0.kind) } == [])
    print(
      """
      \(killCount) kills of \(kind), \(cutCount) cut streams, \(fullCount) full disks, \
      \(last) commits
      """)
  }

  private func makeCopy(
    of source: any StoreBackend, _ kind: TestedBackend, _ disk: CrashingDirectory
  ) throws {
    let copy = try kind.open(disk, limits: ScriptedSession.limits)
    var follower = try StoreFollower(copy)
    try follower.catchUp(with: source)
    try copy.close()
  }

  private func follow(
    _ store: RememberedStore, _ kind: TestedBackend, _ disk: CrashingDirectory, _ isCut: Bool,
    _ generator: inout SeededGenerator
  ) throws {
    let copy = try kind.open(disk, limits: ScriptedSession.limits)
    var follower = try StoreFollower(copy)
    let position = try #require(try follower.position())
    var stream = CutStream(
      limit: isCut ? .random(in: 0..<6000, using: &generator) : Int.max)
    var writer = HistoryStreamWriter(behind: position)
    do {
      try writer.write(store.backend) { (bytes) throws(StoreError) in try stream.write(bytes) }
    } catch {}
    try follower.apply(stream.bytes)
    try copy.checkpoint()
  }

  @Test("A killed first copy is empty or reported as unfinished, and a finished one is complete")
  func firstCopy() throws {
    var generator = Seeds.generator(for: "a first copy that is killed")
    var store = try RememberedStore(try MemoryBackend(), seed: generator.next())
    try store.saveWithImages(10)
    let kind = TestedBackend.tokyoCabinet
    let whole = try CrashingDirectory()
    whole.plan(.none)
    try makeCopy(of: store.backend, kind, whole)
    var (noneCount, wholeCount) = (0, 0)
    for cut in whole.changes {
      let disk = try CrashingDirectory()
      disk.plan(.cutPower(at: cut))
      do { try makeCopy(of: store.backend, kind, disk) } catch {}
      let rebooted = try disk.afterPowerCut(using: &generator)
      let copy = try kind.open(rebooted, limits: ScriptedSession.limits)
      do {
        var follower = try StoreFollower(copy)
        let isWhole = try follower.position() != nil
        if isWhole { wholeCount += 1 } else { noneCount += 1 }
        try follower.catchUp(with: store.backend)
        #expect(
          try RememberedStore.image(of: copy) == RememberedStore.image(of: store.backend))
      } catch let error as StoreError {
        noneCount += 1
        #expect(error.code == .damaged && error.message.contains("not finished"), "\(error)")
      }
      try copy.close()
    }
    print("first copies: \(noneCount) incomplete, \(wholeCount) complete")
    #expect(noneCount > 10 && wholeCount > 0)
  }
}
