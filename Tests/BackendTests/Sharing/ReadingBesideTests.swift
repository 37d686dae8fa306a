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
