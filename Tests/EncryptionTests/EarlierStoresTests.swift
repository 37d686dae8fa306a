import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Stores from before files had marks")
struct EarlierStoresTests {
  typealias Earlier = EarlierStores.Earlier

  private func expectContent(_ backend: any StoreBackend, isFolded: Bool) throws {
    let store = Store(backend: backend)
    try store.register(Diary.self, Doctor.self)
    let texts = try store.allObjects(of: Diary.self).map(\.text)
    #expect(texts == ["Changed", "Changed"] + EncryptedStore.texts[2..<20])
    #expect(try store.allObjects(of: Doctor.self).map(\.name) == [EncryptedStore.names[0]])
    var buffer = try #require(try store.buffer(named: EncryptedStore.bufferName))
    #expect(try buffer.readString() == EncryptedStore.bufferText)
    let numbers = try backend.orderedTable(OrderedTableName("numbers", kind: .data))
    #expect(try backend.keyCount(in: numbers, KeyRange()) == 21)
    #expect(try store.check().findings.isEmpty)
  }

  private func manifestVersion(_ directory: String) throws -> UInt8 {
    try #require(try Data(contentsOf: URL(filePath: directory + "/Commit.manifest"))[8...].first)
  }

  @Test(
    "They open, pass a check, are folded, and have marks from then on",
    arguments: EarlierStores.unmarked)
  func opens(earlier: Earlier) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try earlier.write(to: path)
      let (kind, key) = (earlier.kind, earlier.key)
      #expect(try kind.check(path, key: key).findings == [])
      let reader = try kind.open(path, key: key, readOnly: true)
      try expectContent(reader, isFolded: false)
      try reader.close()
      #expect(try manifestVersion(path) == 1)

      let writer = try kind.open(path, key: key)
      try expectContent(writer, isFolded: false)
      try EncryptedStore.fold(writer)
      try expectContent(writer, isFolded: true)
      try writer.close()
      #expect(try manifestVersion(path) == 3)
      #expect(try kind.check(path, key: key).findings == [])
      let again = try kind.open(path, key: key)
      try expectContent(again, isFolded: true)
      // The saves that its log had when it came.
      #expect(again.lastCommitNumber == 2)
      try again.close()
    }
  }

  @Test(
    "Stores from before commit numbers open, pass a check, and count their commits from then on",
    arguments: EarlierStores.unnumbered)
  func unnumbered(earlier: Earlier) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try earlier.write(to: path)
      let (kind, key) = (earlier.kind, earlier.key)
      #expect(try kind.check(path, key: key).findings == [])
      #expect(try manifestVersion(path) == 2)
      for number in 0..<UInt64(3) {
        let backend = try kind.open(path, key: key)
        try expectContent(backend, isFolded: true)
        #expect(backend.lastCommitNumber == number)
        try backend.commit(ChangeSet(bytes: [1], names: [.init(name: "More", range: 0..<1)]))
        if number == 1 { try EncryptedStore.fold(backend) }
        try backend.close()
      }
      #expect(try manifestVersion(path) == 3)
      #expect(try kind.check(path, key: key).findings == [])
    }
  }

  @Test("They can be salvaged", arguments: EarlierStores.unmarked)
  func salvage(earlier: Earlier) throws {
    try withTemporaryDirectory { directory in
      try earlier.write(to: directory + "/Store")
      let target = directory + "/Salvaged"
      let report = try earlier.kind.salvage(directory + "/Store", to: target, key: earlier.key)
      #expect(report.losses == [])
      let backend = try earlier.kind.open(target, key: earlier.key)
      try expectContent(backend, isFolded: true)
      try backend.close()
    }
  }
}
