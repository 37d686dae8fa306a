import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Stores that are written again as a whole, and the numbers of the commits that follow.
@Suite("Numbers of commits")
struct CommitNumberTests {
  /// Makes one commit of three classes and two of one; the last.
  private func fill(_ backend: any StoreBackend) throws -> Commit {
    var changes = ChangeSetBuilder()
    for name in ["Song", "Playlist", "Artist"] {
      changes.insert(2, in: try backend.table(named: name), [1])
    }
    try backend.commit(changes.changeSet)
    try save(3, to: backend)
    return try save(4, to: backend)
  }

  @discardableResult
  private func save(_ row: UInt8, to backend: any StoreBackend) throws -> Commit {
    var changes = ChangeSetBuilder()
    let record = [UInt8](repeating: row, count: 20)
    changes.insert(UInt32(row), in: try backend.table(named: "Song"), record)
    return try #require(try backend.commit(changes.changeSet, CommitRequest(author: "Anna")))
  }

  private func expectGoesOn(
    _ kind: TestedBackend, _ directory: String, after last: Commit,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for number in [last.number, last.number + 1] {
      let backend = try kind.open(directory)
      defer { try? backend.close() }
      #expect(backend.lastCommitNumber == number, sourceLocation: sourceLocation)
      if number == last.number {
        #expect(try backend.commit(withToken: last.token) == last, sourceLocation: sourceLocation)
      }
      let next = try save(UInt8(90 + number), to: backend)
      #expect(next.number == number + 1, sourceLocation: sourceLocation)
    }
  }

  @Test("After compacting, commit numbers continue", arguments: TestedBackend.onDisk)
  func compacting(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let last = try fill(backend)
      _ = try backend.compact { _ in }
      try backend.close()
      try expectGoesOn(kind, directory + "/a", after: last)
    }
  }

  @Test("Commit numbers continue in a backup", arguments: TestedBackend.onDisk)
  func backingUp(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let last = try fill(backend)
      try backend.backup(to: directory + "/b") { _ in }
      try backend.close()
      try expectGoesOn(kind, directory + "/b", after: last)
    }
  }

  @Test(
    "Commit numbers continue after encryption and decryption", arguments: TestedBackend.onDisk
  )
  func converting(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let last = try fill(backend)
      try backend.close()
      try kind.convert(directory + "/a")
      try expectGoesOn(kind.converted, directory + "/a", after: last)
    }
  }

  @Test("Commit numbers continue in a store of another format", arguments: TestedBackend.onDisk)
  func copying(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let last = try fill(backend)
      for (number, other) in TestedBackend.onDisk.enumerated() {
        let target = try other.open(directory + "/\(number)")
        try BackendCopy(from: backend, to: target).run()
        try target.close()
        try expectGoesOn(other, directory + "/\(number)", after: last)
      }
      try backend.close()
    }
  }

  @Test(
    "After thousands of commits that are only in the log, numbers continue and the last are found",
    arguments: TestedBackend.onDisk)
  func inLog(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a", durability: .none)
      var commits: [Commit] = []
      for number in 0..<2_600 { commits.append(try saveAgain(number, to: backend)) }
      try FileManager.default.copyItem(atPath: directory + "/a", toPath: directory + "/killed")
      try backend.close()
      let opened = try kind.open(directory + "/killed", durability: .none)
      #expect(opened.lastCommitNumber == 2_600)
      for commit in commits.suffix(1_000) {
        #expect(try opened.commit(withToken: commit.token) == commit)
      }
      let next = try saveAgain(0, to: opened)
      #expect(next.number == 2_601)
      try opened.close()
      let again = try kind.open(directory + "/killed")
      #expect(again.lastCommitNumber == next.number)
      try again.close()
    }
  }

  /// Saves the same row each time.
  private func saveAgain(_ number: Int, to backend: any StoreBackend) throws -> Commit {
    var changes = ChangeSetBuilder()
    let record = [UInt8](repeating: UInt8(number % 251), count: 20)
    changes.update(7, in: try backend.table(named: "Song"), record)
    return try #require(try backend.commit(changes.changeSet, CommitRequest(author: "Anna")))
  }

  @Test("A copy into a backend with commits of its own never repeats a number")
  func usedTarget() throws {
    let source = try MemoryBackend()
    let target = try MemoryBackend()
    try save(1, to: source)
    let songs = try target.table(named: "Song")
    for row in 2..<UInt32(40) { try target.commit { $0.insert(row, in: songs, [1]) } }
    try target.commit { changes in
      for row in 2..<UInt32(40) { changes.delete(row, in: songs) }
    }
    try BackendCopy(from: source, to: target).run()
    #expect(target.lastCommitNumber > 39)
  }

  @Test(
    "Commit numbers continue in a salvaged store, from the manifest or the log",
    arguments: TestedBackend.onDisk, [true, false])
  func salvaging(_ kind: TestedBackend, isFolded: Bool) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let last = try fill(backend)
      if isFolded { try backend.checkpoint() }
      try FileManager.default.copyItem(atPath: directory + "/a", toPath: directory + "/killed")
      try backend.close()
      let report = try kind.salvage(directory + "/killed", to: directory + "/b")
      // The tables have no metadata, which a salvage makes.
      #expect(report.losses.allSatisfy { $0.kind == .metadataDamaged })
      try expectGoesOn(kind, directory + "/b", after: last)
    }
  }

  @Test(
    "The number of a save that a salvage leaves out is not used again, and its token not found",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func leftOut(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/a")
      try #require(try fill(backend).number == 3)
      let lost = try (5..<8).map { try save($0, to: backend) }
      try FileManager.default.copyItem(atPath: directory + "/a", toPath: directory + "/killed")
      try backend.close()
      let log = URL(fileURLWithPath: directory + "/killed/Commit.log")
      var bytes = try Data(contentsOf: log)
      let record = try #require(bytes.range(of: Data(repeating: 5, count: 20)))
      bytes[record.lowerBound] = 0
      try bytes.write(to: log)
      let report = try kind.salvage(directory + "/killed", to: directory + "/b")
      #expect(report.losses.contains { $0.kind == .log })
      let salvaged = try kind.open(directory + "/b")
      #expect(try salvaged.record(4, in: salvaged.table(named: "Song")) != nil)
      #expect(try salvaged.record(5, in: salvaged.table(named: "Song")) == nil)
      #expect(salvaged.lastCommitNumber == 6)
      for commit in lost { #expect(try salvaged.commit(withToken: commit.token) == nil) }
      #expect(try save(5, to: salvaged).number == 7)
      try salvaged.close()
    }
  }
}
