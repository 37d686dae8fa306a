import StoreEngine
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("A third log before the first is folded")
struct ThirdLogTests {
  private func open(_ disk: CrashingDirectory, _ kind: TestedBackend) throws
    -> any DirectoryBackend
  {
    var limits = CheckpointLimits(logBytes: 1 << 20)
    (limits.besideBytes, limits.foldsOnThread, limits.foldsAtClose) = (0, false, false)
    return try kind.open(disk, durability: .process, sharing: .processes, limits: limits)
  }

  private func beginFolding(_ backend: any DirectoryBackend) throws {
    let folding = try #require(backend as? any FoldingBeside)
    #expect(try folding.beginFolding())
  }

  @Test(
    "At process, a power cut leaves a store that opens",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func powerCut(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts with three logs, \(kind)")
    let disk = try CrashingDirectory()
    let first = try open(disk, kind)
    let table = try first.table(named: "Song")
    for row in UInt32(2)..<6 { try first.commit { $0.update(row, in: table, [UInt8(row)]) } }
    try beginFolding(first)
    // Finds both logs, and takes the folding over from the one that leaves.
    let second = try open(disk, kind)
    try first.close()
    try second.commit { $0.update(6, in: try second.table(named: "Song"), [6]) }
    try beginFolding(second)
    for _ in 0..<40 {
      let rebooted = try disk.afterPowerCut(using: &generator)
      let backend = try open(rebooted, kind)
      let found = try backend.records(in: backend.table(named: "Song")).keys.sorted()
      // All saves up to some moment.
      #expect(found == Array([2, 3, 4, 5, 6].prefix(found.count)))
      try backend.close()
    }
    try second.close()
  }
}
