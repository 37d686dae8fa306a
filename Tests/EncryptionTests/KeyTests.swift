import Foundation
import StoreFormats
import StoredObjectsEncryption
import TestFiles
import Testing
import TokyoCabinetBackend

@testable import StoreEngine

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
    #expect(error?.location.path?.hasSuffix("/Store") == true, sourceLocation: sourceLocation)
  }

  @Test("Another passphrase, a key instead of it, and no passphrase are three clear errors")
  func wrongKeys() throws {
    try withStore { path in
      expect(.wrongKey, path, EncryptionKey(passphrase: "Correct horse", cost: .test))
      expect(.wrongKey, path, EncryptionKey(bytes: [UInt8](repeating: 7, count: 32)))
      expect(.encrypted, path, nil)
      try EncryptedStore.expectAll(.tokyoCabinet, path)
    }
  }

  @Test("A key of 32 bytes opens its store")
  func rawKeys() throws {
    let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })
    try withStore(key) { path in
      try EncryptedStore.expectAll(.tokyoCabinet, path, key: key)
      expect(.wrongKey, path, EncryptionKey(bytes: (1...32).map { UInt8($0) }))
      expect(.wrongKey, path, testKey)
    }
  }

  @Test(
    "An empty passphrase, and a key of another size, create and open no store",
    arguments: [
      EncryptionKey(passphrase: ""), EncryptionKey(bytes: []),
      EncryptionKey(bytes: [UInt8](repeating: 1, count: 31)),
      EncryptionKey(bytes: [UInt8](repeating: 1, count: 33)),
    ])
  func unusable(key: EncryptionKey) throws {
    try withStore { path in
      expect(.wrongKey, path, key)
      let error = #expect(throws: StoreError.self) {
        try TokyoCabinetBackend.changeKey(directory: path, from: testKey, to: key)
      }
      #expect(error?.code == .wrongKey)
      try EncryptedStore.expectAll(.tokyoCabinet, path)
      let new = path + "2"
      let refusal = #expect(throws: StoreError.self) {
        try TokyoCabinetBackend(directory: new, key: key).close()
      }
      #expect(refusal?.code == .wrongKey)
    }
  }

  @Test("Passphrases that look the same are the same")
  func normalization() throws {
    try withStore(EncryptionKey(passphrase: "caf\u{E9}", cost: .test)) { path in
      try EncryptedStore.expectAll(
        .tokyoCabinet, path, key: EncryptionKey(passphrase: "cafe\u{301}", cost: .test))
    }
  }

  @Test("Changing the passphrase rewrites the key file only")
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

  @Test("Descriptions have nothing of a key")
  func descriptions() {
    let phrase = "correct horse battery staple"
    var text = ""
    dump(testKey, to: &text)
    text += "\(testKey) \(String(reflecting: testKey)) \([testKey])"
    let raw = EncryptionKey(bytes: [UInt8](repeating: 0xAB, count: 32))
    dump(raw, to: &text)
    text += "\(raw) \(String(reflecting: raw)) \(Mirror(reflecting: raw).children.map(\.value))"
    #expect(!text.contains("horse") && !text.contains("bytes:"))
    #expect(!text.contains("171") && !text.lowercased().contains("ab, ab"))
    #expect(Mirror(reflecting: raw).children.isEmpty)
    #expect(Mirror(reflecting: testKey).children.isEmpty)
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

  @Test("Errors have nothing of a key")
  func errors() throws {
    let wrong = [
      EncryptionKey(passphrase: "incorrect horse", cost: .test),
      EncryptionKey(bytes: Array("incorrect horse battery staples!".utf8)),
    ]
    try withStore { path in
      for key in wrong {
        let error = #expect(throws: StoreError.self) {
          try TokyoCabinetBackend(directory: path, key: key)
        }
        var text = "\(String(describing: error)) \(String(reflecting: error))"
        dump(error, to: &text)
        #expect(text.contains("wrongKey") && !text.contains("horse") && !text.contains("105, 110"))
      }
    }
  }

  /// The cost that a key file asks for, made good with checksums, is taken or refused.
  @Test(
    "A key file with too high costs is refused as damaged before any work",
    arguments: [
      (rounds: 40, blockSize: 8, parallelism: 1), (18, 16, 1), (20, 8, 1), (17, 17, 1), (1, 33, 1),
      (17, 8, 9), (4, 8, 17), (4, 8, .max), (4, 0, 1), (0, 8, 1), (4, 8, 0),
    ] as [(rounds: UInt8, blockSize: UInt32, parallelism: UInt32)])
  func hostileCost(_ cost: (rounds: UInt8, blockSize: UInt32, parallelism: UInt32)) throws {
    try withStore { path in
      let url = URL(fileURLWithPath: path + "/Commit.key")
      var content = try KeyFile.content([UInt8](Data(contentsOf: url)), path: path)
      var fields = DataBuffer()
      fields.write(cost.rounds)
      fields.write(cost.blockSize)
      fields.write(cost.parallelism)
      content.replaceSubrange(1..<10, with: fields.bytes)
      try Data(KeyFile.bytes(content)).write(to: url)
      let error = #expect(throws: StoreError.self) {
        try TokyoCabinetBackend(directory: path, key: testKey)
      }
      #expect(error?.code == .damaged)
    }
  }
}
