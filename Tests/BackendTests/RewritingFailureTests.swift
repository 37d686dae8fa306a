import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Checks, salvages and conversions on disks that fail or lose power, and what becomes of the store.
@Suite("Conversions, salvages and checks on failing disks")
struct RewritingFailureTests {
  /// The store of a test: partly in files, and partly in the log of a process that was killed.
  private func make(_ kind: TestedBackend, _ directory: String) throws -> StoreImage {
    let backend = try kind.open(directory + ".open")
    try kind.write(1, to: backend)
    try backend.checkpoint()
    try kind.write(2, to: backend)
    let image = try StoreImage(of: backend)
    try FileManager.default.copyItem(atPath: directory + ".open", toPath: directory)
    try backend.close()
    try FileManager.default.removeItem(atPath: directory + ".open")
    return image
  }

  /// Expects the store of before or after a conversion; then converts it for good.
  private func expectConvertible(
    _ kind: TestedBackend, _ parent: String, _ image: StoreImage, in files: any FileSystem,
    _ title: String
  ) throws {
    let path = parent + "/Store"
    let hasKey = FileManager.default.fileExists(atPath: path + "/Commit.key")
    let found = hasKey == kind.isEncrypted ? kind : kind.converted
    let backend = try found.open(path, in: files)
    #expect(try StoreImage(of: backend) == image, "\(title)")
    #expect(backend.lastCommitNumber == 2, "\(title)")
    try backend.close()
    try kind.convert(path, in: files)
    #expect(try kind.converted.image(path) == image, "\(title)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent) == ["Store"], "\(title)")
    let marker = path + "/.converting"
    #expect(!FileManager.default.fileExists(atPath: marker), "\(title)")
  }

  private func contents(_ directory: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for (name, content) in try filesBelow(directory) { files["Store/" + name] = Array(content) }
    return files
  }

  @Test(
    "After a power cut at any call of a conversion the store is sound, and a new call ends it",
    arguments: TestedBackend.onDisk)
  func powerCuts(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts of conversions, \(kind)")
    let (files, image) = try withTemporaryDirectory(in: .memory) { parent in
      let image = try make(kind, parent + "/Store")
      return (try contents(parent + "/Store"), image)
    }
    let whole = try CrashingDirectory(files: files)
    try kind.convert(whole.path + "/Store", in: whole)
    let (operations, changes) = (whole.operations, whole.changes)
    #expect(changes.count > 60)
    #expect(operations.contains(.exchange) && operations.contains(.removeDirectory))
    for cut in changes {
      let title = "\(kind), cut at \(cut), \(operations[cut])"
      var disk = try CrashingDirectory(files: files)
      disk.plan(.cutPower(at: cut))
      do { try kind.convert(disk.path + "/Store", in: disk) } catch {}
      disk.plan(.none)
      // Or the process alone is killed.
      if cut % 4 != 0 { disk = try disk.afterPowerCut(using: &generator) }
      if Bool.random(using: &generator) {
        disk.plan(.cutPower(at: .random(in: 0..<60, using: &generator)))
        do { try kind.convert(disk.path + "/Store", in: disk) } catch {}
        disk = try disk.afterPowerCut(using: &generator)
      }
      do {
        try expectConvertible(kind, disk.path, image, in: disk, title)
      } catch {
        Issue.record("\(title): \(error)")
      }
    }
    print("\(changes.count) cuts of a conversion of \(kind)")
  }

  /// Lets a closure run with each call failing in turn, or some of them, others each time.
  private func everyCall(
    _ title: String, _ kind: TestedBackend,
    _ body: (_ parent: String, StoreImage, any FileSystem) throws -> Void
  ) throws {
    var generator = Seeds.generator(for: "failing calls of a \(title), \(kind)")
    let isThorough = ProcessInfo.processInfo.environment["STOREDOBJECTS_EVERY_CALL"] != nil
    let numbers = [EIO, ENOSPC, EACCES, EMFILE, ENOMEM]
    var (call, count) = (1, 0)
    var isDone = false
    while !isDone {
      let number = numbers[count % numbers.count]
      let failure = CallFailure(call, number)
      try withTemporaryDirectory(in: .memory) { parent in
        let image = try make(kind, parent + "/Store")
        do {
          try body(parent, image, failure.fileSystem)
        } catch {
          Issue.record("\(title), \(failure.failed ?? "") \(call), errno \(number): \(error)")
        }
      }
      isDone = failure.failed == nil
      count += 1
      call += isThorough ? 1 : Int.random(in: 1...6, using: &generator)
      try #require(call < 5_000)
    }
    #expect(call > 60)
    print("\(count) of \(call) calls of a \(title) of \(kind)")
  }

  @Test(
    "After any failing call of a conversion the store is sound, and the same call finishes it",
    arguments: TestedBackend.onDisk)
  func conversionCalls(_ kind: TestedBackend) throws {
    try everyCall("conversion", kind) { parent, image, files in
      let path = parent + "/Store"
      do {
        try kind.convert(path, in: files)
        #expect(FileManager.default.fileExists(atPath: path + "/Commit.key") != kind.isEncrypted)
      } catch is StoreError {}
      try expectConvertible(kind, parent, image, in: SystemFiles.shared, "")
    }
  }

  private func expectWhole(_ kind: TestedBackend, _ path: String) throws {
    let salvaged = try kind.open(path)
    defer { try? salvaged.close() }
    let songs = try salvaged.table(named: "Song")
    #expect(try [2, 11, 12].allSatisfy { try salvaged.record($0, in: songs) != nil })
    let words = try salvaged.orderedTable(OrderedTableName("Words", kind: .data))
    #expect(try salvaged.keyCount(in: words, KeyRange()) == 2)
    #expect(try salvaged.bufferNames() == ["Favorite"])
    #expect(salvaged.lastCommitNumber == 2)
  }

  @Test(
    "A failing call of a salvage is an error or a listed loss, and the source is unchanged",
    arguments: TestedBackend.onDisk)
  func salvageCalls(_ kind: TestedBackend) throws {
    var isRefused = false
    try everyCall("salvage", kind) { parent, _, files in
      let path = parent + "/Store"
      let before = try filesBelow(path)
      do {
        let report = try kind.salvage(path, to: parent + "/New", in: files)
        // Records that were not read are among the losses; the tables have no metadata in any case.
        if report.losses.allSatisfy({ $0.kind == .metadataDamaged }) {
          try expectWhole(kind, parent + "/New")
        }
      } catch is StoreError {
        isRefused = true
        let left = try FileManager.default.contentsOfDirectory(atPath: parent)
        #expect(left == ["Store"] || Set(left) == ["Store", "New"], "\(left)")
        // The last sync is behind the renaming.
        if left.count > 1 { try expectWhole(kind, parent + "/New") }
      }
      #expect(try filesBelow(path) == before)
    }
    #expect(isRefused)
  }

  @Test(
    "A failing call of a check is an error or a finding, and the store is unchanged",
    arguments: TestedBackend.onDisk)
  func checkCalls(_ kind: TestedBackend) throws {
    try everyCall("check", kind) { parent, _, files in
      let path = parent + "/Store"
      let before = try filesBelow(path)
      do { _ = try kind.check(path, in: files) } catch is StoreError {}
      #expect(try filesBelow(path) == before)
    }
  }
}
