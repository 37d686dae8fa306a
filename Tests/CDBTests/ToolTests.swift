import CDB
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite(
  "Compatibility with the cdb tool of tinycdb",
  .enabled(if: Tool.isInstalled, "the cdb tool is missing: install the package tinycdb"))
struct ToolTests {
  /// Random records: short keys of few letters, so that many come again.
  private static func randomPairs(_ random: inout SeededGenerator, count: Int) -> [Pair] {
    (0..<count).map { _ in
      let key = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        UInt8.random(in: 0...5, using: &random) &* 51
      }
      let size = Int.random(in: 0...40, using: &random)
      return Pair(key, (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }

  @Test(
    "A file has the bytes that the tool writes for the same records and policy",
    arguments: [
      (CDBWriter.DuplicatePolicy.add, "-c"), (.replace, "-cr"), (.insertIfAbsent, "-cu"),
      (.report, "-cw"),
    ])
  func sameBytes(policy: CDBWriter.DuplicatePolicy, option: String) throws {
    var random = Seeds.generator(for: "the same bytes as the cdb tool, \(option)")
    try withTemporaryDirectory { directory in
      for count in [0, 1, 2, 10, 300, 3_000] {
        let pairs = Self.randomPairs(&random, count: count)
        try write(pairs, to: directory + "/ours.cdb", ifPresent: policy)
        let (status, _) = try Tool.run(
          [option, directory + "/theirs.cdb"], input: Tool.text(pairs))
        #expect(status == 0)
        let ours = try bytes(directory + "/ours.cdb")
        var theirs = try bytes(directory + "/theirs.cdb")
        // The tool never cuts a file: replaced records may leave bytes behind its end.
        if policy == .replace { theirs.removeLast(max(theirs.count - ours.count, 0)) }
        #expect(ours == theirs, "\(count) records, \(pairs.prefix(10))")
      }
    }
  }

  @Test("The tool reads our files, and we read its files")
  func roundTrips() throws {
    var random = Seeds.generator(for: "round trips with the cdb tool")
    try withTemporaryDirectory { directory in
      let pairs = Self.randomPairs(&random, count: 1_000)
      try write(pairs, to: directory + "/ours.cdb")
      #expect(try Tool.run(["-d", directory + "/ours.cdb"]).1 == Tool.text(pairs))
      _ = try Tool.run(["-c", directory + "/theirs.cdb"], input: Tool.text(pairs))
      let reader = try CDBReader(directory + "/theirs.cdb")
      #expect(try records(reader) == pairs)
      try reader.verify()
      for key in Set(pairs.map(\.key)) {
        #expect(try reader.values(forKey: key) == pairs.filter { $0.key == key }.map(\.value))
      }
    }
  }

  @Test("The tool finds our records, also those with hash 0")
  func queries() throws {
    try withTemporaryDirectory { directory in
      let keys = ReaderTests.keysWithHashZero + ["song/2"]
      try write(keys.map { Pair($0, "of \($0)") }, to: directory + "/a.cdb")
      for key in keys {
        let (status, value) = try Tool.run(["-q", directory + "/a.cdb", key])
        #expect(status == 0)
        #expect(value == Array("of \(key)".utf8))
      }
      #expect(try Tool.run(["-q", directory + "/a.cdb", "none"]).0 != 0)
    }
  }
}
