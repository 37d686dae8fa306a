import Foundation
import ProgramTesting
import TestFiles
import Testing

@testable import TokyoCabinet

@Suite("Files of hash databases")
struct FileTests {
  @Test("After close every call throws closed, and closing again is harmless")
  func closed() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      try db.close()
      try db.close()
      let calls: [() throws -> Void] = [
        { try db.put(key: [1], value: [1]) }, { _ = try db.value(forKey: [1]) },
        { _ = try db.remove(key: [1]) }, { _ = try db.count }, { try db.forEach { _, _ in } },
        { _ = try db.scan { _, _ in .next } }, { try db.synchronize() }, { try db.removeAll() },
        { try db.optimize(Tuning()) }, { try db.copy(to: directory + "/b") },
        { try db.transaction { _ in } }, { _ = try db.valueSize(forKey: [1]) },
        { _ = try db.fileSize }, { _ = try db.fileSizeLimit },
      ]
      for call in calls {
        #expect(code(call) == .closed)
      }
      #expect(db.isClosed)
    }
  }

  @Test("A released database closes its file")
  func deinitCloses() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      do {
        let db = try HashDatabase(path: path)
        try db.put(key: [1], value: [1])
      }
      let header = try #require(try HashFileHeader.read(path: path))
      #expect(!header.isMarkedOpen)
      #expect(header.recordCount == 1)
      try HashDatabase(path: path, mode: .readWrite).close()
    }
  }

  @Test("A read-only database refuses writes and creates nothing")
  func readOnly() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      #expect(code { _ = try HashDatabase(path: path, mode: .readOnly) } == .noFile)
      #expect(!FileManager.default.fileExists(atPath: path))
      try HashDatabase(path: path).close()
      let db = try HashDatabase(path: path, mode: .readOnly)
      #expect(db.isReadOnly)
      #expect(code { try db.put(key: [1], value: [1]) } == .readOnly)
      #expect(code { try db.transaction { _ in } } == .readOnly)
      #expect(code { try db.synchronize() } == .readOnly)
    }
  }

  @Test("Without the option create, a missing file is an error")
  func missing() throws {
    try withTemporaryDirectory { directory in
      #expect(code { _ = try HashDatabase(path: directory + "/a", mode: .readWrite) } == .noFile)
      #expect(code { _ = try HashDatabase(path: directory + "/no/a") } == .noFile)
      #expect(code { _ = try HashDatabase(path: directory) } == .openFailed)
    }
  }

  @Test("The option truncate empties the file")
  func truncate() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      try db.put(key: [1], value: [1])
      try db.close()
      let again = try HashDatabase(path: directory + "/a", mode: .readWrite([.create, .truncate]))
      #expect(try again.count == 0)
    }
  }

  @Test("The same file can't be opened twice in one process, under any name")
  func twice() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      try FileManager.default.createSymbolicLink(
        atPath: directory + "/b", withDestinationPath: directory + "/a")
      for name in ["/a", "/b"] {
        #expect(code { _ = try HashDatabase(path: directory + name) } == .inUse)
        #expect(code { _ = try HashDatabase(path: directory + name, mode: .readOnly) } == .inUse)
        #expect(code { _ = try HashFileHeader.read(path: directory + name) } == .inUse)
      }
      try db.put(key: [1], value: [1])
      try db.close()
      try HashDatabase(path: directory + "/b").close()
    }
  }

  @Test("A file that was removed while it was open is no longer registered after it is closed")
  func removed() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      let open = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(open == ["a"])
      try FileManager.default.linkItem(atPath: directory + "/a", toPath: directory + "/b")
      #expect(code { _ = try HashFileHeader.read(path: directory + "/b") } == .inUse)
      try FileManager.default.removeItem(atPath: directory + "/a")
      try db.close()
      #expect(try HashFileHeader.read(path: directory + "/b")?.isMarkedOpen == false)
    }
  }

  @Test("Garbage, empty files and truncated files are distinguished")
  func noDatabase() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
      #expect(code { _ = try HashDatabase(path: path) } == .notADatabase)
      #expect(try HashFileHeader.read(path: path) == nil)
      try Data().write(to: URL(fileURLWithPath: path))
      #expect(code { _ = try HashDatabase(path: path, mode: .readWrite) } == .notADatabase)
      try HashDatabase(path: path).close()
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      try whole.prefix(1000).write(to: URL(fileURLWithPath: path))
      #expect(code { _ = try HashDatabase(path: path) } == .damaged)
      try whole.prefix(100).write(to: URL(fileURLWithPath: path))
      #expect(throws: TokyoCabinetError.self) { _ = try HashDatabase(path: path) }
    }
  }

  @Test("A file of the other byte order is recognised")
  func otherByteOrder() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      try HashDatabase(path: path).close()
      let order = try #require(try HashFileHeader.read(path: path)).byteOrder
      var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
      for start in stride(from: 40, to: 72, by: 8) { bytes[start..<start + 8].reverse() }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: TokyoCabinetError.self) { _ = try HashDatabase(path: path) }
      #expect(error?.code == .otherByteOrder)
      #expect(error?.description.contains("other byte order") == true)
      #expect(try HashFileHeader.read(path: path)?.byteOrder != order)
    }
  }

  @Test("A file that was not closed is recognised when it is opened")
  func notClosed() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      #expect(db.wasClosedProperly)
      try db.put(key: [1], value: [1])
      try db.synchronize()
      let image = try Data(contentsOf: URL(fileURLWithPath: directory + "/a"))
      // Reading the file's bytes has released the lock; see OpenFiles.
      try image.write(to: URL(fileURLWithPath: directory + "/b"))
      #expect(try HashFileHeader.read(path: directory + "/b")?.isMarkedOpen == true)
      let other = try HashDatabase(path: directory + "/b")
      #expect(!other.wasClosedProperly)
      #expect(try other.value(forKey: [1]) == [1])
    }
  }

  @Test("A hot copy opens, with all written records")
  func hotCopy() throws {
    try withRecords(1000) { db in
      let copy = db.path + ".copy"
      try db.copy(to: copy)
      try db.put(key: [1], value: [1])
      let opened = try HashDatabase(path: copy, mode: .readOnly)
      #expect(try opened.count == 1000)
      #expect(opened.wasClosedProperly)
      #expect(try opened.value(forKey: key(999)) == key(999) + key(999))
      #expect(code { try db.copy(to: "@true") } == .invalid)
    }
  }

  @Test("Optimize changes the layout and keeps the records")
  func optimize() throws {
    try withRecords(1000) { db in
      try db.optimize(Tuning(bucketCount: 500, alignmentPower: 3, options: [.large]))
      #expect(try db.options == [.large])
      #expect(try db.alignment == 8)
      #expect(try db.count == 1000)
      try db.put(key: key(5000), value: [1])
      #expect(code { _ = try HashFileHeader.read(path: db.path) } == .inUse)
    }
  }

  @Test("A write that would exceed the file's limit throws and changes nothing")
  func limit() throws {
    try withRecords(10) { db in
      #expect(try db.fileSizeLimit == 1 << 34)
      let size = try db.fileSize
      db.testedSizeLimit = size + 1000
      #expect(
        code { try db.put(key: [1], value: Array(repeating: 1, count: 1000)) } == .fileTooLarge)
      #expect(
        code { try db.append(key: key(1), value: Array(repeating: 1, count: 1000)) }
          == .fileTooLarge)
      #expect(try db.fileSize == size)
      #expect(try db.count == 10)
      try db.put(key: [1], value: Array(repeating: 1, count: 500))
      #expect(code { try db.optimize(Tuning(alignmentPower: 4)) } == .fileTooLarge)
      try db.optimize(Tuning(alignmentPower: 2, options: [.large]))
      try db.put(key: [2], value: Array(repeating: 1, count: 5000))
      #expect(try db.count == 12)
    }
  }

  @Test("Tuning out of range is refused")
  func badTuning() throws {
    try withTemporaryDirectory { directory in
      for tuning in [
        Tuning(bucketCount: 0), Tuning(alignmentPower: 17), Tuning(freeBlockPower: -1),
      ] {
        #expect(code { _ = try HashDatabase(path: directory + "/a", tuning: tuning) } == .invalid)
      }
      #expect(!FileManager.default.fileExists(atPath: directory + "/a"))
      #expect(Tuning.bucketCount(forExpectedRecords: 10) == 131_071)
      #expect(Tuning.bucketCount(forExpectedRecords: 200_000) == 200_000)
      #expect(Tuning.bucketCount(forExpectedRecords: 9_000_000) == 393_209)
    }
  }

  @Test("tchmgr lists the written records", .enabled(if: hasManager, "tchmgr is not installed"))
  func manager() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      try db.put(key: Array("one".utf8), value: Array("1".utf8))
      try db.close()
      let manager = try #require(InstalledProgram("tchmgr"))
      let listed = try manager.run(["list", "-pv", directory + "/a"])
      #expect(listed.output == "one\t1\n")
      #expect(listed.status == 0)
    }
  }

  @Test(
    "Another process can't open an open file",
    .enabled(if: hasManager, "tchmgr is not installed"))
  func otherProcess() throws {
    try withTemporaryDirectory { directory in
      let db = try HashDatabase(path: directory + "/a")
      try db.put(key: [65], value: [66])
      // tchmgr waits for locks unless an option says otherwise.
      let manager = try #require(InstalledProgram("tchmgr"))
      let listed = try manager.run(["list", "-nb", directory + "/a"])
      #expect(listed.status != 0)
      #expect(listed.output.contains("lock"))
    }
  }

}
