import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinet
import TokyoCabinetFile

@Suite("Reading files of the C library")
struct ReaderTests {
  /// Reads a file in every way, and compares it with what should be in it.
  private func expect(_ records: Records, in path: String) throws {
    let file = try HashFile(path)
    #expect(file.count == records.count)
    #expect(try Fixtures.scanned(file) == records)
    for (key, value) in records { #expect(try file.value(forKey: key) == value) }
    let others: [[UInt8]] = [[1, 2, 3, 4, 5], Array(repeating: 7, count: 400)]
    for missing in others where records[missing] == nil {
      #expect(try file.value(forKey: missing) == nil)
    }
    let check = file.check()
    #expect(check.findings.isEmpty)
    #expect(check.recordCount == records.count)
    #expect(check.freeBlockCount == (try file.freeBlocks().count))
  }

  /// The hash that orders the keys of a bucket.
  private func secondHash(_ key: [UInt8]) -> UInt8 {
    UInt8(truncatingIfNeeded: key.reversed().reduce(751) { ($0 &* 31) ^ Int($1) })
  }

  @Test("Rows are found in a bucket whose tree is a list of 200")
  func deepTree() throws {
    try withTemporaryDirectory { directory in
      let keys = (0..<UInt32(200)).map { Fixtures.key($0 &* 1001) }
      let database = try HashDatabase(path: directory + "/a", tuning: Tuning(bucketCount: 1))
      for key in keys.sorted(by: { secondHash($0) < secondHash($1) }) {
        try database.put(key: key, value: key)
      }
      try database.close()
      let file = try HashFile(directory + "/a")
      let rows = (0..<UInt32(400)).map { $0 &* 1001 }
      #expect(try file.contains(rows: rows) == rows.map { $0 < 200 &* 1001 })
      var (bytes, entries) = ([UInt8](), [HashFile.Entry]())
      try file.copyRecords(of: rows, to: &bytes, &entries, byteLimit: .max)
      #expect(bytes == keys.flatMap(\.self))
    }
  }

  @Test(
    "Rows are read in batches, whatever their order in the file and between free blocks",
    arguments: Fixtures.tunings, [false, true])
  func rows(tuning: Tuning, isInOrder: Bool) throws {
    var random = Seeds.generator(for: "rows of a file, \(tuning)")
    try withTemporaryDirectory { directory in
      var records: Records = [:]
      let database = try HashDatabase(path: directory + "/a", tuning: tuning)
      let order = Array(0..<UInt32(220))
      for row in isInOrder ? order : order.shuffled(using: &random) {
        records[Fixtures.key(row)] = Fixtures.bytes(upTo: 40, &random)
        try database.put(key: Fixtures.key(row), value: records[Fixtures.key(row)] ?? [])
      }
      for row in order where row % 5 == 3 {
        records[Fixtures.key(row)] = nil
        #expect(try database.remove(key: Fixtures.key(row)))
      }
      try database.close()
      try expectRows(of: records, in: HashFile(directory + "/a"))
    }
  }

  /// Reads rows together, in order and in disorder, with gaps, and some twice.
  private func expectRows(of records: Records, in file: HashFile) throws {
    let all = Array(0..<UInt32(220))
    let some: [UInt32] = [5, 6, 9, 23, 24, 40, 41, 41, 3, 3, 199, 200, 1]
    let far: [UInt32] = [0, 40, 80, 83, 120, 200, 219, 5000]
    for rows in [all, all.reversed(), some, all.filter { $0 % 7 == 0 }, far] {
      #expect(try file.contains(rows: rows) == rows.map { records[Fixtures.key($0)] != nil })
      var (bytes, entries) = ([UInt8](), [HashFile.Entry]())
      try file.copyRecords(of: rows, to: &bytes, &entries, byteLimit: .max)
      let found = rows.filter { records[Fixtures.key($0)] != nil }
      #expect(entries.map(\.rowID) == found)
      for entry in entries {
        let value = Array(bytes[Int(entry.start)..<Int(entry.end)])
        #expect(value == records[Fixtures.key(entry.rowID)])
      }
      entries = []
      try file.copyRecords(of: rows, to: &bytes, &entries, byteLimit: bytes.count + 1)
      #expect(entries.map(\.rowID) == Array(found.prefix(entries.count)))
    }
  }

  @Test(
    "Files of the library are read, before and after updates and deletes",
    arguments: Fixtures.tunings)
  func reads(tuning: Tuning) throws {
    var random = Seeds.generator(for: "files of the C library, \(tuning)")
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      var records = Fixtures.records(200, &random)
      var database = try HashDatabase(path: path, tuning: tuning)
      for (key, value) in records { try database.put(key: key, value: value) }
      try database.close()
      try expect(records, in: path)
      for _ in 0..<3 {
        database = try HashDatabase(path: path)
        for key in records.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
          switch Int.random(in: 0..<4, using: &random) {
          case 0:
            records[key] = nil
            #expect(try database.remove(key: key))
          case 1:
            let value = Fixtures.bytes(upTo: 300, &random)
            records[key] = value
            try database.put(key: key, value: value)
          default: break
          }
        }
        try database.close()
        try expect(records, in: path)
      }
    }
  }

  @Test("Free blocks are found, and the library's list of them can be read")
  func freeBlocks() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      let database = try HashDatabase(path: path, tuning: Tuning(alignmentPower: 0))
      for row in 0..<100 as Range<UInt32> {
        try database.put(key: Fixtures.key(row), value: [UInt8](repeating: 1, count: 100))
      }
      for row in stride(from: 1, to: 99, by: 2) as StrideTo<UInt32> {
        _ = try database.remove(key: Fixtures.key(row))
      }
      try database.close()
      let file = try HashFile(path)
      #expect(try file.freeBlocks().count == 49)
      #expect(try file.freeBlockPool() == file.freeBlocks())
      #expect(file.check().unusedByteCount == 49 * 118)
    }
  }

  @Test("A scan pauses and continues")
  func pausing() throws {
    let records = (0..<10 as Range<UInt32>).map { (Fixtures.key($0), [UInt8($0)]) }
    let file = try HashFile(
      bytes: HashFileWriter.bytes(layout: HashFileLayout(bucketCount: 3), records: records))
    var (position, seen) = (Int?.none, [UInt8]())
    repeat {
      position = try file.scan(from: position) { _, value in
        seen += [UInt8](copying: value)
        return seen.count % 4 == 0 ? .pause : .next
      }
    } while position != nil
    #expect(seen == Array(0..<10))
  }

  @Test(
    "With bzip2 and the library's own compression the keys are read, and the values refused",
    arguments: [HashFileOptions.bzip, .tcbs])
  func unsupported(options: HashFileOptions) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      let database = try HashDatabase(path: path, tuning: Tuning(options: options))
      try database.put(key: [1, 2], value: [3, 4])
      try database.close()
      let file = try HashFile(path)
      var keys: [[UInt8]] = []
      try file.forEachKey { keys.append([UInt8](copying: $0)) }
      #expect(keys == [[1, 2]])
      #expect(file.check().isSound)
      let scan = #expect(throws: HashFileError.self) { try file.forEach { _, _ in } }
      #expect(scan?.code == .unsupportedCompression)
      let lookUp = #expect(throws: HashFileError.self) { try file.value(forKey: [1, 2]) }
      #expect(lookUp?.code == .unsupportedCompression)
      #expect(lookUp?.path == path)
      #expect(lookUp?.offset == Int(file.header.firstRecord))
    }
  }

  @Test("The original's stores in both byte orders have the same content")
  func original() throws {
    guard let stores = originalStores else {
      return print("skipped: the folder of the original's stores is not here")
    }
    for name in ["Song", "Playlist", "NamedBuffers"] {
      let big = try HashFile("\(stores)/big-endian/\(name)")
      let little = try HashFile("\(stores)/little-endian/\(name)")
      #expect(big.header.byteOrder == .big)
      #expect(little.header.byteOrder == .little)
      #expect(big.check().isSound && little.check().isSound)
      let records = try #require(try Fixtures.scanned(big))
      let others = try #require(try Fixtures.scanned(little))
      // Row 1 has a random number in it.
      let metadata = Fixtures.key(1)
      #expect(others.keys == records.keys)
      #expect(others.filter { $0.key != metadata } == records.filter { $0.key != metadata })
      #expect(records.count == big.count)
      for (key, value) in records {
        #expect(try big.value(forKey: key) == value)
        #expect(try little.value(forKey: key) == others[key])
      }
    }
  }
}
