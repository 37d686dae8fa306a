import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Classes that are removed as a whole, with their metadata and indexes, and what becomes of their
/// files.
@Suite("Files of removed classes")
struct EmptyFileTests {
  private static let index = OrderedTableName("Genre..by name", kind: .index)

  /// Writes a class of some objects, with its metadata, and an index.
  private func add(_ name: String, to backend: any StoreBackend, size: Int = 10) throws {
    let table = try backend.table(named: name)
    let index = try backend.orderedTable(Self.index)
    try backend.commit { changes in
      for row in UInt32(1)..<6 { changes.insert(row, in: table, Array(repeating: 7, count: size)) }
      if name == "Genre" { changes.set([1], to: Array(repeating: 1, count: size), in: index) }
    }
  }

  /// Removes it, as a migration does, in a save of some size, which may take it past the log.
  private func remove(_ backend: any StoreBackend, size: Int = 1) throws {
    let (table, kept) = (try backend.table(named: "Genre"), try backend.table(named: "Song"))
    var changes = ChangeSetBuilder()
    for row in UInt32(1)..<6 { changes.delete(row, in: table) }
    changes.update(2, in: kept, Array(repeating: 8, count: size))
    var all = changes.changeSet
    all.clear(try backend.orderedTable(Self.index))
    try backend.commit(all)
  }

  private func names(_ directory: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: directory))
  }

  @Test(
    "They are removed by folds and large saves, and the class can be used again",
    arguments: TestedBackend.onDisk, [1, 5000])
  func removed(_ kind: TestedBackend, size: Int) throws {
    try withTemporaryDirectory { parent in
      let directory = parent + "/store"
      var backend = try kind.openSmall(directory)
      try add("Song", to: backend)
      try backend.checkpoint()
      let before = try names(directory)
      for _ in 0..<2 {
        try add("Genre", to: backend)
        try backend.checkpoint()
        #expect(try names(directory).count == before.count + 2)
        try remove(backend, size: size)
        try backend.checkpoint()
        #expect(try names(directory) == before)
        #expect(try backend.tableNames() == ["Song"])
        #expect(try backend.recordCount(in: backend.table(named: "Genre")) == 0)
        #expect(try backend.orderedTableNames() == [])
      }
      try add("Genre", to: backend)
      try backend.close()
      #expect(try kind.check(directory).findings.filter { $0.kind == .fileDamaged } == [])
      backend = try kind.openSmall(directory)
      #expect(try backend.records(in: backend.table(named: "Genre")).count == 5)
      #expect(try backend.keyCount(in: backend.orderedTable(Self.index), KeyRange()) == 1)
      try backend.close()
    }
  }

  @Test(
    "Those of earlier versions are removed by compact, and those with records stay",
    arguments: TestedBackend.onDisk)
  func compacted(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { parent in
      let directory = parent + "/store"
      let backend = try kind.open(directory)
      try add("Song", to: backend)
      try backend.checkpoint()
      let before = try names(directory)
      // Without metadata that is removed, it stays, as it did.
      let table = try backend.table(named: "Genre")
      try backend.commit { $0.insert(2, in: table, [1]) }
      try backend.checkpoint()
      try backend.commit { $0.delete(2, in: table) }
      try backend.checkpoint()
      #expect(try names(directory).count == before.count + 1)
      _ = try backend.compact { _ in }
      #expect(try names(directory) == before)
      #expect(try backend.records(in: backend.table(named: "Song")).count == 5)
      try backend.close()
    }
  }

  /// Adds and removes a class twice; the states between.
  private func run(
    _ kind: TestedBackend, _ disk: CrashingDirectory, _ images: inout [StoreImage]
  ) throws {
    let backend = try kind.open(disk)
    images.append(try StoreImage(of: backend))
    try add("Song", to: backend)
    images.append(try StoreImage(of: backend))
    for _ in 0..<2 {
      try add("Genre", to: backend)
      images.append(try StoreImage(of: backend))
      try backend.checkpoint()
      try remove(backend)
      images.append(try StoreImage(of: backend))
      try backend.checkpoint()
    }
    try backend.close()
  }

  @Test(
    "After a power cut at any call the store opens as of a save, and they are removed later",
    arguments: TestedBackend.onDisk)
  func powerCuts(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts at removed classes, \(kind)")
    let whole = try CrashingDirectory()
    var images: [StoreImage] = []
    try run(kind, whole, &images)
    let last = whole.names.count
    for cut in whole.changes {
      var disk = try CrashingDirectory()
      disk.plan(.cutPower(at: cut))
      var reached: [StoreImage] = []
      do { try run(kind, disk, &reached) } catch {}
      disk.plan(.none)
      if cut % 4 != 0 { disk = try disk.afterPowerCut(using: &generator) }
      do {
        let backend = try kind.open(disk)
        let image = try StoreImage(of: backend)
        let possible = images[max(0, reached.count - 1)...min(reached.count, images.count - 1)]
        #expect(reached.isEmpty || possible.contains(image), "cut at \(cut)")
        try backend.checkpoint()
        try backend.close()
        // An opening that follows a crash between the manifest and the removal removes them, too.
        try kind.open(disk).close()
        if image == images.last {
          #expect(disk.names.count == last, "cut at \(cut): \(disk.names)")
        }
      } catch {
        Issue.record("cut at \(cut): \(error)")
      }
    }
  }
}
