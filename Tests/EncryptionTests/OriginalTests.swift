import BNRPersistenceEncryption
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinetBackend

@Suite("Stores that BNRPersistence encrypted")
struct OriginalTests {
  /// Row 5 of a class with the salt 11223344 55667788, made by Python's `cryptography` after the
  /// original's source: version 0, "Hello", 298.
  private let record: [UInt8] = [
    0x9B, 0xE8, 0xA6, 0x24, 0x1F, 0x14, 0xEA, 0x40, 0x34, 0x3C, 0x2B, 0x27,
    0x68, 0xEE, 0xBB, 0x67, 0xE3, 0x9C, 0x86, 0x2A, 0x3A, 0xD7, 0x9A, 0xE6,
    0xCC, 0xDE, 0xD9, 0x74, 0x93, 0x83, 0xE6, 0x30,
  ]
  private let plain: [UInt8] = [0, 5, 0, 0, 0] + Array("Hello".utf8) + [0x2A, 1, 0, 0]
  /// The metadata row of the original: 14 bytes.
  private let metadata: [UInt8] = [
    5, 0, 0, 0, 1, 0, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55,
  ]
  private let passphrase = "geheim ü"

  private func fill(_ backend: any StoreBackend) throws {
    let songs = try backend.table(named: "Song")
    try backend.commit {
      $0.insert(1, in: songs, metadata)
      $0.insert(5, in: songs, record)
      $0.set("Favorite", [5, 0, 0, 0])
    }
  }

  @Test("Records are decrypted; metadata and named buffers are plain")
  func reads() throws {
    let base = try MemoryBackend()
    try fill(base)
    let backend = BNREncryptedBackend(base, passphrase: passphrase)
    let songs = try backend.table(named: "Song")
    #expect(try backend.record(5, in: songs) == plain)
    #expect(try backend.records(in: songs) == [1: metadata, 5: plain])
    #expect(try backend.namedBuffer("Favorite") == [5, 0, 0, 0])
    let error = #expect(throws: StoreError.self) { try backend.commit { $0.set("x", [1]) } }
    #expect(error?.code == .readOnly)
  }

  @Test("A wrong passphrase, another row, and a changed record are errors that name the row")
  func refusals() throws {
    let base = try MemoryBackend()
    try fill(base)
    let songs = try base.table(named: "Song")
    try base.commit {
      $0.insert(6, in: songs, record)
      $0.insert(7, in: songs, [1, 2, 3])
    }
    let backend = BNREncryptedBackend(base, passphrase: passphrase)
    for (backend, row) in [
      (backend, 6), (backend, 7), (BNREncryptedBackend(base, passphrase: "x"), 5),
    ] as [(BNREncryptedBackend, UInt32)] {
      let error = #expect(throws: StoreError.self) { try backend.record(row, in: songs) }
      #expect(error?.code == .wrongKey)
      #expect(error?.location.rowID == row)
    }
    let lenient = BNREncryptedBackend(base, passphrase: passphrase, allowsPlainRecords: true)
    #expect(try lenient.record(7, in: songs) == [1, 2, 3])
    #expect(try lenient.record(5, in: songs) == plain)
  }

  @Test("A store is migrated in place, sealed with a new key or decrypted")
  func replaces() throws {
    for key in [testKey, nil] {
      try withTemporaryDirectory { directory in
        let path = directory + "/Store"
        let old = try TokyoCabinetBackend(directory: path)
        try fill(old)
        try old.close()
        #expect(throws: StoreError.self) {
          try BNREncryption.replace(directory: path, passphrase: "wrong", by: key)
        }
        try BNREncryption.replace(directory: path, passphrase: passphrase, by: key)
        let new = try TokyoCabinetBackend(directory: path, key: key)
        #expect(try new.records(in: new.table(named: "Song")) == [1: metadata, 5: plain])
        #expect(try new.namedBuffer("Favorite") == [5, 0, 0, 0])
        try new.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["Store"])
      }
    }
  }
}
