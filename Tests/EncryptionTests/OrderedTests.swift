import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Ordered tables, encrypted")
struct EncryptedOrderedTests {
  private let name = OrderedTableName("TitlesOfSecrets", kind: .data)
  private func key(_ number: Int) -> [UInt8] { Array("secret title \(10_000 + number)".utf8) }

  private func fill(_ backend: any StoreBackend, _ numbers: Range<Int>) throws {
    let table = try backend.orderedTable(name)
    var changes = ChangeSet()
    for number in numbers {
      changes.set(key(number), to: [UInt8(truncatingIfNeeded: number)], in: table)
    }
    try backend.commit(changes)
  }

  private func check(_ backend: any StoreBackend, _ count: Int) throws {
    #expect(try backend.orderedTableNames() == [name])
    let table = try backend.orderedTable(name)
    #expect(try backend.keyCount(in: table, KeyRange()) == count)
    var number = 0
    _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { found, value in
      #expect(found.byteCount == key(number).count && value.byteCount == 1)
      number += 1
      return .next
    }
    #expect(number == count)
    #expect(try backend.withValue(of: key(7), in: table) { $0.byteCount } == 1)
  }

  @Test(
    "Keys, values and names are not readable in the log or in files, and survive conversion",
    arguments: StoreFormat.allCases)
  func leaks(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let backend = try kind.open(path)
      try fill(backend, 0..<900)
      try EncryptedStore.fold(backend)
      try fill(backend, 900..<1000)
      try check(backend, 1000)
      try expectNothing(in: directory)
      try backend.close()
      try expectNothing(in: directory)
      let again = try kind.open(path)
      try check(again, 1000)
      try again.close()
      try convert(kind, path, encrypts: false)
      let plain = try kind.open(path, key: nil)
      try check(plain, 1000)
      try plain.close()
      try convert(kind, path, encrypts: true)
      try expectNothing(in: directory)
      #expect(try kind.check(path).findings == [])
    }
  }

  @Test("A page of one table in the file of another is not read")
  func otherFile() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let backend = try StoreFormat.cdb.open(path)
      let other = try backend.orderedTable(OrderedTableName("Other", kind: .data))
      try fill(backend, 0..<10)
      try backend.commit { $0.set(key(7), to: [3], in: other) }
      try EncryptedStore.fold(backend)
      try backend.close()
      let files = try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { $0.hasSuffix(".ordered") }.map { path + "/" + $0 }
      try #require(files.count == 2)
      try FileManager.default.moveItem(atPath: files[0], toPath: path + "/x")
      try FileManager.default.moveItem(atPath: files[1], toPath: files[0])
      try FileManager.default.moveItem(atPath: path + "/x", toPath: files[1])
      let again = try StoreFormat.cdb.open(path)
      let table = try again.orderedTable(name)
      let error = #expect(throws: StoreError.self) {
        try again.withValue(of: key(7), in: table) { _ in }
      }
      #expect(error?.code == .notAuthentic)
      #expect(error?.location.className == "TitlesOfSecrets.ordered")
      try again.close()
    }
  }

  @Test(
    "A salvage copies keys from files and log, still sealed, except damaged and forged ones",
    arguments: StoreFormat.allCases)
  func salvage(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let backend = try kind.open(path)
      try fill(backend, 0..<900)
      try EncryptedStore.fold(backend)
      try fill(backend, 900..<1000)
      // Copied while it is open: the last save is in the log only.
      try FileManager.default.copyItem(atPath: path, toPath: directory + "/Killed")
      try backend.close()

      let report = try kind.salvage(directory + "/Killed", to: directory + "/Whole")
      #expect(report.losses.isEmpty)
      #expect(report.orderedTables == [.init(name: name, keyCount: 1000)])
      let whole = try kind.open(directory + "/Whole")
      try check(whole, 1000)
      try whole.close()
      #expect(try kind.check(directory + "/Whole").findings == [])
      try expectNothing(in: directory)

      try spoilPage(in: directory + "/Killed")
      let losses = try kind.salvage(directory + "/Killed", to: directory + "/Part").losses
      #expect(losses.map(\.location.className) == [name.fileName])
      let part = try kind.open(directory + "/Part")
      let count = try part.keyCount(in: part.orderedTable(name), KeyRange())
      #expect(count > 200 && count < 1000)
      try part.close()
      let error = #expect(throws: StoreError.self) {
        try kind.salvage(directory + "/Killed", to: directory + "/None", key: otherKey)
      }
      #expect(error?.code == .wrongKey)
    }
  }

  private var otherKey: EncryptionKey { EncryptionKey(passphrase: "another", cost: .test) }

  /// Changes a page and its checksum with it, as one does who wants to deceive.
  private func spoilPage(in path: String) throws {
    let file = try #require(
      FileManager.default.contentsOfDirectory(atPath: path).first { $0.hasSuffix(".ordered") })
    let url = URL(filePath: path + "/" + file)
    var bytes = [UInt8](try Data(contentsOf: url))
    bytes[100] ^= 1
    let size = (0..<4).reduce(0) { $0 | Int(bytes[8 + $1]) << (8 * $1) }
    let checksum = OrderedFileFormat.checksum(Array(bytes[16..<8 + size]).span, at: 8)
    for index in 0..<4 {
      bytes[12 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index))
    }
    try Data(bytes).write(to: url)
  }

  private func expectNothing(
    in directory: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
      let content = FileManager.default.contents(atPath: directory + "/" + name) ?? Data()
      for secret in ["secret", "title", "TitlesOfSecrets"] {
        #expect(
          content.range(of: Data(secret.utf8)) == nil && !name.contains(secret),
          sourceLocation: sourceLocation)
      }
    }
  }

  private func convert(_ kind: StoreFormat, _ path: String, encrypts: Bool) throws {
    try kind.convert(path, from: encrypts ? nil : testKey, to: encrypts ? testKey : nil)
  }
}
