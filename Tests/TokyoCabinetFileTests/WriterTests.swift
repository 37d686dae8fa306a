import Files
import Foundation
import ProgramTesting
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinet

@testable import TokyoCabinetFile

@Suite("Writing files for the C library")
struct WriterTests {
  @Test("Written records read back, in either byte order", arguments: Fixtures.layouts)
  func roundTrip(layout: HashFileLayout) throws {
    var random = Seeds.generator(for: "our own files, \(layout)")
    try withTemporaryDirectory { directory in
      let records = Fixtures.records(200, &random)
      try Fixtures.write(records, layout, to: directory + "/a")
      let file = try HashFile(directory + "/a")
      #expect(file.header.byteOrder == layout.byteOrder)
      #expect(file.header.bucketCount == UInt64(layout.bucketCount))
      #expect(file.check().findings.isEmpty)
      #expect(try Fixtures.scanned(file) == records)
      for (key, value) in records { #expect(try file.value(forKey: key) == value) }
    }
  }

  @Test(
    "The library reads it, updates, deletes and adds, and it stays sound",
    arguments: Fixtures.layouts.filter { $0.byteOrder == Fixtures.libraryOrder })
  func library(layout: HashFileLayout) throws {
    var random = Seeds.generator(for: "our files in the C library, \(layout)")
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      var records = Fixtures.records(200, &random)
      try Fixtures.write(records, layout, to: path)
      let database = try HashDatabase(path: path)
      #expect(try database.count == records.count)
      for (key, value) in records { #expect(try database.value(forKey: key) == value) }
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
      for row in 1_000_000..<1_000_100 as Range<UInt32> {
        records[Fixtures.key(row)] = [1]
        try database.put(key: Fixtures.key(row), value: [1])
      }
      try database.close()
      let file = try HashFile(path)
      #expect(try Fixtures.scanned(file) == records)
      #expect(file.check().findings.isEmpty)
    }
  }

  @Test(
    "A file without records equals that of the library, byte for byte",
    arguments: Fixtures.layouts.filter { $0.byteOrder == Fixtures.libraryOrder })
  func empty(layout: HashFileLayout) throws {
    try withTemporaryDirectory { directory in
      try Fixtures.write([:], layout, to: directory + "/ours")
      let tuning = Tuning(
        bucketCount: Int64(layout.bucketCount), alignmentPower: Int8(layout.alignmentPower),
        freeBlockPower: Int8(layout.freeBlockPower), options: layout.options)
      try HashDatabase(path: directory + "/theirs", tuning: tuning).close()
      let contents = try ["/ours", "/theirs"].map {
        try Data(contentsOf: URL(fileURLWithPath: directory + $0))
      }
      #expect(contents[0] == contents[1])
    }
  }

  @Test("A file converted to the other byte order and back is unchanged")
  func conversion() throws {
    var random = Seeds.generator(for: "converting byte orders")
    let layout = HashFileLayout(bucketCount: 50, alignmentPower: 2)
    let records = Fixtures.records(500, &random).map { (key: $0.key, value: $0.value) }
    let original = try HashFileWriter.bytes(layout: layout, records: records)
    func converted(_ bytes: [UInt8], _ order: HashFileHeader.ByteOrder) throws -> [UInt8] {
      var (layout, copies) = (layout, [(key: [UInt8], value: [UInt8])]())
      layout.byteOrder = order
      try HashFile(bytes: bytes).forEach { key, value in
        copies.append(([UInt8](copying: key), [UInt8](copying: value)))
      }
      return try HashFileWriter.bytes(layout: layout, records: copies)
    }
    let little = try converted(original, .little)
    #expect(little != original)
    #expect(
      try Fixtures.scanned(HashFile(bytes: little)) == Dictionary(uniqueKeysWithValues: records))
    #expect(try converted(little, .big) == original)
  }

  @Test("The example of the page HashFileFormat is written")
  func example() throws {
    let page = URL(fileURLWithPath: #filePath)
      .appending(path: "../../../Sources/TokyoCabinetFile/TokyoCabinetFile.docc/HashFileFormat.md")
    let text = try String(contentsOf: page.standardizedFileURL, encoding: .utf8)
    var bytes = [UInt8](repeating: 0, count: 0x174)
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let start = words.first, start.count == 4, words.count > 4,
        line.dropFirst(4).hasPrefix("  "),
        let offset = Int(start, radix: 16)
      else { continue }
      for (index, word) in words.dropFirst().enumerated() {
        bytes[offset + index] = try #require(UInt8(word, radix: 16))
      }
    }
    let layout = HashFileLayout(bucketCount: 1, alignmentPower: 2, freeBlockPower: 0)
    let records = [(Fixtures.key(2), Array("Hey".utf8)), (Fixtures.key(3), Array("Y".utf8))]
    #expect(try HashFileWriter.bytes(layout: layout, records: records) == bytes)
  }

  @Test("A file that is larger than the writer's buffer gets all its links")
  func large() throws {
    try withTemporaryDirectory { directory in
      let value = [UInt8](repeating: 7, count: 200)
      let records = (0..<60_000 as Range<UInt32>).map { (key: Fixtures.key($0), value: value) }
      try HashFileWriter.write(
        directory + "/a", layout: HashFileLayout(bucketCount: 1000, alignmentPower: 2),
        records: records, synchronized: true)
      let file = try HashFile(directory + "/a")
      #expect(file.fileSize > 12 << 20)
      #expect(file.check().findings.isEmpty)
      #expect(try file.value(forKey: Fixtures.key(59_999)) == value)
    }
  }

  @Test("Two records with one key are refused, and no file is left", arguments: [4, 7, 300])
  func duplicates(count: Int) throws {
    try withTemporaryDirectory { directory in
      let key = [UInt8](repeating: 9, count: count)
      var records = (0..<20 as Range<UInt8>).map { row in
        (key: Array(key.dropLast()) + [row], value: [row])
      }
      records.append((key, [2]))
      let error = #expect(throws: HashFileError.self) {
        try HashFileWriter.write(
          directory + "/a", layout: HashFileLayout(bucketCount: 3), records: records,
          synchronized: false)
      }
      #expect(error?.code == .duplicateKey)
      #expect(!FileManager.default.fileExists(atPath: directory + "/a"))
    }
  }

  @Test("Keys of 255 bytes and more are found, whatever their sizes and first bytes")
  func longKeys() throws {
    var random = Seeds.generator(for: "long keys")
    var records: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<2000 {
      let count = Int.random(in: 250...400, using: &random)
      let key = [UInt8.random(in: 0...255, using: &random)] + [UInt8](repeating: 7, count: count)
      records[key] = [1]
    }
    try withTemporaryDirectory { directory in
      // So few buckets that each has several keys with the same second hash.
      try Fixtures.write(records, HashFileLayout(bucketCount: 1), to: directory + "/a")
      let file = try HashFile(directory + "/a")
      #expect(file.check().findings.isEmpty)
      for (key, value) in records { #expect(try file.value(forKey: key) == value) }
    }
  }

  @Test("A cancelled writer leaves no file, and does not change an existing one")
  func abandoned() throws {
    try withTemporaryDirectory { directory in
      var plan = try HashFilePlan(layout: HashFileLayout(), path: directory + "/a")
      try [UInt8]([1]).lend { try plan.add(key: $0, valueCount: 1) }
      var writer: HashFileWriter? = try HashFileWriter(directory + "/a", plan)
      try writer?.append(key: [1], value: [2])
      writer = nil
      #expect(!FileManager.default.fileExists(atPath: directory + "/a"))
      try Fixtures.write([[1]: [2]], HashFileLayout(), to: directory + "/b")
      #expect(throws: HashFileError.self) {
        try HashFileWriter(
          directory + "/b", HashFilePlan(layout: HashFileLayout(), path: directory + "/b"))
      }
      #expect(try HashFile(directory + "/b").value(forKey: [1]) == [2])
    }
  }

  @Test(
    "A record that differs from the plan is an error, also if only its size was planned"
  )
  func unplanned() throws {
    try withTemporaryDirectory { directory in
      for layout in [HashFileLayout(), HashFileLayout(options: .deflate)] {
        var plan = try HashFilePlan(layout: layout, path: directory + "/a")
        let value = [UInt8](repeating: 7, count: 5000)
        try [UInt8]([1]).lend { key in
          try value.lend { value in
            try plan.add(key: key, valueCount: layout.options.contains(.deflate) ? 5000 : 10)
          }
        }
        let writer = try HashFileWriter(directory + "/a", plan)
        func expectError(_ body: () throws -> Void) {
          #expect(#expect(throws: HashFileError.self) { try body() }?.code == .notPlanned)
        }
        expectError { try writer.append(key: [1], value: value) }
        expectError { try writer.finish(synchronized: false) }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
      var plan = try HashFilePlan(layout: HashFileLayout(options: .deflate), path: directory + "/b")
      try [UInt8]([1]).lend { key in try [UInt8]([2]).lend { try plan.add(key: key, value: $0) } }
      let writer = try HashFileWriter(directory + "/b", plan)
      try writer.append(key: [1], value: [2])
      #expect(
        #expect(throws: HashFileError.self) { try writer.append(key: [2], value: [2]) }?.code
          == .notPlanned)
      try writer.finish(synchronized: false)
      #expect(try HashFile(directory + "/b").value(forKey: [1]) == [2])
    }
  }

  @Test("An impossible layout is refused")
  func layouts() {
    let layouts = [
      HashFileLayout(bucketCount: 0), HashFileLayout(alignmentPower: 17),
      HashFileLayout(freeBlockPower: 21), HashFileLayout(options: .bzip),
      HashFileLayout(bucketCount: 1 << 30, alignmentPower: 0),
    ]
    for layout in layouts {
      let error = #expect(throws: HashFileError.self) {
        try HashFileWriter.bytes(layout: layout, records: [])
      }
      #expect(error?.code == .invalidLayout)
    }
  }

  @Test("tchmgr accepts our files")
  func manager() throws {
    try withTemporaryDirectory { directory in
      guard let order = Fixtures.libraryOrder, let program = InstalledProgram("tchmgr") else {
        return print("skipped: tchmgr is not here (Debian package tokyocabinet-bin)")
      }
      let path = directory + "/a"
      let records = Dictionary(
        uniqueKeysWithValues: (0..<500).map { (Array("key\($0)".utf8), Array("value\($0)".utf8)) })
      try Fixtures.write(
        records, HashFileLayout(byteOrder: order, bucketCount: 97, alignmentPower: 3), to: path)
      func output(_ arguments: String...) throws -> String {
        let result = try program.run(arguments)
        #expect(result.status == 0)
        return result.output
      }
      #expect(try output("inform", path).contains("record number: 500"))
      #expect(try output("list", "-pv", path).split(separator: "\n").count == 500)
      #expect(try output("get", path, "key77") == "value77\n")
      _ = try output("out", path, "key78")
      _ = try output("put", path, "key79", String(repeating: "x", count: 100))
      #expect(try HashFile(path).check().isSound)
      _ = try output("optimize", path)
      #expect(try HashFile(path).count == 499)
      #expect(try HashFile(path).check().isSound)
    }
  }
}

@Suite("Offsets of four bytes")
struct AlignedOffsetsTests {
  @Test(
    "Offsets read back, also above 4 GiB times the alignment", arguments: [0, 2, 9])
  func model(power: UInt8) {
    var random = Seeds.generator(for: "aligned offsets of power \(power)")
    var offsets = AlignedOffsets(alignmentPower: power)
    var (model, next): ([Int], Int) = ([], 0)
    for _ in 0..<3_000 {
      model.append(next)
      offsets.append(next)
      next += Int.random(in: 0..<50_000_000, using: &random) << Int(power)
    }
    #expect(model.indices.allSatisfy { offsets[$0] == model[$0] })
    #expect(offsets.units(2_999) == model[2_999] >> Int(power))
  }

  @Test("Keys of 4 bytes are hashed and ordered like any others")
  func words() {
    var random = Seeds.generator(for: "keys of four bytes")
    for _ in 0..<1_000 {
      let key = (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
      let word = key.reduce(0) { $0 << 8 | UInt32($1) }
      let hashes = key.lend { HashFileFormat.hashes(of: $0) }
      #expect(HashFileFormat.hashes(ofBigEndian: word) == hashes)
    }
  }
}
