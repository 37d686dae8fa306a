import Foundation
import StoreFormats
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("Moved pieces with repaired checksums")
struct MovingTests {
  /// Two stores with the same key and the same content.
  private func withStores(
    _ make: (String) throws -> Void, _ body: (String, String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let paths = ["/Store", "/Other"].map { directory + $0 }
      for path in paths { try make(path) }
      try body(paths[0], paths[1])
    }
  }

  private func expectNotAuthentic(
    _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    let error = #expect(
      throws: StoreError.self, Comment(rawValue: what), sourceLocation: sourceLocation
    ) {
      try body()
    }
    #expect(
      error?.code == .notAuthentic, Comment(rawValue: "\(what): \(String(describing: error))"),
      sourceLocation: sourceLocation)
  }

  // MARK: The log

  /// A store with three saves of one size in its log.
  private func makeLogged(_ kind: StoreFormat, _ path: String) throws {
    let backend = try kind.open(path + ".open")
    let table = try backend.table(named: "SecretDiary")
    for row in UInt32(2)...4 { try backend.commit { $0.insert(row, in: table, [1, 2, 3]) } }
    try FileManager.default.copyItem(atPath: path + ".open", toPath: path)
    try backend.close()
    try FileManager.default.removeItem(atPath: path + ".open")
  }

  @Test(
    "A save in the log is accepted in its place only", arguments: StoreFormat.allCases)
  func batches(_ kind: StoreFormat) throws {
    try withStores({ try makeLogged(kind, $0) }) { path, other in
      let whole = try LogBatches(path)
      let foreign = try LogBatches(other)
      try #require(whole.batches.count == 3 && foreign.batches.count == 3)
      let moves: [(String, (inout [LogBatches.Batch]) -> Void)] = [
        ("exchanged", { $0.swapAt(0, 1) }),
        ("repeated", { $0[2].payload = $0[1].payload }),
        ("left out", { $0.removeFirst() }),
        ("of another kind", { $0[1].header.kind = CommitLogFormat.Kind.orderedChanges.rawValue }),
        ("a checkpoint", { $0[1].header.kind = CommitLogFormat.Kind.checkpoint.rawValue }),
        ("of another store", { $0[0].payload = foreign.batches[0].payload }),
        ("empty", { $0[1].payload = Array($0[1].payload.prefix(28)) }),
      ]
      for (what, move) in moves {
        var moved = whole
        move(&moved.batches)
        try moved.write()
        expectNotAuthentic(what) { try kind.open(path, readOnly: true).close() }
        #expect(try !kind.check(path).isSound, "\(what)")
      }
      var restored = whole
      try restored.write()
      let backend = try kind.open(path, readOnly: true)
      #expect(try backend.recordCount(in: backend.table(named: "SecretDiary")) == 3)
      try backend.close()
    }
  }

  @Test(
    "A save from before a checkpoint is not accepted after it", arguments: StoreFormat.allCases)
  func earlierEpoch(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let (path, earlier) = (directory + "/Store", directory + "/Earlier")
      let backend = try kind.open(path + ".open")
      let table = try backend.table(named: "SecretDiary")
      try backend.commit { $0.insert(2, in: table, [1, 2, 3]) }
      try FileManager.default.copyItem(atPath: path + ".open", toPath: earlier)
      try EncryptedStore.fold(backend)
      try backend.commit { $0.insert(3, in: table, [1, 2, 3]) }
      try FileManager.default.copyItem(atPath: path + ".open", toPath: path)
      try backend.close()
      var log = try LogBatches(path)
      let old = try LogBatches(earlier)
      try #require(log.batches.count == 1 && old.batches.count == 1)
      #expect(old.batches[0].header.epoch != log.batches[0].header.epoch)
      log.batches[0].payload = old.batches[0].payload
      try log.write()
      expectNotAuthentic { try kind.open(path, readOnly: true).close() }
    }
  }

  // MARK: Class files

  private func makeFolded(_ kind: StoreFormat, _ path: String) throws {
    try EncryptedStore.make(kind, path)
    let backend = try kind.open(path)
    try EncryptedStore.fold(backend)
    try backend.close()
  }

  @Test(
    "The metadata row belongs to its class, and is not a record",
    arguments: StoreFormat.allCases)
  func metadata(_ kind: StoreFormat) throws {
    try withStores({ try makeFolded(kind, $0) }) { path, other in
      let row = ClassMetadata.rowID
      let replacements = [
        try SealedFiles(kind, path).record(row, inTableOf: "PrivateDoctor"),
        try SealedFiles(kind, path).record(2, inTableOf: "SecretDiary"),
        try SealedFiles(kind, other).record(row, inTableOf: "SecretDiary"),
      ]
      for replacement in replacements {
        try SealedFiles(kind, path).setRecord(replacement, row, inTableOf: "SecretDiary")
        let backend = try kind.open(path, readOnly: true)
        expectNotAuthentic { try Store(backend: backend).register(Diary.self) }
        try backend.close()
        #expect(try !kind.check(path).isSound)
      }
    }
  }

  @Test(
    "A buffer is accepted neither in another store nor as a record",
    arguments: StoreFormat.allCases)
  func buffers(_ kind: StoreFormat) throws {
    try withStores({ try makeFolded(kind, $0) }) { path, other in
      let files = SealedFiles(kind, path)
      let own = try files.buffers()
      let foreign = try #require(try SealedFiles(kind, other).buffers().first)
      for bytes in [foreign.bytes, try files.record(2, inTableOf: "SecretDiary")] {
        for buffer in own { try files.setBuffer(buffer.key, bytes) }
        let backend = try kind.open(path, readOnly: true)
        expectNotAuthentic { _ = try backend.namedBuffer(EncryptedStore.bufferName) }
        try backend.close()
      }
      for buffer in own { try files.setBuffer(buffer.key, buffer.bytes) }
      try files.setBuffer(foreign.key, foreign.bytes)
      let backend = try kind.open(path, readOnly: true)
      expectNotAuthentic { _ = try backend.bufferNames() }
      try backend.close()
      #expect(try kind.check(path).findings.contains { $0.kind == .notAuthentic })
    }
  }

  @Test(
    "The key file of another store with the same passphrase does not make this store look empty",
    arguments: StoreFormat.allCases)
  func keyFile(_ kind: StoreFormat) throws {
    try withStores({ try makeFolded(kind, $0) }) { path, other in
      try FileManager.default.removeItem(atPath: path + "/Commit.key")
      try FileManager.default.copyItem(
        atPath: other + "/Commit.key", toPath: path + "/Commit.key")
      for readOnly in [true, false] {
        expectNotAuthentic { try kind.open(path, readOnly: readOnly).close() }
      }
      #expect(try !kind.check(path).isSound)
    }
  }

  // MARK: Ordered tables

  private func makeOrdered(_ kind: StoreFormat, _ path: String) throws {
    let backend = try kind.open(path)
    let table = try backend.orderedTable(OrderedTableName("Titles", kind: .data))
    var changes = ChangeSet()
    for number in 10_000..<13_000 {
      changes.set(Array("\(number)".utf8), to: Array("\(number)".utf8), in: table)
    }
    try backend.commit(changes)
    try EncryptedStore.fold(backend)
    try backend.close()
  }

  @Test("Two ordered tables can't be exchanged", arguments: StoreFormat.allCases)
  func exchangedTables(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let backend = try kind.open(path)
      for (number, name) in ["Titles", "Others"].enumerated() {
        let table = try backend.orderedTable(OrderedTableName(name, kind: .data))
        try backend.commit { $0.set([UInt8(number)], to: [1], in: table) }
      }
      try EncryptedStore.fold(backend)
      try backend.close()
      let files = try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { $0.hasSuffix(".ordered") }.map { path + "/" + $0 }
      try #require(files.count == 2)
      let contents = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
      for (file, content) in zip(files, contents.reversed()) {
        try content.write(to: URL(fileURLWithPath: file))
      }
      try expectNoKeys(kind, path)
    }
  }

  private func orderedFile(_ path: String) throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return path + "/" + (try #require(names.first { $0.hasSuffix(".ordered") }))
  }

  private func expectNoKeys(_ kind: StoreFormat, _ path: String) throws {
    let backend = try kind.open(path, readOnly: true)
    let table = try backend.orderedTable(OrderedTableName("Titles", kind: .data))
    expectNotAuthentic { _ = try backend.keys(in: table) }
    try backend.close()
    #expect(try !kind.check(path).isSound)
  }

  @Test("Two pages of one table can't be exchanged", arguments: StoreFormat.allCases)
  func pages(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try makeOrdered(kind, path)
      var pages = try OrderedPages(orderedFile(path))
      let bySize = Dictionary(grouping: pages.pages, by: \.count).values.first { $0.count > 1 }
      let same = try #require(bySize)
      try pages.exchange(same[0], same[1])
      try expectNoKeys(kind, path)
    }
  }

  @Test(
    "The ordered table of another store is not read", arguments: StoreFormat.allCases)
  func orderedOfOther(_ kind: StoreFormat) throws {
    try withStores({ try makeOrdered(kind, $0) }) { path, other in
      // With the mark of the file whose place it takes, which nothing seals.
      try OrderedPages(orderedFile(other)).write(inLocationOf: orderedFile(path))
      try expectNoKeys(kind, path)
    }
  }
}
