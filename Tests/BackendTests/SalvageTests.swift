import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinet

@testable import StoreEngine
@testable import StoredObjectsCore
@testable import TokyoCabinetBackend

/// A class with records of some length.
private final class Word: StoredObject {
  @Content var text = ""

  convenience init(_ text: String) {
    self.init()
    self.text = text
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

@Suite("Salvage")
struct SalvageTests {
  typealias Fixtures = TokyoFixtures

  /// A closed store with this many words, in its file.
  private func makeStore(
    _ directory: String, count: Int = 100, checksums: Bool = true,
    _ more: (Store, TokyoCabinetBackend) throws -> Void = { _, _ in }
  ) throws {
    let backend = try TokyoCabinetBackend(directory: directory)
    let configuration = StoreConfiguration(checksumsRecords: checksums)
    let store = Store(backend: backend, configuration: configuration)
    try store.register(Word.self)
    for number in 0..<count { store.insert(Word("word \(number)")) }
    try store.setBuffer(named: "x") { $0.write(UInt32(7)) }
    try store.saveChanges()
    try backend.checkpoint()
    try more(store, backend)
    try backend.close()
  }

  private func words(_ directory: String) throws -> [String] {
    let backend = try TokyoCabinetBackend(directory: directory)
    let store = Store(backend: backend)
    try store.register(Word.self)
    let words = try store.allObjects(of: Word.self).map(\.text)
    #expect(try store.check().isSound)
    try backend.close()
    return words
  }

  private func edit(_ path: String, _ change: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    change(&data)
    try data.write(to: URL(fileURLWithPath: path))
  }

  private func kinds(_ report: SalvageReport) -> Set<StoreFinding.Kind> {
    Set(report.losses.map(\.kind))
  }

  @Test("A directory with the name of a class file is a loss, and the rest is salvaged")
  func noFile() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory) { _, backend in
        let table = try backend.table(named: "Gone")
        try backend.commit { $0.insert(2, in: table, [1]) }
        try backend.checkpoint()
      }
      try FileManager.default.removeItem(atPath: directory + "/Gone")
      try FileManager.default.createDirectory(
        atPath: directory + "/Gone", withIntermediateDirectories: false)
      let target = directory + " salvaged"
      defer { try? FileManager.default.removeItem(atPath: target) }
      _ = try TokyoCabinetBackend.salvage(from: directory, to: target)
      #expect(try words(target).count == 100)
      let check = try TokyoCabinetBackend.check(directory: directory)
      #expect(!check.findings.isEmpty && check.findings.allSatisfy { $0.kind != .log })
    }
  }

  @Test("A sound store is salvaged without loss")
  func sound() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory)
      let report = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      #expect(report.losses == [])
      #expect(report.classes == [.init(name: "Word", objectCount: 100)])
      #expect(report.namedBufferCount == 1)
      #expect(try words(directory + ".new") == (0..<100).map { "word \($0)" })
      #expect(try words(directory).count == 100)
    }
  }

  @Test("A record with a wrong checksum is left out and listed, and the others are kept")
  func flippedByte() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory)
      try edit(directory + "/Word") { data in
        guard let range = data.range(of: Data("word 42".utf8)) else { return }
        data[range.lowerBound] ^= 1
      }
      #expect(
        try TokyoCabinetBackend.check(directory: directory).findings.map(\.kind) == [.checksum])
      let report = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      #expect(report.losses.contains { $0.kind == .checksum && $0.location.rowID == 44 })
      #expect(try words(directory + ".new") == (0..<100).filter { $0 != 42 }.map { "word \($0)" })
    }
  }

  @Test("Of a truncated file, the records before the cut are salvaged")
  func truncated() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory)
      try edit(directory + "/Word") { data in
        guard let range = data.range(of: Data("word 50".utf8)) else { return }
        data.removeSubrange(range.upperBound...)
      }
      let check = try TokyoCabinetBackend.check(directory: directory)
      #expect(check.findings.map(\.kind) == [.fileDamaged])
      #expect(check.findings.first?.message.contains("cut off") == true)
      let report = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      #expect(kinds(report).isSuperset(of: [.fileDamaged]))
      let words = try words(directory + ".new")
      #expect(words.count >= 50 && words.prefix(50) == (0..<50).map { "word \($0)" }[...])
    }
  }

  @Test(
    "In a file with a hole or without its header, the other records are found",
    arguments: [
      true, false,
    ])
  func hole(inHeader: Bool) throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory)
      try edit(directory + "/Word") { data in
        guard let range = data.range(of: Data("word 50".utf8)) else { return }
        let start = inHeader ? 0 : range.lowerBound
        for offset in start..<start + 100 { data[offset] = 0 }
      }
      let check = try TokyoCabinetBackend.check(directory: directory)
      #expect(check.findings.map(\.kind).contains(.fileDamaged))
      let report = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      #expect(kinds(report).contains(.fileDamaged))
      let words = Set(try words(directory + ".new"))
      #expect(words.count >= (inHeader ? 100 : 94) && words.contains("word 99"))
    }
  }

  @Test("A lost metadata row is restored; checksums prove the class ID", arguments: [true, false])
  func metadata(checksums: Bool) throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory, checksums: checksums) { _, backend in
        let table = try backend.table(named: "Word")
        try backend.commit { $0.update(1, in: table, [1, 2, 3]) }
        try backend.checkpoint()
      }
      let report = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      #expect(kinds(report) == [.metadataDamaged])
      let word = checksums ? "proven" : "guess"
      #expect(report.losses.first?.message.contains(word) == true)
      #expect(try words(directory + ".new").count == 100)
    }
  }

  @Test("Saves in the log only are salvaged, and a torn tail is no loss")
  func log() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory) { store, _ in
        store.insert(Word("logged"))
        try store.removeBuffer(named: "x")
        try store.saveChanges()
        try FileManager.default.copyItem(atPath: directory, toPath: directory + ".killed")
      }
      let report = try TokyoCabinetBackend.salvage(
        from: directory + ".killed", to: directory + ".new")
      #expect(report.losses == [] && report.namedBufferCount == 0)
      #expect(try words(directory + ".new").last == "logged")
    }
  }

  @Test("Saves before a damaged one in the log are salvaged, and those after it are listed")
  func damagedLog() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory) { store, _ in
        for word in ["one", "two", "three"] {
          store.insert(Word(word))
          try store.saveChanges()
        }
        try FileManager.default.copyItem(atPath: directory, toPath: directory + ".killed")
      }
      try edit(directory + ".killed/Commit.log") { data in
        guard let range = data.range(of: Data("two".utf8)) else { return }
        data[range.lowerBound] ^= 1
      }
      let refusal = Fixtures.error {
        _ = try TokyoCabinetBackend(directory: directory + ".killed")
      }
      #expect(refusal?.code == .damaged)
      let check = try TokyoCabinetBackend.check(directory: directory + ".killed")
      #expect(check.findings.map(\.kind) == [.log])
      let report = try TokyoCabinetBackend.salvage(
        from: directory + ".killed", to: directory + ".new")
      #expect(kinds(report) == [.log] && report.losses.count == 2)
      #expect(report.losses.last?.message.contains("Word rows 104") == true)
      #expect(try words(directory + ".new").last == "one")
    }
  }

  @Test("If both headers of the log are destroyed, its saves are still salvaged")
  func logHeaders() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory) { store, _ in
        store.insert(Word("logged"))
        try store.saveChanges()
        try FileManager.default.copyItem(atPath: directory, toPath: directory + ".killed")
      }
      try edit(directory + ".killed/Commit.log") { data in
        for offset in 0..<1024 { data[offset] = 0xFF }
      }
      let report = try TokyoCabinetBackend.salvage(
        from: directory + ".killed", to: directory + ".new")
      #expect(kinds(report) == [.log])
      #expect(try words(directory + ".new").last == "logged")
    }
  }

  @Test("A destroyed newer header of the log is found by check, and salvage works without it")
  func newerLogHeader() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory) { store, _ in
        store.insert(Word("logged"))
        try store.saveChanges()
        try FileManager.default.copyItem(atPath: directory, toPath: directory + ".killed")
      }
      let log = directory + ".killed/Commit.log"
      let storage = try StoreFile(log, writable: false)
      let newest = try #require(try CommitLogReader(storage)?.slotIndex)
      storage.close()
      try edit(log) { $0[newest * 512 + 20] ^= 1 }
      let check = try TokyoCabinetBackend.check(directory: directory + ".killed")
      #expect(check.findings.map(\.kind) == [.log])
      let report = try TokyoCabinetBackend.salvage(
        from: directory + ".killed", to: directory + ".new")
      #expect(kinds(report) == [.log])
      #expect(try words(directory + ".new").last == "logged")
      let refusal = Fixtures.error {
        _ = try TokyoCabinetBackend(directory: directory + ".killed")
      }
      #expect(refusal?.code == .damaged)
    }
  }

  @Test("A failed opening keeps nothing, so the next one opens the files that are there then")
  func failedOpening() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory) { store, backend in
        try backend.backup(to: directory + ".good")
        for word in ["one", "two", "three"] {
          store.insert(Word(word))
          try store.saveChanges()
        }
        try FileManager.default.copyItem(atPath: directory, toPath: directory + ".killed")
      }
      let killed = directory + ".killed"
      try edit(killed + "/Commit.log") { data in
        guard let range = data.range(of: Data("two".utf8)) else { return }
        data[range.lowerBound] ^= 1
      }
      #expect(Fixtures.error { _ = try TokyoCabinetBackend(directory: killed) }?.code == .damaged)
      let good = try TokyoCabinetBackend(directory: directory + ".good")
      let words = try good.table(named: "Word")
      try good.commit { $0.insert(500, in: words, [5]) }
      try good.checkpoint()
      try good.close()
      try FileManager.default.removeItem(atPath: killed)
      try FileManager.default.moveItem(atPath: directory + ".good", toPath: killed)
      let restored = try TokyoCabinetBackend(directory: killed)
      let table = try restored.table(named: "Word")
      #expect(try restored.record(500, in: table) == [5])
      try restored.close()
    }
  }

  @Test("No value of any byte of a class file crashes a check or a salvage")
  func anyByte() throws {
    try Fixtures.withDirectory { directory in
      try makeStore(directory, count: 3)
      let path = directory + "/Word"
      let original = try Data(contentsOf: URL(fileURLWithPath: path))
      let header = try #require(HashFileHeader(bytes: Array(original.prefix(256))))
      // The records, the header, and the buckets that are used.
      var offsets = Array(Int(header.firstRecord)..<Int(header.fileSize)) + Array(0..<72)
      offsets += (256..<Int(header.firstRecord)).filter { original[$0] != 0 }
      var unnoticed = 0
      for (number, offset) in offsets.enumerated() {
        try edit(path) { $0[offset] ^= [1, 0x80, 0xFF][number % 3] }
        let check = try TokyoCabinetBackend.check(directory: directory)
        if check.isSound { unnoticed += 1 }
        if number % 16 == 0 {
          _ = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
          try FileManager.default.removeItem(atPath: directory + ".new")
        }
        try original.write(to: URL(fileURLWithPath: path))
      }
      // Padding, a writer's mark, version digits and the like are nobody's data.
      #expect(unnoticed < 40, "\(unnoticed) of \(offsets.count)")
    }
  }

  @Test("A store in the other byte order is salvaged")
  func otherByteOrder() throws {
    guard let originals = originalStores else { return }
    try Fixtures.withDirectory { directory in
      let report = try TokyoCabinetBackend.salvage(
        from: originals + "/little-endian", to: directory)
      #expect(report.losses == [] && report.classes.map(\.objectCount) == [2, 5])
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(try backend.namedBuffer("Favorite") == [3, 0, 0, 0])
      try backend.close()
    }
  }

  @Test("A store in use, a missing store and a target with content are refused")
  func refusals() throws {
    try Fixtures.withDirectory { directory in
      let missing = Fixtures.error {
        _ = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      }
      #expect(missing?.code == .ioError)
      try makeStore(directory) { _, _ in
        let used = Fixtures.error {
          _ = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
        }
        #expect(used?.code == .inUse)
      }
      let full = Fixtures.error {
        _ = try TokyoCabinetBackend.salvage(from: directory, to: directory)
      }
      #expect(full?.code == .ioError)
      let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
      #expect(try FileManager.default.contentsOfDirectory(atPath: parent) == ["store"])
    }
  }
}
