import Files
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Changes of keys on disks that fail or lose power, and which key opens the store afterwards.
@Suite("Changing keys on failing disks")
struct KeyChangeFailureTests {
  private static let kinds = TestedBackend.onDisk.filter(\.isEncrypted)
  private static let newKey = EncryptionKey(bytes: (0..<32).map { UInt8(255 - $0) })

  /// A store with a save in its files, and one in the log.
  private func make(
    _ kind: TestedBackend
  ) throws -> (files: [String: [UInt8]], image: StoreImage) {
    try withTemporaryDirectory(in: .memory) { parent in
      let backend = try kind.open(parent + "/Store")
      try kind.write(1, to: backend)
      try backend.checkpoint()
      try kind.write(2, to: backend)
      let image = try StoreImage(of: backend)
      var files: [String: [UInt8]] = [:]
      for (name, content) in try filesBelow(parent + "/Store") {
        files["Store/" + name] = Array(content)
      }
      try backend.close()
      return (files, image)
    }
  }

  /// The store as a key opens it; nil when that is the wrong key.
  private func image(
    _ kind: TestedBackend, _ path: String, _ key: EncryptionKey, in files: any FileSystem
  ) throws -> StoreImage? {
    do {
      let format = try #require(kind.format)
      let backend = try format.open(path, createIfMissing: false, key: key, in: files)
      defer { try? backend.close() }
      return try StoreImage(of: backend)
    } catch let error as StoreError where error.code == .wrongKey {
      return nil
    }
  }

  /// Expects that one of the keys opens the store, and the other doesn't; then changes the key for
  /// good.
  ///
  /// - Returns: whether it was the new one.
  private func expectOneKey(
    _ kind: TestedBackend, _ path: String, _ image: StoreImage, in files: any FileSystem,
    _ title: String
  ) throws -> Bool {
    let old = try self.image(kind, path, TestedBackend.key, in: files)
    let new = try self.image(kind, path, Self.newKey, in: files)
    #expect((old == nil) != (new == nil) && (old ?? new) == image, "\(title)")
    if new == nil { try kind.changeKey(path, to: Self.newKey, in: files) }
    #expect(try self.image(kind, path, Self.newKey, in: files) == image, "\(title)")
    #expect(try self.image(kind, path, TestedBackend.key, in: files) == nil, "\(title)")
    return new != nil
  }

  @Test(
    "After a power cut at any call, the old key or the new one opens the store", arguments: kinds)
  func powerCuts(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts of key changes, \(kind)")
    let (files, image) = try make(kind)
    let whole = try CrashingDirectory(files: files)
    try kind.changeKey(whole.path + "/Store", to: Self.newKey, in: whole)
    let (operations, changes) = (whole.operations, whole.changes)
    #expect(operations.contains(.rename) && operations.contains(.sync))
    var newCount = 0
    for cut in changes {
      let title = "\(kind), cut at \(cut), \(operations[cut])"
      // A power cut keeps or loses what is not synced by chance. Only the cut behind the rename can
      // end with either key.
      let isRenamed = operations[..<cut].contains(.rename)
      for _ in 0..<(isRenamed ? 40 : 4) {
        let disk = try CrashingDirectory(files: files)
        disk.plan(.cutPower(at: cut))
        do { try kind.changeKey(disk.path + "/Store", to: Self.newKey, in: disk) } catch {}
        let rebooted = try disk.afterPowerCut(using: &generator)
        let isNew = try expectOneKey(kind, rebooted.path + "/Store", image, in: rebooted, title)
        newCount += isNew ? 1 : 0
      }
    }
    #expect(newCount > 0 && newCount < 40)
    // Acknowledged means durable.
    let rebooted = try whole.afterPowerCut(using: &generator)
    #expect(try expectOneKey(kind, rebooted.path + "/Store", image, in: rebooted, "at the end"))
  }

  @Test("After any failing call, the old key or the new one opens the store", arguments: kinds)
  func calls(_ kind: TestedBackend) throws {
    let numbers = [EIO, ENOSPC, EACCES, EMFILE, ENOMEM]
    let (files, image) = try make(kind)
    var (call, isDone) = (1, false)
    while !isDone {
      let failure = CallFailure(call, numbers[call % numbers.count])
      try withTemporaryDirectory(in: .memory) { parent in
        let path = parent + "/Store"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, content) in files {
          try Data(content).write(to: URL(filePath: parent + "/" + name))
        }
        do {
          try kind.changeKey(path, to: Self.newKey, in: failure.fileSystem)
        } catch is StoreError {}
        let title = "\(kind), \(failure.failed ?? "nothing") \(call)"
        _ = try expectOneKey(kind, path, image, in: SystemFiles.shared, title)
      }
      isDone = failure.failed == nil
      call += 1
    }
    #expect(call > 10)
  }
}
