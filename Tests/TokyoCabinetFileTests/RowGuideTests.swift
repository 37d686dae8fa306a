import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinet

@testable import TokyoCabinetFile

@Suite("The guide to the rows of a large file")
struct RowGuideTests {
  private static let count: UInt32 = 70_000

  /// Writes a large file in the order of its rows, and changes it: rows are removed, moved, added.
  private func makeFile(
    _ path: String, _ random: inout SeededGenerator
  ) throws -> [UInt32: [UInt8]] {
    var values: [UInt32: [UInt8]] = [:]
    let database = try HashDatabase(path: path, tuning: Tuning(alignmentPower: 2))
    func put(_ row: UInt32, _ value: [UInt8]) throws {
      values[row] = value
      try database.put(key: Fixtures.key(row), value: value)
    }
    for row in 1...Self.count { try put(row, Fixtures.key(row &* 7)) }
    for _ in 0..<4000 {
      let row = UInt32.random(in: 1...Self.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        values[row] = nil
        _ = try database.remove(key: Fixtures.key(row))
      case 1: try put(row, Fixtures.bytes(upTo: 200, &random))
      default: try put(Self.count * 2 + row * 11, [1])
      }
    }
    try database.close()
    return values
  }

  private func value(_ row: UInt32, in file: HashFile) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    return try file.copyRecord(of: row, to: &bytes) ? bytes : nil
  }

  @Test("Each row is found, before and after the guide knows it, and most by the guide")
  func model() throws {
    var random = Seeds.generator(for: "guide to rows")
    try withTemporaryDirectory { directory in
      let values = try makeFile(directory + "/a", &random)
      let file = try HashFile(directory + "/a")
      let rows = (Array(values.keys) + Array(1...Self.count)).shuffled(using: &random)
      #expect(file.file.withBytes { file.guided(to: 2, in: $0) } == nil)
      for row in rows {
        let isRight = try value(row, in: file) == values[row]
        #expect(isRight, "row \(row)")
      }
      let known = file.file.withBytes { bytes in
        (1...Self.count).count { file.guided(to: $0, in: bytes) != nil }
      }
      #expect(known > Int(Self.count) * 9 / 10, "the guide leads to \(known) rows")
      let others = [0, 4_000_000, .max] as [UInt32]
      for row in others { #expect(try value(row, in: file) == nil) }
    }
  }

  @Test("Threads that look rows up at the same time find each")
  func threads() async throws {
    try await withTemporaryDirectory { directory in
      var random = Seeds.generator(for: "guide to rows, threads")
      let values = try makeFile(directory + "/a", &random)
      let file = try HashFile(directory + "/a")
      let rows = (1...Self.count).shuffled(using: &random)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for part in 0..<4 {
          group.addTask {
            try rows[(part * 4000)...].prefix(40_000).allSatisfy { row in
              var bytes: [UInt8] = []
              let isFound = try file.copyRecord(of: row, to: &bytes)
              return (isFound ? bytes : nil) == values[row]
            }
          }
        }
        for try await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test("A file of large records has none")
  func large() throws {
    try withTemporaryDirectory { directory in
      let records = (1...66_000 as ClosedRange<UInt32>).map { row in
        (Fixtures.key(row), [UInt8](repeating: 1, count: row == 1 ? 9_000_000 : 140))
      }
      try Fixtures.write(
        Dictionary(uniqueKeysWithValues: records), HashFileLayout(), to: directory + "/a")
      #expect(try HashFile(directory + "/a").guide == nil)
    }
  }

  @Test("A small file has none, and neither has one whose number of records can't be")
  func small() throws {
    try withTemporaryDirectory { directory in
      try Fixtures.write([Fixtures.key(1): [1]], HashFileLayout(), to: directory + "/a")
      #expect(try HashFile(directory + "/a").guide == nil)
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: directory + "/a")))
      // The number of records, at offset 48.
      for offset in 48..<56 { bytes[offset] = 0x7F }
      #expect(try HashFile(bytes: bytes).guide == nil)
    }
  }
}
