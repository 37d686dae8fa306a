import CDB
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("The persistent dictionary compared with a dictionary in memory")
struct StoreModelTests {
  @Test(
    "Sixteen rounds of random changes, with saves, reopenings and discards, give the same content",
    arguments: CDBFormat.allCases)
  func randomChanges(format: CDBFormat) throws {
    var random = Seeds.generator(for: "random changes of a \(format) store")
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      var shadow: [String: CDBValue] = [:]
      var saved = shadow
      var store = Self.store(path, format)
      try store.open()
      for _ in 0..<16 {
        for _ in 0..<Int.random(in: 0...200, using: &random) {
          let key = "key \(Int.random(in: 0..<150, using: &random))"
          let value = Self.value(&random)
          store[key] = value
          shadow[key] = value
        }
        #expect(try store.allKeysAndValues() == shadow)
        #expect(Set(store.keys) == Set(shadow.keys))
        #expect(Array(store.keys).count == shadow.count)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          store.discardChanges()
          shadow = saved
        case 1: store.emptyCache()
        case 2:
          try store.save()
          saved = shadow
        default:
          try store.close()
          store = Self.store(path, format)
          try store.open()
          saved = shadow
        }
        #expect(store.failure == nil)
      }
      try store.close()
      try CDBReader(path, format: format).verify()
    }
  }

  private static func store(_ path: String, _ format: CDBFormat) -> CDBStringKeyStore {
    CDBStore(path, keys: CDBStringKeys(), values: CDBValues(), format: format)
  }

  private static func value(_ random: inout SeededGenerator) -> CDBValue? {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: nil
    case 1: .integer(.random(in: .min ... .max, using: &random))
    case 2: .string(String(repeating: "é", count: .random(in: 0...60, using: &random)))
    case 3: .number(.random(in: -1...1, using: &random))
    default: .data(Data(repeating: 7, count: .random(in: 0...9_000, using: &random)))
    }
  }

  @Test("A tree of files, stored by their paths, is read back byte by byte")
  func treeOfFiles() throws {
    let tree = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let paths = FileManager.default.subpaths(atPath: tree.path) ?? []
    let files = paths.filter { $0.hasSuffix(".swift") }
    #expect(files.count > 10)
    try withTemporaryDirectory { directory in
      let store = CDBStore(directory + "/a.cdb", keys: CDBStringKeys(), values: CDBDataValues())
      try store.open()
      for file in files { store[file] = try Data(contentsOf: tree.appending(path: file)) }
      try store.close()
      try store.open()
      #expect(Set(store.keys) == Set(files))
      for file in files {
        let content = try Data(contentsOf: tree.appending(path: file))
        #expect(try store.value(forKey: file) == content, "\(file)")
      }
    }
  }
}
