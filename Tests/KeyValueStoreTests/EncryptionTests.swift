import Foundation
import KeyValueStore
import StoredObjectsCore
import StoredObjectsEncryption
import TestedBackends
import Testing

@Suite("Encrypted stores")
struct EncryptedStoreTests {
  private static let key = EncryptionKey(passphrase: "correct horse", cost: .test)
  private static let tables = ["diary of Ada", "../medicines", "日記"]
  private static let keys = ["Dear diary", "%secret%", "上を向いて"]
  private static let values = ["my deepest thought", "naïve façade", "歩こう歩こう歩こう"]

  /// All that must not be found.
  private static var secrets: [String] {
    tables + keys + values + ["KeyValueItems", "KeyValueTables"]
  }

  @Test(
    "No file and no file name has readable table names, keys or values",
    arguments: [false, true])
  func leaks(_ isEncrypted: Bool) throws {
    try TestedBackend.tokyoCabinet.withLocation { location in
      let store = try open(location.path, isEncrypted ? Self.key : nil)
      for name in Self.tables {
        let table = try store.createTable(name)
        for (key, value) in zip(Self.keys, Self.values) {
          try table.put([value: [value]], for: key, expiresAfter: .seconds(1000))
        }
      }
      // In the log first, and then in files.
      var found = try Self.found(in: location.path)
      let backend = try #require(store.backend as? TokyoCabinetBackend)
      try backend.checkpoint()
      try store.table(Self.tables[0]).put(Self.values[0], for: "again " + Self.keys[0])
      found.formUnion(try Self.found(in: location.path))
      try store.close()
      found.formUnion(try Self.found(in: location.path))
      // Without a key all of it is there: so the search would have found it.
      #expect(found == (isEncrypted ? [] : Set(Self.secrets)))
    }
  }

  @Test("A store opens with its own key only, and explains other keys")
  func keys() throws {
    try TestedBackend.tokyoCabinet.withLocation { location in
      let other = EncryptionKey(passphrase: "another", cost: .test)
      let store = try open(location.path, Self.key)
      try store.createTable("a").put(1, for: "x")
      try store.close()
      #expect(code { _ = try open(location.path, other) } == "wrongKey")
      #expect(code { _ = try open(location.path, nil) } == "encrypted")
      let again = try open(location.path, Self.key)
      #expect(try again.table("a").get("x", as: Int.self) == 1)
      try again.close()
      let plain = location.path + "-plain"
      try open(plain, nil).close()
      #expect(code { _ = try open(plain, Self.key) } == "notEncrypted")
      try TokyoCabinetBackend.encrypt(directory: plain, key: other)
      try TokyoCabinetBackend.changeKey(directory: plain, from: other, to: Self.key)
      try open(plain, Self.key).close()
    }
  }

  private func open(_ path: String, _ key: EncryptionKey?) throws -> KeyValueStore {
    try KeyValueStore(directory: path, key: key)
  }

  /// The secrets that are readable in the files of a directory, or their names.
  private static func found(in directory: String) throws -> Set<String> {
    var found: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let content = FileManager.default.contents(atPath: directory + "/" + name) ?? Data()
      for secret in secrets
      where name.contains(secret) || content.range(of: Data(secret.utf8)) != nil {
        found.insert(secret)
      }
    }
    return found
  }
}
