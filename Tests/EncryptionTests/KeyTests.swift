import Foundation
import StoredObjectsCore
import StoredObjectsEncryption
import Testing
import TokyoCabinetBackend

@Suite("Keys")
struct KeyTests {
  private func withStore(
    _ key: EncryptionKey = testKey, _ body: (String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      try EncryptedStore.make(.tokyoCabinet, directory + "/Store", key: key)
      try body(directory + "/Store")
    }
  }

  private func expect(
    _ code: StoreError.Code, _ path: String, _ key: EncryptionKey?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try TokyoCabinetBackend(directory: path, key: key).close()
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.place.path?.hasSuffix("/Store") == true, sourceLocation: sourceLocation)
  }

  @Test("Another passphrase, a key instead, and none are three clear errors")
  func wrongKeys() throws {
    try withStore { path in
      expect(.wrongKey, path, EncryptionKey(passphrase: "Correct horse", cost: .test))
      expect(.wrongKey, path, EncryptionKey(bytes: [UInt8](repeating: 7, count: 32)))
      expect(.encrypted, path, nil)
      try EncryptedStore.expectAll(.tokyoCabinet, path)
    }
  }

  @Test("A key of 32 bytes opens what it has made")
  func rawKeys() throws {
    let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })
    try withStore(key) { path in
      try EncryptedStore.expectAll(.tokyoCabinet, path, key: key)
      expect(.wrongKey, path, EncryptionKey(bytes: (1...32).map { UInt8($0) }))
      expect(.wrongKey, path, testKey)
    }
  }

  @Test("Passphrases that look the same are the same")
  func normalization() throws {
    try withStore(EncryptionKey(passphrase: "caf\u{E9}", cost: .test)) { path in
      try EncryptedStore.expectAll(
        .tokyoCabinet, path, key: EncryptionKey(passphrase: "cafe\u{301}", cost: .test))
    }
  }

  @Test("Changing the passphrase writes the key file only")
  func change() throws {
    let new = EncryptionKey(passphrase: "another", cost: .test)
    try withStore { path in
      let before = try contents(path)
      try TokyoCabinetBackend.changeKey(directory: path, from: testKey, to: new)
      let after = try contents(path)
      #expect(before.filter { after[$0.key] != $0.value }.map(\.key) == ["Commit.key"])
      #expect(after.keys.sorted() == before.keys.sorted())
      expect(.wrongKey, path, testKey)
      try EncryptedStore.expectAll(.tokyoCabinet, path, key: new)
      #expect(throws: StoreError.self) {
        try TokyoCabinetBackend.changeKey(directory: path, from: testKey, to: new)
      }
    }
  }

  private func contents(_ path: String) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, FileManager.default.contents(atPath: path + "/" + $0) ?? Data())
      })
  }

  @Test("Nothing of a key is in its descriptions")
  func descriptions() {
    let phrase = "correct horse battery staple"
    var text = ""
    dump(testKey, to: &text)
    text += "\(testKey) \(String(reflecting: testKey)) \([testKey])"
    #expect(!text.contains("horse") && !text.contains("bytes:"))
    #expect(testKey.description == "EncryptionKey(passphrase)")
    #expect(!phrase.isEmpty)
  }

  @Test("Two stores with one passphrase have nothing in common")
  func stores() throws {
    try withStore { first in
      try withStore { second in
        let names = try [first, second].map {
          Set(try FileManager.default.contentsOfDirectory(atPath: $0))
        }
        #expect(
          names[0].intersection(names[1])
            == ["Commit.key", "Commit.log", "Commit.manifest", "NamedBuffers"])
        let keys = try [first, second].map {
          try Data(contentsOf: URL(fileURLWithPath: $0 + "/Commit.key"))
        }
        #expect(keys[0] != keys[1])
      }
    }
  }

  @Test("A key file that would cost hours to try is refused")
  func hostileCost() throws {
    try withStore { path in
      let url = URL(fileURLWithPath: path + "/Commit.key")
      var file = try Data(contentsOf: url)
      // The logarithm of N stands behind magic, version, length and kind.
      for copy in [0, 4096] { file[copy + 17] = 40 }
      try file.write(to: url)
      expectDamaged(path)
    }
  }

  private func expectDamaged(_ path: String) {
    let error = #expect(throws: StoreError.self) {
      try TokyoCabinetBackend(directory: path, key: testKey)
    }
    #expect(error?.code == .damaged)
  }
}
