import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Reading a store during writes")
struct ReadingBesideTests {
  @Test(
    "A reader sees the last commit, and keeps it while others commit and fold",
    arguments: TestedBackend.onDisk)
  func reader(_ kind: TestedBackend) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let writer = try kind.openSmall(path)
      defer { try? writer.close() }
      var readers: [(any DirectoryBackend, StoreImage)] = []
      for number in 1...UInt8(12) {
        try kind.write(number, to: writer)
        if number % 5 == 0 { try writer.checkpoint() }
        readers.append((try kind.open(path, readOnly: true), try StoreImage(of: writer)))
      }
      for (reader, image) in readers {
        #expect(try StoreImage(of: reader) == image)
        try reader.close()
      }
    }
  }

  @Test("A reader does not block writers", arguments: TestedBackend.onDisk)
  func writer(_ kind: TestedBackend) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let image = try kind.makeStore(path)
      let reader = try kind.open(path, readOnly: true)
      let writer = try kind.open(path)
      try kind.write(9, to: writer)
      try writer.checkpoint()
      try writer.close()
      #expect(try StoreImage(of: reader) == image)
      try reader.close()
    }
  }

  @Test(
    "A reader sees a whole commit if its files get their names during the opening",
    arguments: TestedBackend.onDisk)
  func renaming(_ kind: TestedBackend) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      for turn in 1... {
        let path = parent + "/store \(turn)"
        // The manifest follows the files, and the reader is faster than that.
        let isFailing = SharedLock(false)
        let writing = TestedFileSystem { _, file in
          isFailing.withLock { $0 } && file.hasSuffix("manifest") ? ENOSPC : nil
        }
        let writer = try kind.openSmall(path, in: writing)
        defer { try? writer.close() }
        try kind.write(1, to: writer)
        try writer.checkpoint()
        try kind.write(2, to: writer)
        let image = try StoreImage(of: writer)
        isFailing.withLock { $0 = true }
        let count = SharedLock(0)
        let reading = TestedFileSystem { _, _ in
          let number = count.withLock { count in
            count += 1
            return count
          }
          if number == turn { #expect(throws: StoreError.self) { try writer.checkpoint() } }
          return nil
        }
        let reader = try kind.open(path, readOnly: true, in: reading)
        let callCount = count.withLock { $0 }
        #expect(try StoreImage(of: reader) == image, "renamed before call \(turn)")
        try reader.close()
        if callCount < turn { break }
      }
    }
  }

  @Test(
    "Readers and checks find no damage if writers come and go meanwhile",
    arguments: TestedBackend.onDisk)
  func visits(_ kind: TestedBackend) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      for turn in 1... {
        let (path, checked) = (parent + "/store \(turn)", parent + "/checked \(turn)")
        _ = try kind.makeStore(path)
        try FileManager.default.copyItem(atPath: path, toPath: checked)
        let count = SharedLock(0)
        let reader = try kind.open(path, readOnly: true, in: visited(kind, path, turn, count))
        // Each commit writes its number everywhere.
        let song = try reader.record(2, in: reader.table(named: "Song"))
        #expect(try song == reader.namedBuffer("Favorite"), "writers before call \(turn)")
        try reader.close()
        let checkCount = SharedLock(0)
        let findings = try kind.check(checked, in: visited(kind, checked, turn, checkCount))
          .findings
        let kinds: Set<StoreFinding.Kind> = [.log, .fileDamaged, .countMismatch, .notAuthentic]
        #expect(findings.filter { kinds.contains($0.kind) } == [], "writers before call \(turn)")
        if max(count.withLock { $0 }, checkCount.withLock { $0 }) < turn { break }
      }
    }
  }

  /// A file system in which two writers open, change and close a store: one before a call, and
  /// another a few calls later.
  private func visited(
    _ kind: TestedBackend, _ path: String, _ turn: Int, _ count: SharedLock<Int>
  ) -> TestedFileSystem {
    TestedFileSystem { _, _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      // The store is in use while the reader finds out whether it is.
      guard number == turn || number == turn + 12, let writer = try? kind.open(path) else {
        return nil
      }
      #expect(throws: Never.self) { try kind.write(number == turn ? 2 : 3, to: writer) }
      #expect(throws: Never.self) { try writer.close() }
      return nil
    }
  }

  @Test("Checks and backups of a store in use see one commit", arguments: TestedBackend.onDisk)
  func tools(_ kind: TestedBackend) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let writer = try kind.openSmall(path)
      defer { try? writer.close() }
      try kind.write(1, to: writer)
      let isDone = SharedLock(false)
      let thread = JoinedThread {
        for number in UInt8(2)...254 {
          if isDone.withLock({ $0 }) { return }
          try? kind.write(number, to: writer)
        }
      }
      let kinds: Set<StoreFinding.Kind> = [.log, .fileDamaged, .countMismatch, .notAuthentic]
      for round in 0..<3 {
        #expect(try kind.check(path).findings.filter { kinds.contains($0.kind) } == [])
        let reader = try kind.open(path, readOnly: true)
        let copy = parent + "/backup \(round)"
        try reader.backup(to: copy) { _ in }
        let backup = try kind.open(copy)
        // Each commit writes its number everywhere.
        let songs = try backup.record(2, in: backup.table(named: "Song"))
        #expect(try songs == backup.namedBuffer("Favorite"))
        #expect(try StoreImage(of: backup) == StoreImage(of: reader))
        #expect(backup.lastCommitNumber == reader.lastCommitNumber)
        try backup.close()
        try reader.close()
      }
      isDone.withLock { $0 = true }
      _ = thread
    }
  }
}
