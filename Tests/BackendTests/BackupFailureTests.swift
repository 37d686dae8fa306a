import CDBBackend
import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import TestFiles
import TestedBackends
import Testing
import TokyoCabinetBackend

/// A backup whose disk fails, or whose power goes, before each of its steps in turn.
@Suite("Backups that are cut off")
struct BackupFailureTests {
  /// What the steps of a backup have done so far, and before which of them something happens.
  private final class Disk: Sendable {
    struct State {
      var steps: [TargetDirectory.Step] = []
      var copied: Set<String> = []
      var synced: Set<String> = []
      var isDirectorySynced = false
    }

    struct PowerCut: Error {}

    let state = Mutex(State())
    private let failing: Int
    private let isPowerCut: Bool

    init(failing: Int, isPowerCut: Bool) { (self.failing, self.isPowerCut) = (failing, isPowerCut) }

    var seam: TargetDirectory.Seam { .init { try self.take($0) } }

    private func take(_ step: TargetDirectory.Step) throws {
      try state.withLock { state in
        let number = state.steps.count
        // Nothing runs after a power cut, the tidying up neither.
        if isPowerCut ? number >= failing : number == failing {
          if step != .remove { state.steps.append(step) }
          throw isPowerCut
            ? PowerCut() : SystemError(call: "test", path: "test", number: 5) as any Error
        }
        guard step != .remove else { return }
        state.steps.append(step)
        switch step {
        case .copy(let name): state.copied.insert(name)
        case .synchronize(let name): state.synced.insert(name)
        case .synchronizeDirectory: state.isDirectorySynced = true
        case .make, .rename, .synchronizeParent, .remove: break
        }
      }
    }
  }

  private typealias Open = @Sendable (String) throws -> any BackupSource

  private static let backends: [(String, Open)] = [
    ("Tokyo Cabinet", { try TokyoCabinetBackend(directory: $0) }),
    ("CDB", { try CDBBackend(directory: $0) }),
  ]

  /// A store with two classes, named buffers, and saves that are in the log only.
  private func withStore(
    _ open: Open, _ body: (any BackupSource, StoreImage, _ parent: String) throws -> Void
  ) throws {
    let parent = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let backend = try open(parent + "/store")
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

  /// The number of steps of a backup of that store.
  private func stepCount(_ open: Open) throws -> Int {
    var count = 0
    try withStore(open) { backend, _, parent in
      let disk = Disk(failing: .max, isPowerCut: false)
      try backend.backup(to: parent + "/copy", seam: disk.seam)
      count = disk.state.withLock { $0.steps.count }
    }
    return count
  }

  @Test("A step that fails leaves no half copy, and the store as it was", arguments: [0, 1])
  func failing(backend: Int) throws {
    let (name, open) = Self.backends[backend]
    let count = try stepCount(open)
    #expect(count > 10)
    for number in 0..<count {
      try withStore(open) { backend, image, parent in
        let disk = Disk(failing: number, isPowerCut: false)
        let error = failure { try backend.backup(to: parent + "/copy", seam: disk.seam) }
        let step = disk.state.withLock { $0.steps.last }
        #expect(error?.code == .ioError, "\(name), step \(number)")
        // The last step comes when the copy has its name and is whole.
        let left = step == .synchronizeParent ? ["copy", "store"] : ["store"]
        #expect(try contents(parent) == left, "\(name), step \(number)")
        if step == .synchronizeParent { try expectWhole(parent + "/copy", open, image) }
        #expect(try StoreImage(of: backend) == image)
        try backend.backup(to: parent + "/second", seam: .init())
        try expectWhole(parent + "/second", open, image)
      }
    }
  }

  @Test("After a power cut at any step there is no copy, or a whole one", arguments: [0, 1])
  func powerCut(backend: Int) throws {
    let (name, open) = Self.backends[backend]
    var generator = Seeds.generator(for: "power cuts in backups on \(name)")
    var wholeCount = 0
    for number in 0...(try stepCount(open)) {
      for _ in 0..<3 {
        try withStore(open) { backend, image, parent in
          let disk = Disk(failing: number, isPowerCut: true)
          try? backend.backup(to: parent + "/copy", seam: disk.seam)
          try backend.close()
          try losePower(disk, parent, &generator)
          if FileManager.default.fileExists(atPath: parent + "/copy") {
            wholeCount += 1
            try expectWhole(parent + "/copy", open, image)
          }
          let again = try open(parent + "/store")
          #expect(try StoreImage(of: again) == image, "\(name), step \(number)")
          try again.backup(to: parent + "/second", seam: .init())
          try again.close()
        }
      }
    }
    #expect(wholeCount >= 3)
  }

  /// What was not synced is lost, in part or all of it.
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

  private func expectWhole(_ path: String, _ open: Open, _ image: StoreImage) throws {
    let copy = try open(path)
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

/// A backend on files, of whichever format.
private protocol BackupSource: StoreBackend {
  func checkpoint() throws
  func backup(to directory: String, seam: TargetDirectory.Seam) throws
}

extension LoggedBackend: BackupSource where Files: DirectoryFiles {
  fileprivate func backup(to directory: String, seam: TargetDirectory.Seam) throws {
    try backup(to: directory, seam: seam, progress: { _ in })
  }
}
