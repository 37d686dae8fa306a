import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A backup whose disk fails, or whose power goes, before each of its steps in turn.
@Suite("Interrupted backups")
struct BackupFailureTests {
  /// The calls of a backup so far, and the call at which a failure or a power cut happens.
  private final class Disk: Sendable {
    struct State {
      var isWatched = false
      var count = 0
      var isRenamed = false
      var copied: Set<String> = []
      var synced: Set<String> = []
      var isDirectorySynced = false
    }

    private static let changes: Set<FileCall> = [
      .makeDirectory, .create, .copyRange, .copy, .setMode, .sync, .rename,
    ]

    let state = SharedLock(State())
    private let failing: Int
    private let isPowerCut: Bool

    /// Lets one call fail, or all from one that changes something on.
    init(failing: Int, isPowerCut: Bool) { (self.failing, self.isPowerCut) = (failing, isPowerCut) }

    /// The number of calls.
    var count: Int { state.withLock { $0.count } }

    /// Runs a backup.
    func watch(_ body: () throws -> Void) rethrows {
      state.withLock { $0.isWatched = true }
      defer { state.withLock { $0.isWatched = false } }
      try body()
    }

    /// The file system, which sees to the calls of backups only.
    var fileSystem: TestedFileSystem {
      TestedFileSystem(witness: { self.note($0, $1) }, { self.failure($0, $1) })
    }

    private func failure(_ call: FileCall, _ path: String) -> Int32? {
      state.withLock { state in
        guard state.isWatched else { return nil }
        // Nothing runs after a power cut, the tidying up neither.
        if isPowerCut && state.count > failing { return EIO }
        guard !isPowerCut || Self.changes.contains(call) else { return nil }
        state.count += 1
        return state.count - 1 == failing ? EIO : nil
      }
    }

    private func note(_ call: FileCall, _ path: String) {
      state.withLock { state in
        guard state.isWatched else { return }
        if call == .rename { state.isRenamed = true }
        guard path.contains("/copy.partial-") else { return }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        switch call {
        case .create, .copyRange, .copy: state.copied.insert(name)
        case .sync where name.hasPrefix("copy.partial-"): state.isDirectorySynced = true
        case .sync: state.synced.insert(name)
        default: break
        }
      }
    }
  }

  /// A store with two classes, named buffers, and saves that are in the log only.
  private func withStore(
    _ kind: TestedBackend, on disk: Disk,
    _ body: (any DirectoryBackend, StoreImage, _ parent: String) throws -> Void
  ) throws {
    let parent = try makeTemporaryDirectory(in: .memory)
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let backend = try kind.open(parent + "/store", in: disk.fileSystem)
    let (songs, words) = (try backend.table(named: "Song"), try backend.table(named: "Word"))
    try backend.commit {
      for row in UInt32(2)..<50 { $0.insert(row, in: songs, [1, 2, UInt8(row)]) }
      $0.insert(2, in: words, [7])
      $0.set("Favorite", [3])
    }
    try backend.checkpoint()
    try backend.commit { $0.update(2, in: songs, [9]) }
    try body(backend, StoreImage(of: backend), parent)
    try backend.close()
  }

  private func contents(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  /// The number of calls of a backup of that store, or of those that change something.
  private func callCount(_ kind: TestedBackend, isPowerCut: Bool) throws -> Int {
    let disk = Disk(failing: .max, isPowerCut: isPowerCut)
    try withStore(kind, on: disk) { backend, _, parent in
      try disk.watch { try backend.backup(to: parent + "/copy") { _ in } }
    }
    return disk.count
  }

  @Test(
    "A failing call leaves no partial copy and does not change the store",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func failing(_ kind: TestedBackend) throws {
    let count = try callCount(kind, isPowerCut: false)
    #expect(count > 50)
    var errorCount = 0
    for number in 0..<count {
      let disk = Disk(failing: number, isPowerCut: false)
      try withStore(kind, on: disk) { backend, image, parent in
        let error = failure {
          try disk.watch { try backend.backup(to: parent + "/copy") { _ in } }
        }
        if let error {
          errorCount += 1
          #expect(error.code == .ioError, "\(kind), call \(number)")
        }
        // The last call comes when the copy has its name and is whole.
        let isNamed = disk.state.withLock { $0.isRenamed }
        #expect(isNamed || error != nil, "\(kind), call \(number)")
        #expect(
          try contents(parent) == (isNamed ? ["copy", "store"] : ["store"]),
          "\(kind), call \(number)")
        if isNamed { try expectWhole(parent + "/copy", kind, image) }
        #expect(try StoreImage(of: backend) == image)
        try backend.backup(to: parent + "/second") { _ in }
        try expectWhole(parent + "/second", kind, image)
      }
    }
    #expect(errorCount > count / 2)
  }

  @Test(
    "A power cut at any call leaves no copy or a complete one",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func powerCut(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts in backups on \(kind)")
    var wholeCount = 0
    for number in 0...(try callCount(kind, isPowerCut: true)) {
      for _ in 0..<3 {
        let disk = Disk(failing: number, isPowerCut: true)
        try withStore(kind, on: disk) { backend, image, parent in
          try? disk.watch { try backend.backup(to: parent + "/copy") { _ in } }
          try backend.close()
          try losePower(disk, parent, &generator)
          if FileManager.default.fileExists(atPath: parent + "/copy") {
            wholeCount += 1
            try expectWhole(parent + "/copy", kind, image)
          }
          let again = try kind.open(parent + "/store")
          #expect(try StoreImage(of: again) == image, "\(kind), call \(number)")
          try again.backup(to: parent + "/second") { _ in }
          try again.close()
        }
      }
    }
    #expect(wholeCount >= 3)
  }

  /// Loses unsynced data, all or a part of it.
  private func losePower(
    _ disk: Disk, _ parent: String, _ generator: inout SeededGenerator
  ) throws {
    let state = disk.state.withLock { $0 }
    for entry in try contents(parent) where entry != "store" {
      let directory = parent + "/" + entry
      for name in try contents(directory) where state.copied.contains(name) {
        let url = URL(fileURLWithPath: directory + "/" + name)
        if !state.isDirectorySynced, Bool.random(using: &generator) {
          try FileManager.default.removeItem(at: url)
        } else if !state.synced.contains(name) {
          let bytes = try Data(contentsOf: url)
          try bytes.prefix(.random(in: 0...bytes.count / 2, using: &generator)).write(to: url)
        }
      }
    }
  }

  private func expectWhole(_ path: String, _ kind: TestedBackend, _ image: StoreImage) throws {
    let copy = try kind.open(path)
    #expect(try StoreImage(of: copy) == image)
    try copy.close()
  }

  private func failure(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch { return error as? StoreError }
  }
}
