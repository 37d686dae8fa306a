import CDB
import Files
import Foundation
import TestFiles
import Testing

@Suite("Writing a constant database")
struct WriterTests {
  @Test("A value in pieces equals the joined pieces")
  func pieces() throws {
    try withTemporaryDirectory { directory in
      let writer = try CDBWriter(directory + "/a.cdb")
      try writer.add(pieces: [[1], [], [2, 3], Array(repeating: 9, count: 700_000)], forKey: [7])
      try writer.add(pieces: [], forKey: [8])
      try writer.finish()
      let reader = try CDBReader(directory + "/a.cdb")
      #expect(try reader.value(forKey: [7]) == [1, 2, 3] + Array(repeating: 9, count: 700_000))
      #expect(try reader.value(forKey: [8]) == [])
    }
  }

  @Test("Records larger than the buffer are written completely", arguments: CDBFormat.allCases)
  func large(format: CDBFormat) throws {
    try withTemporaryDirectory { directory in
      let pairs = [262_143, 262_144, 262_145, 1_000_000, 3].map {
        Pair(Array("key \($0)".utf8), [UInt8](repeating: UInt8($0 & 255), count: $0))
      }
      let reader = try write(pairs, to: directory + "/a.cdb", format: format)
      #expect(try records(reader) == pairs)
      try reader.verify()
    }
  }

  @Test("The policies for existing keys do what they promise")
  func policies() throws {
    try withTemporaryDirectory { directory in
      let writer = try CDBWriter(directory + "/a.cdb")
      #expect(try writer.add("1", forKey: "a", ifPresent: .report) == .added)
      #expect(try writer.add("2", forKey: "a", ifPresent: .report) == .addedAgain)
      #expect(try writer.add("3", forKey: "a", ifPresent: .insertIfAbsent) == .keptOld)
      #expect(try writer.add("1", forKey: "b", ifPresent: .insertIfAbsent) == .added)
      #expect(try writer.add("2", forKey: "b", ifPresent: .replace) == .replaced)
      #expect(try writer.add("1", forKey: "c", ifPresent: .replace) == .added)
      #expect(try writer.add("2", forKey: "c") == .added)
      #expect(try writer.add("3", forKey: "c", ifPresent: .replace) == .replaced)
      #expect(writer.count == 4)
      let expected = writer.byteCount
      try writer.finish()
      let reader = try CDBReader(directory + "/a.cdb")
      #expect(
        try records(reader) == [Pair("a", "1"), Pair("a", "2"), Pair("b", "2"), Pair("c", "3")])
      #expect(reader.byteCount == expected)
      try reader.verify()
    }
  }

  @Test("Replaced records leave no gap, whatever their number and size")
  func replacing() throws {
    try withTemporaryDirectory { directory in
      let writer = try CDBWriter(directory + "/a.cdb")
      var last: [[UInt8]: [UInt8]] = [:]
      for number in 0..<3_000 {
        let key = Array("key \(number * 7 % 400)".utf8)
        last[key] = [UInt8](repeating: UInt8(number & 255), count: number % 900)
        try writer.add(last[key] ?? [], forKey: key, ifPresent: .replace)
      }
      try writer.finish()
      let reader = try CDBReader(directory + "/a.cdb")
      try reader.verify()
      #expect(reader.count == 400)
      for (key, value) in last { #expect(try reader.values(forKey: key) == [value]) }
      let size = last.reduce(0) { $0 + 8 + $1.key.count + $1.value.count + 16 }
      #expect(reader.byteCount == 2_048 + size)
    }
  }

  @Test("A dropped or cancelled writer leaves nothing, and does not change the old file")
  func abandoned() throws {
    try withTemporaryDirectory { directory in
      try write([Pair("a", "old")], to: directory + "/a.cdb")
      do {
        let writer = try CDBWriter(directory + "/a.cdb")
        try writer.add("new", forKey: "a")
        #expect(try names(directory).count == 2)
      }
      let writer = try CDBWriter(directory + "/a.cdb")
      writer.cancel()
      #expect(failure { try writer.add("x", forKey: "y") }?.code == .closed)
      #expect(failure { try writer.finish() }?.code == .closed)
      #expect(try names(directory) == ["a.cdb"])
      #expect(try CDBReader(directory + "/a.cdb").value(forKey: "a") == Array("old".utf8))
    }
  }

  @Test("Two writers of one file don't disturb each other, and the last one wins")
  func twoWriters() throws {
    try withTemporaryDirectory { directory in
      let (one, two) = (try CDBWriter(directory + "/a.cdb"), try CDBWriter(directory + "/a.cdb"))
      try one.add("1", forKey: "a")
      try two.add("2", forKey: "a")
      try two.finish()
      try one.finish()
      #expect(try CDBReader(directory + "/a.cdb").values(forKey: [97]) == [[49]])
      #expect(try names(directory) == ["a.cdb"])
    }
  }

  @Test("The new file has the permissions of the old one, and a symbolic link is kept")
  func permissions() throws {
    try withTemporaryDirectory { directory in
      let (file, link) = (directory + "/a.cdb", directory + "/link.cdb")
      try write([], to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a.cdb")
      try write([Pair("a", "b")], to: link)
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect(attributes[.posixPermissions] as? Int == 0o640)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "a.cdb")
      #expect(try CDBReader(file).count == 1)
    }
  }

  @Test("A missing directory is reported at once")
  func noDirectory() {
    #expect(failure { _ = try CDBWriter("/nowhere/a.cdb") }?.code == .noFile)
  }

  // MARK: The limit of the format

  @Test(
    "Values above the limit are refused, and those added before are kept",
    arguments: [0, 1, 100])
  func limit(records count: Int) throws {
    try withTemporaryDirectory { directory in
      // A record of key "k", 3 digits and 10 bytes has 8 + 4 + 10 bytes, and two slots 16.
      let limit = 2_048 + count * 38
      let writer = try CDBWriter(
        directory + "/a.cdb", format: .classic, sizeLimit: UInt64(limit),
        in: SystemFiles.shared)
      let value = [UInt8](repeating: 1, count: 10)
      for number in 0..<count { try writer.add(value, forKey: Array("k\(number + 100)".utf8)) }
      let error = failure { try writer.add(value, forKey: Array("k999".utf8)) }
      #expect(error?.code == .tooLarge)
      #expect(error?.key == Array("k999".utf8))
      #expect(writer.byteCount == limit)
      try writer.finish()
      let reader = try CDBReader(directory + "/a.cdb")
      #expect(reader.byteCount == limit)
      #expect(try records(reader).count == count)
      try reader.verify()
    }
  }

  @Test("Replaced bytes do not count towards the limit")
  func limitWithReplacing() throws {
    try withTemporaryDirectory { directory in
      let writer = try CDBWriter(
        directory + "/a.cdb", format: .classic, sizeLimit: 2_048 + 16 + 8 + 1 + 5_000 + 6_000,
        in: SystemFiles.shared)
      for _ in 0..<20 {
        try writer.add([UInt8](repeating: 0, count: 5_000), forKey: [1], ifPresent: .replace)
      }
      try writer.finish()
      #expect(try CDBReader(directory + "/a.cdb").byteCount == 2_048 + 16 + 9 + 5_000)
    }
  }
}
