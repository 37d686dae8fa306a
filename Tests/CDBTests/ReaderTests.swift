import CDB
import Files
import Foundation
import TestFiles
import Testing

@Suite("Reading a constant database")
struct ReaderTests {
  static let keysWithHashZero = ["aasewiriv", "aayjcjfsj", "abakpxial"]

  @Test("Every record is found by its key", arguments: CDBFormat.allCases)
  func lookUp(format: CDBFormat) throws {
    try withTemporaryDirectory { directory in
      let pairs = (0..<5_000).map { Pair("key \($0)", String(repeating: "v", count: $0 % 90)) }
      let reader = try write(pairs, to: directory + "/a.cdb", format: format)
      for pair in pairs { #expect(try reader.value(forKey: pair.key) == pair.value) }
      #expect(try reader.value(forKey: "key 5000") == nil)
      #expect(try reader.contains(Array("key 1".utf8)))
      #expect(try !reader.contains([]))
      #expect(reader.count == 5_000)
      #expect(try records(reader) == pairs)
      try reader.verify()
    }
  }

  @Test("Keys whose hash is 0 are found", arguments: CDBFormat.allCases)
  func hashZero(format: CDBFormat) throws {
    try withTemporaryDirectory { directory in
      let pairs = Self.keysWithHashZero.map { Pair($0, "value of \($0)") } + [Pair("x", "y")]
      let reader = try write(pairs, to: directory + "/a.cdb", format: format)
      for pair in pairs { #expect(try reader.value(forKey: pair.key) == pair.value) }
      try reader.verify()
    }
  }

  @Test("All values of a key are read in the order in which they were added")
  func severalValues() throws {
    try withTemporaryDirectory { directory in
      var pairs = (0..<300).map { Pair("k\($0 % 3)", "v\($0)") }
      pairs.append(Pair("alone", "1"))
      let reader = try write(pairs, to: directory + "/a.cdb")
      for key in ["k0", "k1", "k2", "alone", "none"] {
        let expected = pairs.filter { $0.key == Array(key.utf8) }.map(\.value)
        #expect(try reader.values(forKey: Array(key.utf8)) == expected)
        #expect(try reader.value(forKey: key) == expected.first)
      }
      #expect(reader.count == 301)
    }
  }

  @Test("Empty keys and empty values are valid", arguments: CDBFormat.allCases)
  func empty(format: CDBFormat) throws {
    try withTemporaryDirectory { directory in
      let pairs = [Pair("", "no key"), Pair("no value", ""), Pair("", "")]
      let reader = try write(pairs, to: directory + "/a.cdb", format: format)
      #expect(try reader.values(forKey: []) == [Array("no key".utf8), []])
      #expect(try reader.value(forKey: "no value") == [])
      #expect(try records(reader) == pairs)
    }
  }

  @Test("A file without records is only the header", arguments: CDBFormat.allCases)
  func noRecords(format: CDBFormat) throws {
    try withTemporaryDirectory { directory in
      let reader = try write([], to: directory + "/a.cdb", format: format)
      #expect(reader.byteCount == (format == .wide ? 4_096 : 2_048))
      #expect(reader.count == 0)
      #expect(try records(reader) == [])
      #expect(try reader.value(forKey: "a") == nil)
    }
  }

  @Test("A value is lent without a copy, and errors of the closure are thrown")
  func lending() throws {
    struct Stop: Error {}
    try withTemporaryDirectory { directory in
      let reader = try write([Pair("a", "12345")], to: directory + "/a.cdb")
      #expect(try reader.withValue(forKey: "a") { $0.byteCount } == 5)
      #expect(try reader.withValue(forKey: "b") { $0.byteCount } == nil)
      #expect(throws: Stop.self) { try reader.withValue(forKey: "a") { _ in throw Stop() } }
      #expect(throws: Stop.self) { try reader.forEach { _, _ in throw Stop() } }
    }
  }

  @Test("A reader continues with its file when another file replaces it")
  func replaced() throws {
    try withTemporaryDirectory { directory in
      let old = try write([Pair("a", "old")], to: directory + "/a.cdb")
      let new = try write([Pair("a", "new")], to: directory + "/a.cdb")
      #expect(try old.value(forKey: "a") == Array("old".utf8))
      #expect(try new.value(forKey: "a") == Array("new".utf8))
    }
  }

  @Test("Any number of cursors and threads read concurrently")
  func concurrency() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let pairs = (0..<2_000).map { Pair("key \($0)", "value \($0)") }
    let reader = try write(pairs, to: directory + "/a.cdb")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for pair in pairs.dropFirst(task) {
            let value = try reader.value(forKey: pair.key)
            guard value == pair.value else { throw CancellationError() }
          }
          #expect(try records(reader) == pairs)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("A missing file, a directory and a file of the other format are distinguished")
  func opening() throws {
    try withTemporaryDirectory { directory in
      #expect(failure { _ = try CDBReader(directory + "/none.cdb") }?.code == .noFile)
      #expect(failure { _ = try CDBReader(directory) }?.code == .ioError)
      try write([Pair("a", "b")], to: directory + "/wide.cdb", format: .wide)
      try write([Pair("a", "b")], to: directory + "/classic.cdb")
      let error = failure { _ = try CDBReader(directory + "/wide.cdb") }
      #expect(error?.code == .otherFormat)
      #expect(error?.description.contains(".wide") == true)
      let other = failure { _ = try CDBReader(directory + "/classic.cdb", format: .wide) }
      #expect(other?.code == .damaged)
      #expect(other?.offset != nil)
    }
  }
}
