import Foundation
import StoredObjectsCore
import TestFiles
import TestedBackends
import Testing
import TokyoCabinet

@testable import TokyoCabinetBackend

@Suite("Tokyo Cabinet backend")
struct TokyoCabinetBackendTests {
  typealias Fixtures = TokyoFixtures

  @Test("A checkpoint creates one file named like the class, with 4-byte little-endian keys")
  func files() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      try backend.commit(Fixtures.changes(songs, [(.insert, 0x0102_0304, [7, 8])]))
      #expect(try contents(directory) == ["Commit.log", "Commit.manifest"])
      try backend.checkpoint()
      #expect(try contents(directory) == ["Commit.log", "Commit.manifest", "Song"])
      try backend.close()
      let file = try HashDatabase(path: directory + "/Song", mode: .readOnly)
      #expect(try file.value(forKey: [4, 3, 2, 1]) == [7, 8])
      #expect(try file.alignment == 1)
      #expect(try file.options == [])
    }
  }

  @Test("Named buffers are in a file of their own, which the first one creates")
  func namedBuffers() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      try backend.commit(ChangeSet(bytes: [1, 2], names: [.init(name: "Fávorite", range: 0..<2)]))
      #expect(try backend.bufferNames() == ["Fávorite"])
      #expect(try backend.tableNames() == [])
      try backend.close()
      #expect(try contents(directory) == ["Commit.log", "Commit.manifest", "NamedBuffers"])
      let file = try HashDatabase(path: directory + "/NamedBuffers", mode: .readOnly)
      #expect(try file.value(forKey: Array("Fávorite".utf8)) == [1, 2])
    }
  }

  @Test("Names that can't be file names are refused")
  func names() throws {
    try Fixtures.withBackend { backend, _ in
      let bad = [
        "", "a/b", "a\0b", ".", "..", ".hidden", "NamedBuffers", "a.wal", "a.tmp.123",
        String(repeating: "a", count: 256),
      ]
      for name in bad {
        #expect(Fixtures.error { _ = try backend.table(named: name) }?.code == .invalidName)
      }
      for name in ["A", "Modul.Klasse", "Ä b", String(repeating: "a", count: 230)] {
        let table = try backend.table(named: name)
        try backend.commit(Fixtures.changes(table, [(.insert, 2, [1])]))
        try backend.commit(Fixtures.changes(table, [(.update, 2, [2])]))
      }
      #expect(try backend.tableNames().count == 4)
      let empty = ChangeSet(names: [.init(name: "", range: 0..<0)])
      #expect(Fixtures.error { try backend.commit(empty) }?.code == .invalidName)
    }
  }

  @Test("A failed commit undoes its changes to all files, and creates none")
  func allOrNothing() throws {
    try Fixtures.withBackend { backend, songs in
      let (lists, labels) = (try backend.table(named: "List"), try backend.table(named: "Label"))
      try backend.commit(Fixtures.changes(songs, [(.insert, 2, [1])]))
      try backend.commit(Fixtures.changes(lists, [(.insert, 2, [2])]))
      var changes = Fixtures.changes(songs, [(.update, 2, [9]), (.insert, 3, [9])])
      changes.names = [.init(name: "a", range: 0..<1)]
      changes.tables += [
        .init(table: labels, records: [.init(kind: .insert, rowID: 2, range: 0..<1)]),
        .init(table: lists, records: [.init(kind: .insert, rowID: 2, range: 0..<1)]),
      ]
      let failure = Fixtures.error { try backend.commit(changes) }
      #expect(failure?.code == .rowExists)
      #expect(failure?.location.className == "List")
      #expect(failure?.location.rowID == 2)
      #expect(try Fixtures.record(2, songs, backend) == [1])
      #expect(try Fixtures.record(3, songs, backend) == nil)
      #expect(try Fixtures.record(2, lists, backend) == [2])
      #expect(try backend.recordCount(in: labels) == 0)
      #expect(try backend.bufferNames() == [])
      try backend.checkpoint()
      #expect(try contents(backend.location) == ["Commit.log", "Commit.manifest", "List", "Song"])
      changes.tables.removeLast()
      try backend.commit(changes)
      #expect(try Fixtures.record(2, songs, backend) == [9])
      #expect(try backend.recordCount(in: labels) == 1)
      #expect(try backend.bufferNames() == ["a"])
    }
  }

  @Test("A commit during a scan does not change the bytes that the scan lends")
  func scanBesideCommit() throws {
    try Fixtures.withBackend { backend, songs in
      let rows = UInt32(2)..<20_002
      try backend.commit(Fixtures.changes(songs, rows.map { (.insert, $0, [1]) }))
      let rewrite = Fixtures.changes(
        songs, rows.map { (.update, $0, Array(repeating: 2, count: 40)) })
      var seen: Set<UInt32> = []
      let end = try backend.scan(songs, from: nil) { row, bytes in
        // From another thread, which is waited for: that the closure runs under no lock.
        if seen.isEmpty {
          #expect(throws: Never.self) { try onAnotherThread { try backend.commit(rewrite) } }
        }
        #expect(Fixtures.bytes(bytes) == [1])
        seen.insert(row)
        return seen.count == 20_000 ? .pause : .next
      }
      #expect(seen.count == 20_000)
      guard case .paused(let position) = end else {
        Issue.record("did not pause")
        return
      }
      let later = try backend.scan(songs, from: position) { _, _ in
        Issue.record("lent a record")
        return .next
      }
      guard case .disturbed = later else {
        Issue.record("not disturbed")
        return
      }
    }
  }

  @Test("A closure of a look-up does not block a commit")
  func lookUpBesideCommit() throws {
    try Fixtures.withBackend { backend, songs in
      try backend.commit(Fixtures.changes(songs, [(.insert, 2, [1])]))
      let change = Fixtures.changes(songs, [(.update, 2, [2])])
      let seen = try backend.withRecord(2, in: songs) { bytes in
        #expect(throws: Never.self) { try onAnotherThread { try backend.commit(change) } }
        return Fixtures.bytes(bytes)
      }
      #expect(seen == [1])
      #expect(try Fixtures.record(2, songs, backend) == [2])
    }
  }

  @Test("A file near its limit is rebuilt with a higher one, and later without one")
  func limit() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      try backend.commit(Fixtures.changes(songs, [(.insert, 2, [1])]))
      backend.files.testedSizeLimit = 300_000
      for row in UInt32(3)..<10 {
        let record = [UInt8](repeating: UInt8(row), count: 200_000)
        try backend.commit(Fixtures.changes(songs, [(.insert, row, record)]))
      }
      let fresh = try backend.table(named: "Fresh")
      let large = [UInt8](repeating: 1, count: 2_000_000)
      try backend.commit(Fixtures.changes(fresh, [(.insert, 2, large)]))
      let middle = try backend.table(named: "Middle")
      try backend.commit(Fixtures.changes(middle, [(.insert, 2, Array(large.prefix(800_000)))]))
      #expect(try Fixtures.record(2, songs, backend) == [1])
      #expect(try Fixtures.record(9, songs, backend)?.count == 200_000)
      try backend.close()
      let header = try HashFileHeader.read(path: directory + "/Middle")
      #expect(header?.alignmentPower == 2 && header?.options == [])
      for name in ["Song", "Fresh"] {
        #expect(try HashFileHeader.read(path: directory + "/" + name)?.options == [.large])
      }
    }
  }

  @Test("The number of buckets fits the expected records, or the first ones")
  func buckets() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(
        directory: directory, configuration: .init(expectedRecordCount: 5_000_000))
      let songs = try backend.table(named: "Song")
      try backend.commit(Fixtures.changes(songs, [(.insert, 2, [1])]))
      try backend.close()
      #expect(try HashFileHeader.read(path: directory + "/Song")?.bucketCount == 393_209)
    }
  }

  @Test("A store of the original in this machine's byte order opens with its records unchanged")
  func originalStore() throws {
    guard let stores = originalStores else {
      print("skipped: the folder of the original's stores is not here")
      return
    }
    try Fixtures.withDirectory { directory in
      try FileManager.default.copyItem(atPath: stores + "/big-endian", toPath: directory)
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(try Set(backend.tableNames()) == ["Song", "Playlist"])
      let songs = try backend.table(named: "Song")
      let lists = try backend.table(named: "Playlist")
      #expect(try backend.recordCount(in: songs) == 6)
      #expect(try backend.recordCount(in: lists) == 3)
      let walking: [UInt8] =
        [0, 19, 0, 0, 0] + Array("Walking on Sunshine".utf8) + [0x2A, 1, 0, 0]
      #expect(try Fixtures.record(2, songs, backend) == walking)
      #expect(try Fixtures.record(6, songs, backend) == [0, 0, 0, 0, 0, 255, 255, 255, 255])
      #expect(try Fixtures.record(1, songs, backend)?.prefix(6) == [6, 0, 0, 0, 1, 0])
      #expect(try Fixtures.record(1, lists, backend)?.prefix(6) == [3, 0, 0, 0, 1, 1])
      let order: [UInt8] = [4, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]
      #expect(try Fixtures.record(2, lists, backend)?.suffix(20) == order[...])
      #expect(try Set(backend.bufferNames()) == ["Favorite", "Recent"])
      #expect(try backend.withNamedBuffer("Favorite") { Fixtures.bytes($0) } == [3, 0, 0, 0])
      let recent: [UInt8] = [2, 0, 0, 0, 6, 0, 0, 0, 4, 0, 0, 0]
      #expect(try backend.withNamedBuffer("Recent") { Fixtures.bytes($0) } == recent)
    }
  }

  private func contents(_ directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }
}

/// Runs a closure on another thread, and waits for it for at most ten seconds.
private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
  struct Stuck: Error {}
  let done = DispatchSemaphore(value: 0)
  Thread {
    try? body()
    done.signal()
  }.start()
  if done.wait(timeout: .now() + 10) == .timedOut { throw Stuck() }
}
