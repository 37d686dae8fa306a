import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing
import TokyoCabinetBackend

/// Tests of ordered tables whose files are damaged, lost or copied.
@Suite("Ordered tables and their files") struct OrderedTableTests {
  private static let data = OrderedTableName("Words", kind: .data)
  private static let index = OrderedTableName("Song.title", kind: .index)

  /// Makes a store with a table of each kind, most of it in files and some in the log.
  func fill(_ backend: any DirectoryBackend) throws -> [OrderedEntry] {
    let tables = try [Self.data, Self.index].map { try backend.orderedTable($0) }
    let all = (0..<3_000).map {
      OrderedEntry(key: Array("Word \($0)".utf8), value: [UInt8($0 & 255)])
    }
    try backend.commit { changes in
      for table in tables {
        for entry in all { changes.set(entry.key, to: entry.value, in: table) }
      }
    }
    try backend.checkpoint()
    try backend.commit { changes in
      for table in tables { changes.set([0], to: [1], in: table) }
    }
    return [OrderedEntry(key: [0], value: [1])]
      + all.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private func spoil(_ path: String, at offset: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[offset] ^= 0x55
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test(
    "A store with ordered tables passes a check, and its copies have them",
    arguments: [TestedBackend.cdb, .tokyoCabinet])
  func clean(_ kind: TestedBackend) throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let all = try fill(backend)
      try backend.backup(to: directory + "/b") { _ in }
      try BackendCopy(
        from: backend, to: (kind == .cdb ? TestedBackend.tokyoCabinet : .cdb).open(directory + "/c")
      ).run()
      try backend.close()
      for (location, kind) in [
        ("a", kind), ("b", kind), ("c", kind == .cdb ? .tokyoCabinet : .cdb),
      ] {
        #expect(try kind.check(directory + "/" + location).findings == [])
        let copy = try kind.open(directory + "/" + location)
        for name in [Self.data, Self.index] {
          #expect(try copy.keys(in: copy.orderedTable(name)) == all, "\(location) \(name)")
        }
        try copy.close()
      }
    }
  }

  @Test(
    "A damaged page of data is an error, found by check, and salvage copies the rest",
    arguments: [TestedBackend.cdb, .tokyoCabinet])
  func spoiltData(_ kind: TestedBackend) throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try kind.open(directory + "/a")
      let all = try fill(backend)
      try backend.close()
      try spoil(directory + "/a/Words.ordered", at: 6_000)
      #expect(try kind.check(directory + "/a").findings.first?.kind == .fileDamaged)
      let again = try kind.open(directory + "/a")
      #expect(throws: StoreError.self) { try again.keys(in: again.orderedTable(Self.data)) }
      try again.close()
      let report = try kind.salvage(directory + "/a", to: directory + "/b")
      #expect(report.losses.contains { $0.location.className == "Words.ordered" })
      let found = try kind.open(directory + "/b")
      let keys = try found.keys(in: found.orderedTable(Self.data))
      #expect(Set(keys).isSubset(of: all) && keys.count > all.count / 2 && keys.count < all.count)
      #expect(try found.orderedTableNames() == [Self.data])
      try found.close()
    }
  }

  @Test(
    "A store with missing data can't be opened",
    arguments: [TestedBackend.cdb, .tokyoCabinet])
  func missingData(_ kind: TestedBackend) throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try kind.open(directory)
      _ = try fill(backend)
      try backend.close()
      try FileManager.default.removeItem(atPath: directory + "/Words.ordered")
      #expect { try kind.open(directory) } throws: { ($0 as? StoreError)?.code == .damaged }
    }
  }

  @Test(
    "A missing or damaged index is empty, refuses changes until cleared, and is reported",
    arguments: [TestedBackend.cdb, .tokyoCabinet], [-1, 3])
  func lostIndex(_ kind: TestedBackend, _ location: Int) throws {
    try TokyoFixtures.withDirectory { directory in
      var backend = try kind.open(directory)
      let all = try fill(backend)
      try backend.close()
      let path = directory + "/Song.title.index"
      if location < 0 {
        try FileManager.default.removeItem(atPath: path)
      } else {
        try spoil(path, at: location)
      }
      #expect(try kind.check(directory).findings.map(\.kind) == [.index])
      backend = try kind.open(directory)
      let table = try backend.orderedTable(Self.index)
      #expect(try backend.keys(in: table) == [])
      try backend.commit { $0.set([5], to: [5], in: table) }
      #expect(try backend.keyCount(in: table, KeyRange()) == 0)
      #expect(try backend.keys(in: backend.orderedTable(Self.data)) == all)
      try backend.commit {
        $0.clear(table)
        $0.set([6], to: [], in: table)
      }
      try backend.checkpoint()
      try backend.commit { $0.set([7], to: [], in: table) }
      #expect(try backend.keys(in: table).map(\.key) == [[6], [7]])
      try backend.close()
      #expect(try kind.check(directory).findings == [])
    }
  }

  @Test(
    "A damaged page of an index does not prevent folding the log",
    arguments: [TestedBackend.cdb, .tokyoCabinet])
  func spoiltIndex(_ kind: TestedBackend) throws {
    try TokyoFixtures.withDirectory { directory in
      var backend = try kind.open(directory)
      _ = try fill(backend)
      try backend.close()
      try spoil(directory + "/Song.title.index", at: 6_000)
      backend = try kind.open(directory)
      let table = try backend.orderedTable(Self.index)
      #expect(throws: StoreError.self) { try backend.keys(in: table) }
      try backend.commit { $0.set([7], to: [], in: table) }
      try backend.checkpoint()
      #expect(try backend.keys(in: table) == [], "an incomplete index is built again")
      try backend.close()
    }
  }

  @Test(
    "A class can't have the name of a file of an ordered table",
    arguments: [TestedBackend.cdb, .tokyoCabinet])
  func names(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      for name in ["Song.index", "Song.ordered"] {
        #expect { try backend.table(named: name) } throws: {
          ($0 as? StoreError)?.code == .invalidName
        }
      }
      #expect { try backend.orderedTable(.init("a/b", kind: .data)) } throws: {
        ($0 as? StoreError)?.code == .invalidName
      }
      try backend.close()
    }
  }
}
