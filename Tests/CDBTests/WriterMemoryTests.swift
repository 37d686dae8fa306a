import CDB
import Foundation
import TestFiles
import Testing

/// The memory for writing a file, measured in a process of its own.
private enum WriterMemory {
  /// Sanitizers have memory of their own for each byte.
  static let isMeasurable = ["ASAN_OPTIONS", "TSAN_OPTIONS"].allSatisfy {
    ProcessInfo.processInfo.environment[$0] == nil
  }

  /// Returns the bytes by which the process grows while it writes records with values of 100 bytes.
  static func growth(
    _ count: Int, _ format: CDBFormat, _ policy: CDBWriter.DuplicatePolicy
  ) throws -> Int {
    try withTemporaryDirectory { directory in
      let value = [UInt8](repeating: 7, count: 100)
      try write([Pair([1], value)], to: directory + "/first.cdb", format: format)
      let before = try peak()
      let writer = try CDBWriter(directory + "/a.cdb", format: format)
      for number in 0..<count as Range<Int> {
        let key = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        try writer.add(value, forKey: key, ifPresent: policy)
      }
      try writer.finish(synchronize: false)
      return try peak() - before
    }
  }

  /// The most that the process has had in memory, in bytes.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let words = line?.split(whereSeparator: \.isWhitespace) ?? []
    return 1024 * (try #require(words.count == 3 ? Int(words[1]) : nil))
  }

  /// The buffer of a writer, and what the allocator may round up.
  static let slack = 3 << 20
}

@Suite("The memory of a writer", .enabled(if: WriterMemory.isMeasurable))
struct WriterMemoryTests {
  // The counts are just above a power of two, where what grows has just grown.

  @Test("A classic writer uses at most 16 bytes per record, and no memory for values")
  func classic() async {
    await #expect(processExitsWith: .success) {
      let growth = try WriterMemory.growth(270_000, .classic, .add)
      #expect(growth <= 270_000 * 16 + WriterMemory.slack)
    }
  }

  @Test("A wide writer uses at most 32 bytes per record, and no memory for values")
  func wide() async {
    await #expect(processExitsWith: .success) {
      let growth = try WriterMemory.growth(270_000, .wide, .add)
      #expect(growth <= 270_000 * 32 + WriterMemory.slack)
    }
  }

  @Test(
    "A policy that compares with earlier records uses 64 bytes more per record, 96 while growing")
  func policies() async {
    await #expect(processExitsWith: .success) {
      let growth = try WriterMemory.growth(135_000, .classic, .replace)
      #expect(growth <= 135_000 * (16 + 96) + WriterMemory.slack)
    }
  }
}
