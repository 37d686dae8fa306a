import Files
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Continuous backups")
struct ContinuousBackupTests {
  /// The number of restored commits, which `./dev crash follow` sets.
  private static let restoreCount =
    ProcessInfo.processInfo.environment["STOREDOBJECTS_RESTORES"].flatMap { Int($0) } ?? 40

  private func restore(
    _ kind: TestedBackend, _ backup: String, to target: String,
    _ point: ContinuousBackup.RestorePoint
  ) throws -> StoreImage {
    try ContinuousBackup.restore(from: backup, to: target, point) { (path) throws(StoreError) in
      guard let format = kind.format else { throw StoreError(.ioError, "Memory has no files.") }
      return try format.open(path, access: .readOnly)
    }
    let backend = try kind.open(target)
    #expect(try !backend.isFollower())
    let image = try RememberedStore.content(of: RememberedStore.image(of: backend))
    try backend.commit { $0.insert(4_000_000, in: try backend.table(named: "Song"), [1]) }
    try backend.close()
    try FileManager.default.removeItem(atPath: target)
    return image
  }

  @Test(
    "A backup is restored as of random commits and as of the last one",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func points(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "restores of continuous backups, \(kind)")
    try withTemporaryDirectory(in: .memory) { folder in
      let source = try kind.openSmall(folder + "/source")
      var store = try RememberedStore(source, seed: generator.next())
      var backup = try ContinuousBackup(directory: folder + "/backup")
      var files = 0
      for round in 0..<60 {
        try store.saveWithImages(.random(in: 3...5, using: &generator))
        if round % 7 == 3 { backup = try ContinuousBackup(directory: folder + "/backup") }
        files += try backup.update(from: source).count
        #expect(try backup.update(from: source) == [])
        // Purging makes the backup copy the store again, and loses two commits.
        if round == 40 {
          try store.saveWithImages(2)
          try source.purgeHistory(through: source.lastCommitNumber)
        }
      }
      #expect(files == 62)
      #expect(try backup.position == source.historyPosition())
      var restored = 0
      let lost = try lostNumbers(folder + "/backup")
      let first = try #require(try baseNumbers(folder + "/backup").min())
      let numbers = store.images.keys.filter { $0 >= first }.sorted()
      for number in numbers.shuffled(using: &generator).prefix(Self.restoreCount) {
        let image = try #require(store.images[number])
        if lost.contains(number) {
          let error = #expect(throws: StoreError.self) {
            _ = try restore(kind, folder + "/backup", to: folder + "/new", .commit(number))
          }
          #expect(error?.code == .historyExpired)
          continue
        }
        let found = try restore(kind, folder + "/backup", to: folder + "/new", .commit(number))
        #expect(found.differences(from: RememberedStore.content(of: image)) == [], "\(number)")
        restored += 1
      }
      print("\(restored) of \(store.images.count) commits restored, \(lost.count) lost")
      let last = try #require(store.images[source.lastCommitNumber])
      #expect(
        try restore(kind, folder + "/backup", to: folder + "/new", .newest)
          == RememberedStore.content(of: last))
      try source.close()
    }
  }

  private func baseNumbers(_ path: String) throws -> [UInt64] {
    try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { $0.hasSuffix(".history") }.compactMap { UInt64($0.dropFirst(5).prefix(20)) }
  }

  /// Returns the commits between the last segment of one base and the next base.
  private func lostNumbers(_ path: String) throws -> Set<UInt64> {
    let bases = try baseNumbers(path)
    let segments = try FileManager.default.contentsOfDirectory(atPath: path + "/segments")
      .map { $0.dropLast(8).split(separator: "-").compactMap { UInt64($0) } }
    var covered = Set(bases)
    for segment in segments { covered.formUnion(segment[0]...segment[1]) }
    let (first, last) = (bases.min() ?? 0, covered.max() ?? 0)
    return Set(first...last).subtracting(covered)
  }

  @Test("A time restores the last commit up to it; commits outside of the backup are an error")
  func moments() throws {
    try withTemporaryDirectory { folder in
      let kind = TestedBackend.cdb
      let source = try kind.open(folder + "/source")
      try source.beginHistory()
      let table = try source.table(named: "Song")
      var backup = try ContinuousBackup(directory: folder + "/backup")
      _ = try backup.update(from: source)
      for row in UInt32(2)..<12 {
        var changes = ChangeSetBuilder()
        changes.insert(row, in: table, [1])
        try source.commit(
          changes.changeSet,
          CommitRequest(time: Date(timeIntervalSince1970: Double(row) * 100)))
        _ = try backup.update(from: source)
      }
      try source.close()
      let image = try restore(
        kind, folder + "/backup", to: folder + "/new",
        .time(Date(timeIntervalSince1970: 650)))
      #expect(image.tables["Song"]?.keys.max() == 6)
      for point in [ContinuousBackup.RestorePoint.commit(0), .commit(999)] {
        let error = #expect(throws: StoreError.self) {
          _ = try restore(kind, folder + "/backup", to: folder + "/new", point)
        }
        #expect(error?.code == .historyExpired)
        #expect(!FileManager.default.fileExists(atPath: folder + "/new"))
      }
    }
  }

  @Test("A killed backup continues without a gap and without a repeated entry")
  func kills() throws {
    var generator = Seeds.generator(for: "a continuous backup that is killed")
    try withTemporaryDirectory { folder in
      let kind = TestedBackend.tokyoCabinet
      let source = try kind.openSmall(folder + "/source")
      var store = try RememberedStore(source, seed: generator.next())
      for _ in 0..<30 {
        try store.saveWithImages(3)
        // A kill leaves a partial segment without its final name.
        let path = folder + "/backup/segments/.new.history"
        try FileManager.default.createDirectory(
          atPath: folder + "/backup/segments", withIntermediateDirectories: true)
        try Data((0..<UInt8.random(in: 0...90, using: &generator)).map { $0 })
          .write(to: URL(filePath: path))
        var backup = try ContinuousBackup(directory: folder + "/backup")
        _ = try backup.update(from: source)
        #expect(try backup.position == source.historyPosition())
      }
      #expect(try lostNumbers(folder + "/backup").isEmpty)
      let last = try #require(store.images[source.lastCommitNumber])
      #expect(
        try restore(kind, folder + "/backup", to: folder + "/new", .newest)
          == RememberedStore.content(of: last))
      try source.close()
    }
  }

  @Test("Updates from another store, and from an encrypted one, are refused")
  func refused() throws {
    try withTemporaryDirectory { folder in
      for name in ["a", "b"] {
        let source = try TestedBackend.cdb.open(folder + "/" + name)
        try source.beginHistory()
        var backup = try ContinuousBackup(directory: folder + "/backup")
        if name == "a" {
          _ = try backup.update(from: source)
        } else {
          let error = #expect(throws: StoreError.self) { _ = try backup.update(from: source) }
          #expect(error?.code == .otherHistory)
        }
        try source.close()
      }
      let sealed = try TestedBackend.encryptedCDB.open(folder + "/sealed")
      try sealed.beginHistory()
      var backup = try ContinuousBackup(directory: folder + "/other")
      let error = #expect(throws: StoreError.self) { _ = try backup.update(from: sealed) }
      #expect(error?.code == .encrypted)
      try sealed.close()
    }
  }

  @Test("A changed segment is reported as damage and not restored")
  func damage() throws {
    try withTemporaryDirectory { folder in
      let source = try TestedBackend.cdb.open(folder + "/source")
      var store = try RememberedStore(source, seed: 5)
      var backup = try ContinuousBackup(directory: folder + "/backup")
      _ = try backup.update(from: source)
      try store.saveWithImages(3)
      let path = try #require(try backup.update(from: source).last)
      try source.close()
      var bytes = try Data(contentsOf: URL(filePath: path))
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: URL(filePath: path))
      let error = #expect(throws: StoreError.self) {
        _ = try restore(.cdb, folder + "/backup", to: folder + "/new", .newest)
      }
      #expect(error?.code == .damaged)
      #expect(!FileManager.default.fileExists(atPath: folder + "/new"))
      #expect(throws: StoreError.self) { _ = try ContinuousBackup(directory: folder + "/backup") }
    }
  }
}
