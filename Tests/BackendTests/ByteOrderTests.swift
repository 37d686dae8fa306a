import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinet
import TokyoCabinetFile

@testable import TokyoCabinetBackend

@Suite("Stores in the other byte order")
struct ByteOrderTests {
  typealias Fixtures = TokyoFixtures

  private static let names = ["NamedBuffers", "Song", "Word"]

  /// Makes a store of two classes, and gives some of its files the other byte order.
  private func withStore(swapping names: [String], _ body: (String) throws -> Void) throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let (songs, words) = (try backend.table(named: "Song"), try backend.table(named: "Word"))
      try backend.commit {
        for row in UInt32(1)..<300 { $0.insert(row, in: songs, [UInt8](repeating: 1, count: 9)) }
        $0.insert(2, in: words, [7])
        $0.set("Favorite", [3, 0, 0, 0])
      }
      try backend.checkpoint()
      try backend.close()
      for name in names { try swap(directory + "/" + name) }
      try body(directory)
    }
  }

  /// Takes away what BNRPersistence would not have made.
  private func makeForeign(_ directory: String) throws {
    for name in ["Commit.log", "Commit.manifest"] { try removeFile(directory + "/" + name) }
  }

  private func swap(_ path: String) throws {
    let file = try HashFile(path)
    var layout = file.layout
    layout.byteOrder = layout.byteOrder == .big ? .little : .big
    var records: [(key: [UInt8], value: [UInt8])] = []
    try file.forEach { records.append(([UInt8](copying: $0), [UInt8](copying: $1))) }
    try HashFileWriter.write(
      path + ".swapped", layout: layout, records: records, synchronized: false)
    try renameFile(path + ".swapped", path)
  }

  private func orders(_ directory: String) throws -> [HashFileHeader.ByteOrder] {
    try Self.names.map { try HashFile(directory + "/" + $0).header.byteOrder }
  }

  private func expectContents(
    _ directory: String, _ access: TokyoCabinetBackend.Configuration.Access
  ) throws {
    let backend = try TokyoCabinetBackend(
      directory: directory, configuration: .init(access: access))
    let (songs, words) = (try backend.table(named: "Song"), try backend.table(named: "Word"))
    #expect(try backend.recordCount(in: songs) == 299)
    #expect(try backend.records(in: songs).count == 299)
    #expect(try backend.record(299, in: songs) == [UInt8](repeating: 1, count: 9))
    #expect(try backend.record(2, in: words) == [7])
    #expect(try backend.namedBuffer("Favorite") == [3, 0, 0, 0])
    #expect(try Set(backend.tableNames()) == ["Song", "Word"])
    try backend.close()
  }

  @Test("A store opened for reading is read in its byte order", arguments: [names, ["Word"]])
  func reading(names: [String]) throws {
    try withStore(swapping: names) { directory in
      let before = try orders(directory)
      try expectContents(directory, .readOnly)
      #expect(try orders(directory) == before)
    }
  }

  @Test(
    "A store opened for writing again keeps its byte order until it is written",
    arguments: [names, ["Word"]])
  func writing(names: [String]) throws {
    try withStore(swapping: names) { directory in
      let before = try orders(directory)
      try expectContents(directory, .readWrite)
      #expect(try orders(directory) == before)
      let backend = try TokyoCabinetBackend(directory: directory)
      let words = try backend.table(named: "Word")
      try backend.commit { $0.insert(3, in: words, [8]) }
      try backend.checkpoint()
      let word = try HashDatabase(path: directory + "/Word", mode: .readOnly)
      #expect(try word.count == 2)
      try word.close()
      try backend.commit { $0.delete(3, in: words) }
      try backend.close()
    }
  }

  @Test(
    "A store opened for writing for the first time is converted to the byte order of the C library",
    arguments: [names, ["Word"], []])
  func converting(names: [String]) throws {
    try withStore(swapping: names) { directory in
      try makeForeign(directory)
      let before = try orders(directory)
      try expectContents(directory, .readOnly)
      #expect(try orders(directory) == before)
      try expectContents(directory, .readWrite)
      #expect(try Set(orders(directory)).count == 1)
      for name in Self.names {
        try HashDatabase(path: directory + "/" + name, mode: .readOnly).close()
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(left.sorted() == ["Commit.log", "Commit.manifest"] + Self.names)
    }
  }

  @Test("A damaged file is not changed, and the others are converted")
  func convertingBesideDamage() throws {
    try withStore(swapping: Self.names) { directory in
      try makeForeign(directory)
      let path = directory + "/Song"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      bytes[Int(try HashFile(path).header.firstRecord)] = 0
      try bytes.write(to: URL(fileURLWithPath: path))
      let before = try orders(directory)
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(Fixtures.error { _ = try backend.table(named: "Song") }?.code == .damaged)
      #expect(try backend.record(2, in: backend.table(named: "Word")) == [7])
      try backend.close()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
      let after = try orders(directory)
      #expect(after[0] != before[0] && after[1] == before[1] && after[2] != before[2])
    }
  }

  @Test(
    "Compacting converts a store to the byte order of the C library", arguments: [names, ["Word"]])
  func compacting(names: [String]) throws {
    try withStore(swapping: names) { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      _ = try backend.compact()
      try backend.close()
      #expect(try Set(orders(directory)).count == 1)
      for name in Self.names {
        let file = try HashDatabase(path: directory + "/" + name, mode: .readOnly)
        #expect(try file.count > 0)
        try file.close()
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(left.sorted() == ["Commit.log", "Commit.manifest"] + Self.names)
      try expectContents(directory, .readWrite)
    }
  }

  @Test("Small and large saves are written to them")
  func saving() throws {
    try withStore(swapping: Self.names) { directory in
      for count in [1, 200_000] {
        let backend = try TokyoCabinetBackend(directory: directory)
        let songs = try backend.table(named: "Song")
        let record = [UInt8](repeating: 5, count: count)
        try backend.commit { for row in UInt32(2)..<12 { $0.update(row, in: songs, record) } }
        try backend.checkpoint()
        #expect(try backend.record(11, in: songs) == record)
        #expect(try backend.record(12, in: songs)?.count == 9)
        try backend.close()
      }
      #expect(
        try TokyoCabinetBackend.check(directory: directory).findings
          .allSatisfy { $0.kind == .metadataMissing || $0.kind == .metadataDamaged })
    }
  }

  @Test("An unfinished conversion of an earlier version does no harm")
  func killed() throws {
    try withStore(swapping: Self.names) { directory in
      let new = directory + "/.new.order-Song"
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: new))
      try expectContents(directory, .readOnly)
      #expect(FileManager.default.fileExists(atPath: new))
      try expectContents(directory, .readWrite)
      #expect(!FileManager.default.fileExists(atPath: new))
    }
  }

  @Test("A damaged store is refused with the place of the damage, and not changed")
  func damaged() throws {
    try withStore(swapping: ["Song"]) { directory in
      let path = directory + "/Song"
      let offset = Int(try HashFile(path).header.firstRecord)
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      bytes[offset] = 0
      try bytes.write(to: URL(fileURLWithPath: path))
      let backend = try TokyoCabinetBackend(directory: directory)
      let error = Fixtures.error { _ = try backend.table(named: "Song") }
      #expect(error?.code == .damaged)
      #expect(error?.location.path?.hasSuffix("/Song") == true)
      #expect(error?.location.offset == offset)
      try backend.close()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }
  }

  @Test("An unfinished transaction of a library with the other byte order is not ignored")
  func transaction() throws {
    try withStore(swapping: ["Song"]) { directory in
      let path = directory + "/Song"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      bytes[33] |= 1
      try bytes.write(to: URL(fileURLWithPath: path))
      try expectContents(directory, .readOnly)
      try Data([1]).write(to: URL(fileURLWithPath: path + ".wal"))
      let backend = try TokyoCabinetBackend(directory: directory)
      let error = Fixtures.error { _ = try backend.table(named: "Song") }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("died in a transaction") == true)
      try backend.close()
    }
  }

  @Test("A file that another program has open for writing is in use")
  func inUse() throws {
    try withStore(swapping: []) { directory in
      let other = try HashDatabase(path: directory + "/Song")
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(Fixtures.error { _ = try backend.table(named: "Song") }?.code == .inUse)
      try other.close()
      let songs = try backend.table(named: "Song")
      #expect(try backend.record(2, in: songs)?.count == 9)
      #expect(throws: TokyoCabinetError.self) { try HashDatabase(path: directory + "/Song") }
      try backend.close()
      try HashDatabase(path: directory + "/Song").close()
    }
  }
}
