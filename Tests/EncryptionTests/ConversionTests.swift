import CDBBackend
import Foundation
import StoreFormats
import StoredObjectsEncryption
import TestFiles
import Testing
import TokyoCabinetBackend

@testable import StoreEngine

@Suite("Encrypting and decrypting in place")
struct ConversionTests {
  @Test("A store is encrypted and decrypted in place", arguments: StoreFormat.allCases)
  func thereAndBack(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try EncryptedStore.make(kind, path, key: nil)
      try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: path)
      try kind.convert(path, from: nil, to: testKey)
      #expect(try EncryptedStore.leaks(in: directory) == [])
      #expect(try kind.check(path).findings == [])
      try EncryptedStore.expectAll(kind, path)
      try kind.convert(path, from: testKey, to: nil)
      try EncryptedStore.expectAll(kind, path, key: nil)
      #expect(try kind.check(path, key: nil).findings == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["Store"])
      #expect(!FileManager.default.fileExists(atPath: path + "/.converting"))
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(mode as? Int == 0o750)
    }
  }

  @Test("Commit numbers continue through both", arguments: StoreFormat.allCases)
  func numbers(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let change = ChangeSet(bytes: [1], names: [.init(name: "Name", range: 0..<1)])
      let backend = try kind.open(path, key: nil)
      // Fewer than copying them takes.
      var first = ChangeSet(bytes: [1])
      for name in ["Song", "Playlist", "Artist"] {
        let record = ChangeSet.RecordChange(kind: .insert, rowID: 2, range: 0..<1)
        first.tables.append(.init(table: try backend.table(named: name), records: [record]))
      }
      try backend.commit(first, CommitRequest(author: "Anna"))
      try backend.close()
      for (number, isEncrypting) in zip(UInt64(1)..., [true, false]) {
        let (old, new) = isEncrypting ? (nil, testKey) : (testKey, nil)
        try kind.convert(path, from: old, to: new)
        let backend = try kind.open(path, key: new)
        #expect(backend.lastCommitNumber == number)
        let commit = try backend.commit(change, CommitRequest())
        #expect(commit?.number == number + 1)
        try backend.close()
      }
    }
  }

  @Test("Files that are not a part of the store are not lost: the conversion is refused")
  func strangers() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try EncryptedStore.make(.cdb, path, key: nil)
      try Data([1]).write(to: URL(fileURLWithPath: path + "/notes.txt"))
      let error = #expect(throws: StoreError.self) {
        try CDBBackend.encrypt(directory: path, key: testKey)
      }
      #expect(error?.message.contains("notes.txt") == true)
      try FileManager.default.removeItem(atPath: path + "/notes.txt")
      try FileManager.default.createDirectory(
        atPath: path + ".converting/mine", withIntermediateDirectories: true)
      #expect(throws: StoreError.self) {
        try CDBBackend.encrypt(directory: path, key: testKey)
      }
      #expect(FileManager.default.fileExists(atPath: path + ".converting/mine"))
      try EncryptedStore.expectAll(.cdb, path, key: nil)
    }
  }

  @Test("A wrong key changes nothing, and an encrypted store is not encrypted again")
  func wrongKey() throws {
    try EncryptedStore.use(.cdb) { _, path in
      let other = EncryptionKey(passphrase: "other", cost: .test)
      let conversions: [() throws -> Void] = [
        { try CDBBackend.encrypt(directory: path, key: other) },
        { try CDBBackend.decrypt(directory: path, key: other) },
      ]
      for convert in conversions {
        let error = #expect(throws: StoreError.self) { try convert() }
        #expect(error?.code == .wrongKey)
      }
      try CDBBackend.encrypt(directory: path, key: testKey)
      try EncryptedStore.expectAll(.cdb, path)
    }
  }

  @Test("A store that another program has open is in use")
  func inUse() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try EncryptedStore.make(.cdb, path, key: nil)
      let backend = try CDBBackend(directory: path)
      let error = #expect(throws: StoreError.self) {
        try CDBBackend.encrypt(directory: path, key: testKey)
      }
      #expect(error?.code == .inUse)
      try backend.close()
    }
  }
}

extension StoreFormat {
  /// Converts a store in place.
  func convert(_ path: String, from old: EncryptionKey?, to new: EncryptionKey?) throws {
    if self == .tokyoCabinet {
      try StoreConversion<TokyoCabinetFormat>(path, from: old, to: new).run { _ in }
    } else {
      try StoreConversion<CDBClassFormat>(path, from: old, to: new).run { _ in }
    }
  }
}
