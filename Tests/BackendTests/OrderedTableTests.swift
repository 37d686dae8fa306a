import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// What becomes of ordered tables when files are damaged, lost, copied.
@Suite("Ordered tables and their files") struct OrderedTableTests {
  private static let data = OrderedTableName("Words", kind: .data)
  private static let index = OrderedTableName("Song.title", kind: .index)

  /// Makes a store with a table of each kind, most of it in files and some in the log.
  func fill(_ backend: any StoreBackend & Checkpointing) throws -> [OrderedEntry] {
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

  private func spoil(_ path: String, at place: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[place] ^= 0x55
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  func open(_ kind: BackendKind, _ directory: String) throws -> any StoreBackend
    & Checkpointing
  {
    if kind == .cdb { return try CDBBackend(directory: directory) }
    return try TokyoCabinetBackend(directory: directory)
  }

  private func check(_ kind: BackendKind, _ directory: String) throws -> StoreCheck {
    if kind == .cdb { return try CDBBackend.check(directory: directory) }
    return try TokyoCabinetBackend.check(directory: directory)
  }

  private func salvage(_ kind: BackendKind, _ old: String, _ new: String) throws -> SalvageReport {
    if kind == .cdb { return try CDBBackend.salvage(from: old, to: new) }
    return try TokyoCabinetBackend.salvage(from: old, to: new)
  }

  @Test(
    "A store with ordered tables checks clean, and its copies have them",
    arguments: [BackendKind.cdb, .tokyoCabinet])
  func clean(_ kind: BackendKind) throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try open(kind, directory + "/a")
      let all = try fill(backend)
      try backend.backupAll(to: directory + "/b")
      try BackendCopy(
        from: backend, to: try open(kind == .cdb ? .tokyoCabinet : .cdb, directory + "/c")
      ).run()
      try backend.close()
      for (place, kind) in [("a", kind), ("b", kind), ("c", kind == .cdb ? .tokyoCabinet : .cdb)] {
        #expect(try check(kind, directory + "/" + place).findings == [])
        let copy = try open(kind, directory + "/" + place)
        for name in [Self.data, Self.index] {
          #expect(try copy.keys(in: copy.orderedTable(name)) == all, "\(place) \(name)")
        }
        try copy.close()
      }
    }
  }

  @Test(
    "A page of data that is spoilt is an error, found by check, and salvage brings over the rest",
    arguments: [BackendKind.cdb, .tokyoCabinet])
  func spoiltData(_ kind: BackendKind) throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try open(kind, directory + "/a")
      let all = try fill(backend)
      try backend.close()
      try spoil(directory + "/a/Words.ordered", at: 6_000)
      #expect(try check(kind, directory + "/a").findings.first?.kind == .fileDamaged)
      let again = try open(kind, directory + "/a")
      #expect(throws: StoreError.self) { try again.keys(in: again.orderedTable(Self.data)) }
      try again.close()
      let report = try salvage(kind, directory + "/a", directory + "/b")
      #expect(report.losses.contains { $0.place.className == "Words.ordered" })
      let found = try open(kind, directory + "/b")
      let keys = try found.keys(in: found.orderedTable(Self.data))
      #expect(Set(keys).isSubset(of: all) && keys.count > all.count / 2 && keys.count < all.count)
      #expect(try found.orderedTableNames() == [Self.data])
      try found.close()
    }
  }

  @Test(
    "Data that is gone keeps the store from being opened",
    arguments: [BackendKind.cdb, .tokyoCabinet])
  func missingData(_ kind: BackendKind) throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try open(kind, directory)
      _ = try fill(backend)
      try backend.close()
      try FileManager.default.removeItem(atPath: directory + "/Words.ordered")
      #expect { try open(kind, directory) } throws: { ($0 as? StoreError)?.code == .damaged }
    }
  }

  @Test(
    "An index that is gone or spoilt is empty, takes no changes until it is cleared, and is told by check",
    arguments: [BackendKind.cdb, .tokyoCabinet], [-1, 3])
  func lostIndex(_ kind: BackendKind, _ place: Int) throws {
    try TokyoFixtures.withDirectory { directory in
      var backend = try open(kind, directory)
      let all = try fill(backend)
      try backend.close()
      let path = directory + "/Song.title.index"
      if place < 0 {
        try FileManager.default.removeItem(atPath: path)
      } else {
        try spoil(path, at: place)
      }
      #expect(try check(kind, directory).findings.map(\.kind) == [.index])
      backend = try open(kind, directory)
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
      #expect(try check(kind, directory).findings == [])
    }
  }

  @Test(
    "A page of an index that is spoilt does not keep the log from being folded",
    arguments: [BackendKind.cdb, .tokyoCabinet])
  func spoiltIndex(_ kind: BackendKind) throws {
    try TokyoFixtures.withDirectory { directory in
      var backend = try open(kind, directory)
      _ = try fill(backend)
      try backend.close()
      try spoil(directory + "/Song.title.index", at: 6_000)
      backend = try open(kind, directory)
      let table = try backend.orderedTable(Self.index)
      #expect(throws: StoreError.self) { try backend.keys(in: table) }
      try backend.commit { $0.set([7], to: [], in: table) }
      try backend.checkpoint()
      #expect(try backend.keys(in: table) == [], "an index of which some is lost is made anew")
      try backend.close()
    }
  }

  @Test(
    "A class can't have the name of a file of an ordered table",
    arguments: [BackendKind.cdb, .tokyoCabinet])
  func names(_ kind: BackendKind) throws {
    try kind.withPlace { place in
      let backend = try place.open()
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

/// A backend whose log can be folded, and that can be backed up.
protocol Checkpointing {
  func checkpoint() throws
  func backupAll(to directory: String) throws
}

extension LoggedBackend: Checkpointing where Files: DirectoryFiles {
  func backupAll(to directory: String) throws { try backup(to: directory) }
}
