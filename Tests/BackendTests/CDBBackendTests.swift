import CDB
import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing
import TokyoCabinetBackend

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

@Suite("A store on constant databases")
struct CDBBackendTests {
  private func withDirectory(_ body: (String) throws -> Void) throws {
    try TokyoFixtures.withDirectory(body)
  }

  /// A store with this many words, in its file, and what the closure adds.
  private func makeStore(
    _ directory: String, count: Int = 100,
    _ more: (Store, CDBBackend) throws -> Void = { _, _ in }
  ) throws {
    let backend = try CDBBackend(directory: directory)
    let store = Store(backend: backend)
    try store.register(Word.self)
    for number in 0..<count { store.insert(Word("word \(number)")) }
    try store.setBuffer(named: "x") { $0.write(UInt32(7)) }
    try store.saveChanges()
    try backend.checkpoint()
    try more(store, backend)
    try backend.close()
  }

  private func words(_ backend: any StoreBackend) throws -> [String] {
    let store = Store(backend: backend)
    try store.register(Word.self)
    let words = try store.allObjects(of: Word.self).map(\.text)
    #expect(try store.check().isSound)
    try backend.close()
    return words
  }

  private func words(_ directory: String) throws -> [String] {
    try words(try CDBBackend(directory: directory))
  }

  private func edit(_ path: String, _ change: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(filePath: path))
    change(&data)
    try data.write(to: URL(filePath: path))
  }

  private func error(_ body: () throws -> Void) -> StoreError? { TokyoFixtures.error(body) }

  // MARK: Files

  @Test("Each class has a constant database with its name, whose keys are row IDs")
  func files() throws {
    try withDirectory { directory in
      try makeStore(directory, count: 2)
      let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      #expect(names == ["Commit.log", "Commit.manifest", "NamedBuffers.cdb", "Word.cdb"])
      let reader = try CDBReader(directory + "/Word.cdb")
      try reader.verify()
      var keys: [[UInt8]] = []
      try reader.forEach { key, _ in keys.append(TokyoFixtures.bytes(key)) }
      let key: [UInt8] = [2, 0, 0, 0, 0x62, 0xF3, 0x6E, 0x3C]
      #expect(keys.contains(key))
      #expect(Set(keys.map { Array($0[..<4]) }) == [[1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]])
      let record = try reader.value(forKey: key)
      #expect(record?.starts(with: [0, 6, 0, 0, 0] + Array("word 0".utf8)) == true)
      #expect(try CDBReader(directory + "/NamedBuffers.cdb").value(forKey: "x") != nil)
    }
  }

  @Test("Keys of consecutive rows have different hashes")
  func hashes() throws {
    try withDirectory { directory in
      try makeStore(directory, count: 20_000)
      var hashes = Set<UInt32>()
      try CDBReader(directory + "/Word.cdb").forEach { key, _ in
        hashes.insert(TokyoFixtures.bytes(key).reduce(5_381) { ($0 &* 33) ^ UInt32($1) })
      }
      #expect(hashes.count > 19_990)
    }
  }

  @Test("Inserts, changes and deletes are folded into the file")
  func folding() throws {
    try withDirectory { directory in
      try makeStore(directory) { store, backend in
        let all = try store.allObjects(of: Word.self)
        for (index, word) in all.enumerated() {
          if index % 3 == 0 { store.delete(word) } else { word.text += "!" }
        }
        store.insert(Word("new"))
        try store.saveChanges()
        try backend.checkpoint()
        try CDBReader(directory + "/Word.cdb").verify()
      }
      let found = try words(directory)
      let old = (0..<100).filter { $0 % 3 != 0 }.map { "word \($0)!" }
      #expect(Set(found) == Set(old + ["new"]))
      #expect(found.count == old.count + 1)
    }
  }

  @Test("A file that outgrows offsets of 4 bytes is written with 8 from then on")
  func wide() throws {
    try withDirectory { directory in
      try makeStore(directory) { store, backend in
        backend.files.testedSizeLimit = 10_000
        for number in 0..<400 { store.insert(Word("more \(number)")) }
        try store.saveChanges()
        try backend.checkpoint()
      }
      #expect(throws: CDBError.self) { try CDBReader(directory + "/Word.cdb") }
      #expect(try CDBReader(directory + "/Word.cdb", format: .wide).count == 501)
      #expect(try words(directory).count == 500)
      #expect(try CDBBackend.check(directory: directory).isSound)
    }
  }

  @Test("A directory with a store of another backend is refused")
  func otherBackend() throws {
    try withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      _ = try words(backend)
      #expect(error { _ = try CDBBackend(directory: directory) }?.code == .ioError)
    }
  }

  // MARK: Damage

  @Test("A truncated class file is damage, and the check names it")
  func cut() throws {
    try withDirectory { directory in
      try makeStore(directory)
      try edit(directory + "/Word.cdb") { $0.removeLast(100) }
      let check = try CDBBackend.check(directory: directory)
      #expect(check.findings.map(\.kind) == [.fileDamaged])
      #expect(check.findings.first?.location.className == "Word")
      #expect(error { _ = try words(directory) }?.code == .damaged)
    }
  }

  @Test("A missing class file is damage, not an empty class")
  func gone() throws {
    try withDirectory { directory in
      try makeStore(directory)
      try FileManager.default.removeItem(atPath: directory + "/Word.cdb")
      #expect(error { _ = try CDBBackend(directory: directory) }?.code == .damaged)
      #expect(try !CDBBackend.check(directory: directory).isSound)
    }
  }

  @Test("A foreign file is a finding")
  func foreign() throws {
    try withDirectory { directory in
      try makeStore(directory)
      try Data("x".utf8).write(to: URL(filePath: directory + "/letter.txt"))
      #expect(try CDBBackend.check(directory: directory).findings.map(\.kind) == [.foreignFile])
    }
  }

  // MARK: Backup and salvage

  @Test("A backup is a complete store, with the records in the log")
  func backup() throws {
    try withDirectory { directory in
      try makeStore(directory) { store, backend in
        store.insert(Word("pending"))
        try store.saveChanges()
        #expect(try backend.logState()?.pendingBatchCount == 1)
        try backend.backup(to: directory + " copy")
        #expect(error { try backend.backup(to: directory + " copy") }?.code == .ioError)
      }
      #expect(try CDBBackend.check(directory: directory + " copy").isSound)
      #expect(try Set(words(directory + " copy")) == Set(words(directory)))
    }
  }

  @Test("A sound store is salvaged without loss, with the records in the log")
  func salvage() throws {
    try withDirectory { directory in
      try makeStore(directory) { store, backend in
        let all = try store.allObjects(of: Word.self)
        store.delete(all[0])
        all[1].text = "changed"
        store.insert(Word("pending"))
        try store.saveChanges()
        try backend.backup(to: directory + " killed")
      }
      let report = try CDBBackend.salvage(from: directory + " killed", to: directory + " new")
      #expect(report.losses.isEmpty)
      #expect(report.classes.map(\.objectCount) == [100])
      #expect(report.namedBufferCount == 1)
      #expect(try Set(words(directory + " new")) == Set(words(directory)))
    }
  }

  @Test("All complete records are salvaged", arguments: [0, 1, 2, 3, 4, 5, 6, 7] as [UInt64])
  func salvageOfDamage(offset: UInt64) throws {
    var random = SeededGenerator(seed: Seeds.current &+ offset)
    try withDirectory { directory in
      try makeStore(directory)
      let size = try Data(contentsOf: URL(filePath: directory + "/Word.cdb")).count
      let offset = Int.random(in: 0..<size - 8, using: &random)
      try edit(directory + "/Word.cdb") { data in
        if offset % 4 == 3 { return data.removeLast(size - max(offset, 2_048)) }
        for index in offset..<offset + 8 {
          data[index] ^= UInt8.random(in: 1...255, using: &random)
        }
      }
      let report = try CDBBackend.salvage(from: directory, to: directory + " new")
      let found = try words(directory + " new")
      // The hash in an empty slot means nothing, and neither does the place of an empty table.
      #expect(
        !report.losses.isEmpty || found.count == 100, "byte \(offset), seed \(Seeds.current)")
      #expect(Set(found).isSubset(of: Set((0..<100).map { "word \($0)" })))
      // Eight bytes are in two records at most; a cut takes what is behind it.
      if offset % 4 != 3 { #expect(found.count >= 97, "byte \(offset)") }
      #expect(try CDBBackend.check(directory: directory + " new").isSound)
    }
  }

  @Test("A lost metadata row is restored with the class ID that checksums prove")
  func lostMetadata() throws {
    try withDirectory { directory in
      try makeStore(directory)
      let pairs = try records(directory + "/Word.cdb").filter { $0.key[0] != 1 }
      let writer = try CDBWriter(directory + "/Word.cdb")
      for (key, value) in pairs { try writer.add(value, forKey: key) }
      try writer.finish()
      let report = try CDBBackend.salvage(from: directory, to: directory + " new")
      // Nothing says that the file is the one of the manifest.
      #expect(report.losses.map(\.kind) == [.fileDamaged, .metadataDamaged])
      #expect(try words(directory + " new").count == 100)
    }
  }

  private func records(_ path: String) throws -> [(key: [UInt8], value: [UInt8])] {
    var pairs: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try CDBReader(path).cursor()
    while try cursor.next() { pairs.append((cursor.key, cursor.value)) }
    return pairs
  }

  // MARK: Converting

  @Test("A store is copied to another backend and back, byte for byte")
  func converting() throws {
    try withDirectory { directory in
      try makeStore(directory) { store, _ in
        store.insert(Word("pending"))
        try store.saveChanges()
      }
      let source = try CDBBackend(directory: directory)
      let middle = try TokyoCabinetBackend(directory: directory + " tokyo")
      let end = try CDBBackend(directory: directory + " back")
      #expect(try BackendCopy(from: source, to: middle).run() == 102)
      #expect(try BackendCopy(from: middle, to: end).run() == 102)
      #expect(error { try BackendCopy(from: source, to: end).run() }?.code == .ioError)
      #expect(try StoreImage(of: end) == StoreImage(of: source))
      try source.close()
      #expect(try words(middle).count == 101)
      #expect(try words(end).count == 101)
    }
  }
}
