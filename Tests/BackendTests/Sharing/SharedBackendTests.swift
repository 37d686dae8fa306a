import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Several backends on one directory, each of which could as well be in a process of its own: all
/// that they have in common are files and locks.
@Suite("Backends that share a directory")
struct SharedBackendTests {
  /// Lets a test use some backends on a directory, which are closed at its end.
  private func withBackends(
    _ kind: TestedBackend, count: Int = 2,
    _ body: ([any DirectoryBackend], _ path: String) throws -> Void
  ) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let backends = try (0..<count).map { _ in try kind.openSmall(path, sharing: .processes) }
      defer { for backend in backends { try? backend.close() } }
      try body(backends, path)
    }
  }

  @Test(
    "A backend that shares its directory keeps its promises",
    arguments: [TestedBackend.encryptedTokyoCabinet], BackendConformance.checks)
  func conformance(_ kind: TestedBackend, _ check: BackendConformance.Check) throws {
    // It keeps nobody out, removes no values that others may read, and is no target of copies.
    let others = ["inUse", "Closing twice", "after its removal", "A copy continues"]
    if others.contains(where: check.name.contains) { return }
    try withTemporaryDirectory(in: .memory) {
      let format = try #require(kind.format)
      try check.run(
        DirectoryLocation(format, $0 + "/store", key: kind.key, sharing: .processes))
    }
  }

  @Test("A commit of one backend can be read by the others", arguments: TestedBackend.onDisk)
  func reads(_ kind: TestedBackend) throws {
    try withBackends(kind, count: 3) { backends, _ in
      for number in 1..<UInt8(40) {
        let writer = backends[Int(number) % 3]
        try kind.write(number, to: writer)
        let images = try backends.map { try StoreImage(of: $0) }
        #expect(images[0] == images[1] && images[1] == images[2], "commit \(number)")
        #expect(backends.map(\.lastCommitNumber) == [number, number, number].map(UInt64.init))
      }
    }
  }

  @Test(
    "Readers see complete commits while others fold the log", arguments: TestedBackend.onDisk)
  func folding(_ kind: TestedBackend) throws {
    try withBackends(kind, count: 3) { backends, _ in
      for number in 1..<UInt8(30) {
        try kind.write(number, to: backends[Int(number) % 3])
        if number % 4 == 0 { try backends[Int(number) / 4 % 3].checkpoint() }
        if number % 3 != 0 { continue }
        let writer = backends[Int(number) % 3]
        let expected = try StoreImage(of: writer)
        for backend in backends { #expect(try StoreImage(of: backend) == expected) }
      }
    }
  }

  @Test("Commit numbers have no gaps, and the tokens are the same for all")
  func numbers() throws {
    try withBackends(.tokyoCabinet) { backends, _ in
      var commits: [Commit] = []
      for number in 0..<20 {
        let table = try backends[number % 2].table(named: "Song")
        var changes = ChangeSetBuilder()
        changes.update(2, in: table, [UInt8(number)])
        let commit = try backends[number % 2].commit(changes.changeSet, CommitRequest())
        commits.append(try #require(commit))
      }
      #expect(commits.map(\.number) == Array(1...20))
      for commit in commits {
        for backend in backends { #expect(try backend.commit(withToken: commit.token) == commit) }
      }
    }
  }

  @Test(
    "A commit based on data that another has changed is refused", arguments: TestedBackend.onDisk)
  func conflicts(_ kind: TestedBackend) throws {
    try withBackends(kind) { backends, _ in
      let tables = try backends.map { try $0.table(named: "Song") }
      try backends[0].commit { $0.update(2, in: tables[0], [1]) }
      let basis = CommitBasis(upTo: backends[1].lastCommitNumber)
      try backends[0].commit { $0.update(2, in: tables[0], [2]) }
      var builder = ChangeSetBuilder()
      builder.update(2, in: tables[1], [3])
      #expect(throws: StoreError.self) {
        try backends[1].commit(builder.changeSet, CommitRequest(basis: basis))
      }
      #expect(try backends[1].record(2, in: tables[1]) == [2])
      let later = CommitBasis(upTo: backends[1].lastCommitNumber)
      try backends[1].commit(builder.changeSet, CommitRequest(basis: later))
      #expect(try backends[0].record(2, in: tables[0]) == [3])
    }
  }

  @Test(
    "A closed backend does not affect the others, and the last one leaves a usual store",
    arguments: TestedBackend.onDisk)
  func closing(_ kind: TestedBackend) throws {
    try withBackends(kind, count: 3) { backends, path in
      for number in 1...UInt8(3) { try kind.write(number, to: backends[Int(number) - 1]) }
      try backends[0].close()
      try kind.write(4, to: backends[1])
      #expect(try StoreImage(of: backends[2]) == StoreImage(of: backends[1]))
      #expect(throws: StoreError.self) { try kind.open(path) }
      let image = try StoreImage(of: backends[2])
      try backends[1].close()
      try backends[2].close()
      #expect(
        try !FileManager.default.contentsOfDirectory(atPath: path).contains {
          $0.hasPrefix(".shared") || $0.hasPrefix(".new")
        })
      #expect(try kind.image(path) == image)
    }
  }

  @Test("The shared file of dead processes never shrinks, because others may wait with it")
  func leftovers() throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let (kind, path) = (TestedBackend.tokyoCabinet, parent + "/store")
      try kind.openSmall(path, sharing: .processes).close()
      let strange = (0..<4096).map { _ in UInt8.random(in: 0...255) }
      try Data(strange).write(to: URL(filePath: path + "/.shared"))
      let sizes = SharedLock<[Int]>([])
      let files = TestedFileSystem { call, file in
        guard call == .truncate, file.hasSuffix("/.shared") else { return }
        let size = try? FileStatus.find(FileLocation(file))?.size
        sizes.withLock { $0.append(size ?? 0) }
      } _: { _, _ in
        nil
      }
      let backends = try (0..<2).map { _ in
        try kind.openSmall(path, sharing: .processes, in: files)
      }
      defer { for backend in backends { try? backend.close() } }
      #expect(sizes.withLock { $0.allSatisfy { $0 >= 4096 } })
      try kind.write(1, to: backends[0])
      #expect(backends[1].lastCommitNumber == 1)
    }
  }

  @Test("A store opened exclusively is not shared, and the error names the process")
  func exclusive() throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let first = try TestedBackend.tokyoCabinet.open(path)
      defer { try? first.close() }
      let error = #expect(throws: StoreError.self) {
        try TestedBackend.tokyoCabinet.open(path, sharing: .processes)
      }
      #expect(error?.code == .inUse)
      #expect(error?.message.contains("another backend of this process") == true)
    }
  }

  @Test("Opening waits for a store that is closed in time")
  func waiting() throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let first = try TestedBackend.tokyoCabinet.open(path)
      let thread = JoinedThread {
        usleep(50_000)
        try? first.close()
      }
      let second = try TestedBackend.tokyoCabinet.open(path, lockTimeout: .seconds(20))
      try second.close()
      _ = thread
    }
  }

  @Test("Row IDs are never assigned twice", arguments: TestedBackend.onDisk)
  func rows(_ kind: TestedBackend) throws {
    try withBackends(kind, count: 3) { backends, _ in
      let metadata = ClassMetadata(classVersion: 0, classID: 0, salt: .init(1, 2))
      var row = DataBuffer()
      metadata.write(to: &row)
      let table = try backends[0].table(named: "Song")
      try backends[0].commit { $0.insert(1, in: table, row.bytes) }
      var given: Set<UInt32> = []
      for round in 0..<60 {
        let backend = backends[round % 3]
        let rows = try backend.reserveRows(1 + round % 7, in: backend.table(named: "Song"))
        for row in rows { #expect(given.insert(row).inserted, "row \(row)") }
      }
      #expect(given.min() == 2)
    }
  }

  @Test(
    "Random commits of several backends equal a model", arguments: TestedBackend.onDisk)
  func random(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "shared backends, \(kind)")
    try withBackends(kind, count: 4) { backends, path in
      var model: [UInt32: [UInt8]] = [:]
      var open = backends
      for step in 0..<200 {
        let index = Int.random(in: 0..<4, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: try open[index].checkpoint()
        case 1:
          try open[index].close()
          open[index] = try kind.openSmall(path, sharing: .processes)
        case 2...6:
          let table = try open[index].table(named: "Song")
          #expect(try open[index].records(in: table) == model, "step \(step)")
          #expect(try open[index].recordCount(in: table) == model.count, "step \(step)")
        default:
          let table = try open[index].table(named: "Song")
          let changed = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
            UInt32.random(in: 2...200, using: &generator)
          }
          try open[index].commit { changes in
            for row in Set(changed).sorted() {
              if Bool.random(using: &generator) {
                model[row] = Array(repeating: UInt8(truncatingIfNeeded: step), count: Int(row))
                changes.update(row, in: table, model[row] ?? [])
              } else if model[row] != nil {
                model[row] = nil
                changes.delete(row, in: table)
              }
            }
          }
        }
      }
      for backend in open { try backend.close() }
      let last = try kind.open(path)
      defer { try? last.close() }
      #expect(try last.records(in: last.table(named: "Song")) == model)
    }
  }
}
