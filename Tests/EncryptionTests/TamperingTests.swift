import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Tampering")
struct TamperingTests {
  /// A store that is folded, at a path.
  private func withStore(
    _ kind: StoreFormat, _ body: (String) throws -> Void
  ) throws {
    try EncryptedStore.use(kind) { _, path in
      let backend = try kind.open(path)
      try EncryptedStore.fold(backend)
      try backend.close()
      try body(path)
    }
  }

  private func expectNotAuthentic(
    _ kind: StoreFormat, _ path: String, _ className: String, _ rowID: UInt32,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let backend = try kind.open(path)
    defer { try? backend.close() }
    let table = try backend.table(named: className)
    let reads: [() throws -> Void] = [
      { _ = try backend.record(rowID, in: table) },
      { _ = try backend.records(in: table) },
      {
        var bytes: [UInt8] = []
        _ = try backend.copyRecord(rowID, in: table, to: &bytes)
      },
      {
        var batch = RecordBatch()
        _ = try backend.copyRecords(of: table, from: nil, to: &batch)
      },
    ]
    for read in reads {
      let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try read() }
      #expect(error?.code == .notAuthentic, sourceLocation: sourceLocation)
      #expect(error?.location.className == className, sourceLocation: sourceLocation)
      #expect(error?.location.rowID == rowID, sourceLocation: sourceLocation)
    }
    try backend.close()
    let findings = try kind.check(path).findings
    #expect(findings.map(\.kind) == [.notAuthentic], sourceLocation: sourceLocation)
    #expect(findings.map(\.location.rowID) == [rowID], sourceLocation: sourceLocation)
    #expect(findings.map(\.location.className) == [className], sourceLocation: sourceLocation)
  }

  @Test("A record in another row is not read", arguments: StoreFormat.allCases)
  func otherRow(_ kind: StoreFormat) throws {
    try withStore(kind) { path in
      try SealedFiles(kind, path).copyRecord(fromRow: 2, to: 3, inTableOf: "SecretDiary")
      try expectNotAuthentic(kind, path, "SecretDiary", 3)
    }
  }

  @Test("A record of another class is not read", arguments: StoreFormat.allCases)
  func otherClass(_ kind: StoreFormat) throws {
    try withStore(kind) { path in
      let files = SealedFiles(kind, path)
      try files.setRecord(
        try files.record(2, inTableOf: "SecretDiary"), 2, inTableOf: "PrivateDoctor")
      try expectNotAuthentic(kind, path, "PrivateDoctor", 2)
    }
  }

  @Test("A record of another store is not read", arguments: StoreFormat.allCases)
  func otherStore(_ kind: StoreFormat) throws {
    try withStore(kind) { path in
      try withStore(kind) { other in
        let record = try SealedFiles(kind, other).record(2, inTableOf: "SecretDiary")
        try SealedFiles(kind, path).setRecord(record, 2, inTableOf: "SecretDiary")
        try expectNotAuthentic(kind, path, "SecretDiary", 2)
      }
    }
  }

  @Test("A record that has been shortened or emptied is not read")
  func shortened() throws {
    for count in [0, 1, 11, 12, 27, 28] {
      try withStore(.cdb) { path in
        let files = SealedFiles(.cdb, path)
        let record = try files.record(2, inTableOf: "SecretDiary")
        try files.setRecord(Array(record.prefix(count)), 2, inTableOf: "SecretDiary")
        try expectNotAuthentic(.cdb, path, "SecretDiary", 2)
      }
    }
  }

  @Test("A buffer under another name is not read", arguments: StoreFormat.allCases)
  func otherName(_ kind: StoreFormat) throws {
    try withStore(kind) { path in
      let backend = try kind.open(path)
      try backend.commit { $0.set("Other", [1, 2, 3]) }
      try EncryptedStore.fold(backend)
      try backend.close()
      let files = SealedFiles(kind, path)
      // These two, and the layouts of two classes.
      let buffers = try files.buffers()
      #expect(buffers.count == 4)
      for (index, buffer) in buffers.enumerated() {
        try files.setBuffer(buffer.key, buffers[(index + 1) % 4].bytes)
      }
      let again = try kind.open(path, readOnly: true)
      for name in ["Other", EncryptedStore.bufferName] {
        let error = #expect(throws: StoreError.self) { try again.namedBuffer(name) }
        #expect(error?.code == .notAuthentic)
      }
      try again.close()
      #expect(
        try kind.check(path).findings.map(\.kind) == Array(repeating: .notAuthentic, count: 4))
    }
  }

  @Test("Two classes whose files have changed names are not read")
  func changedFiles() throws {
    try withStore(.tokyoCabinet) { path in
      let files = SealedFiles(.tokyoCabinet, path)
      let first = path + "/" + (try files.sealedName(of: "SecretDiary"))
      let second = path + "/" + (try files.sealedName(of: "PrivateDoctor"))
      try FileManager.default.moveItem(atPath: first, toPath: path + "/x")
      try FileManager.default.moveItem(atPath: second, toPath: first)
      try FileManager.default.moveItem(atPath: path + "/x", toPath: second)
      let backend = try StoreFormat.tokyoCabinet.open(path, readOnly: true)
      let store = Store(backend: backend)
      let error = #expect(throws: StoreError.self) {
        try store.register(Diary.self, Doctor.self)
      }
      #expect(error?.code == .notAuthentic)
      try backend.close()
    }
  }

  @Test(
    "After a flip of any byte, reads are right or throw; in a closed store each is reported",
    arguments: StoreFormat.allCases, [true, false])
  func flips(_ kind: StoreFormat, isFolded: Bool) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try makeSmall(kind, path, isFolded)
      let expected = try image(kind, path)
      #expect(try kind.check(path).findings == [])
      var reported = 0
      for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
        let url = URL(fileURLWithPath: path + "/" + name)
        let content = try Data(contentsOf: url)
        for offset in offsets(content) {
          try write(content[offset] ^ UInt8(1 << (offset % 8)), at: offset, to: url)
          let isNoticed = try isNoticed(kind, path, expected)
          #expect(isNoticed != nil, "\(name) at \(offset)")
          if isFolded { #expect(isNoticed == true, "\(name) at \(offset)") }
          if isNoticed == true { reported += 1 }
          try write(content[offset], at: offset, to: url)
        }
      }
      #expect(reported > 200)
    }
  }

  /// Whether a change has led to an error or a finding; false when it did no harm, nil when
  /// something else was read and nobody said so.
  private func isNoticed(
    _ kind: StoreFormat, _ path: String, _ expected: StoreImage
  ) throws -> Bool? {
    guard let found = try? image(kind, path) else { return true }
    guard let check = try? kind.check(path) else { return true }
    // Damage to the last save in the log looks like a crash, and is reported as one.
    if !check.isSound || check.tornTailByteCount != nil { return true }
    return found == expected ? false : nil
  }

  /// Returns some offsets of bytes in use, and of some zeros; `./dev crash flip` tries every byte.
  private func offsets(_ content: Data) -> [Int] {
    let bytes = [UInt8](content.prefix(1 << 14))
    return bytes.indices.filter { $0 % (bytes[$0] != 0 ? 3 : 61) == 0 }
  }

  private func write(_ byte: UInt8, at offset: Int, to url: URL) throws {
    let file = try FileHandle(forWritingTo: url)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte]))
    try file.close()
  }

  private func makeSmall(_ kind: StoreFormat, _ path: String, _ isFolded: Bool) throws {
    let backend = try kind.open(path + ".open")
    let table = try backend.table(named: "SecretDiary")
    var metadata = DataBuffer()
    ClassMetadata(lastRowID: 2, classVersion: 0, classID: 0, salt: .init(1, 2), flags: nil)
      .write(to: &metadata)
    try backend.commit {
      $0.insert(1, in: table, metadata.bytes)
      $0.insert(2, in: table, Array("Dear diary".utf8))
      $0.set("List", [4, 5])
    }
    if isFolded { try EncryptedStore.fold(backend) }
    if isFolded { try backend.close() }
    try FileManager.default.copyItem(atPath: path + ".open", toPath: path)
    try backend.close()
  }

  private func image(_ kind: StoreFormat, _ path: String) throws -> StoreImage {
    let backend = try kind.open(path, readOnly: true)
    defer { try? backend.close() }
    return try StoreImage(of: backend)
  }
}
