import CDBBackend
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinetBackend

@Suite("Readable bytes on the disk")
struct LeakTests {
  @Test(
    "No file and no file name of an encrypted store has readable content, however it was written",
    arguments: StoreFormat.allCases)
  func nothingIsReadable(_ kind: StoreFormat) throws {
    try EncryptedStore.use(kind) { directory, path in
      #expect(try EncryptedStore.leaks(in: directory) == [])
      let backend = try kind.open(path)
      try EncryptedStore.fold(backend)
      _ = try (backend as? any FoldingBackend)?.compact { _ in }
      #expect(try EncryptedStore.leaks(in: directory) == [])
      try backend.close()
      #expect(try EncryptedStore.leaks(in: directory) == [])
      #expect(try kind.check(path).findings == [])
      try EncryptedStore.expectAll(kind, path)
    }
  }

  @Test(
    "The same search finds all content of a store without encryption",
    arguments: StoreFormat.allCases)
  func searchWorks(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      try EncryptedStore.make(kind, directory + "/Store", key: nil)
      #expect(try EncryptedStore.leaks(in: directory) == Set(EncryptedStore.secrets))
    }
  }

  @Test(
    "The length of a name is visible only in steps of 16 bytes", arguments: StoreFormat.allCases)
  func lengths(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/Store")
      let names = ["A", "ABCDEFGHIJKLMN", "ABCDEFGHIJKLMNO", String(repeating: "A", count: 30)]
      for name in names + [String(repeating: "A", count: 31)] {
        let table = try backend.table(named: name)
        try backend.commit { $0.insert(2, in: table, [1]) }
        try backend.commit { $0.set("Buffer " + name, [1]) }
      }
      try backend.close()
      let files = SealedFiles(kind, directory + "/Store")
      let lengths = try names.map { try files.sealedName(of: $0).count }
      #expect(lengths[0] == lengths[1] && lengths[2] == lengths[3] && lengths[0] < lengths[2])
      #expect(Set(try files.buffers().map(\.key.count)).count == 3)
    }
  }

  @Test("Backups and salvaged stores are encrypted, and open with the same key")
  func copies() throws {
    try withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/Store", directory + "/Copy")
      try EncryptedStore.make(.tokyoCabinet, path)
      let backend = try TokyoCabinetBackend(directory: path, key: testKey)
      try backend.backup(to: copy)
      try backend.close()
      try EncryptedStore.expectAll(.tokyoCabinet, copy)
      #expect(try EncryptedStore.leaks(in: directory) == [])
    }
  }

  @Test(
    "A salvage copies everything authentic, still sealed, and lists the rest",
    arguments: StoreFormat.allCases)
  func salvage(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/Store", directory + "/Copy")
      try EncryptedStore.make(kind, path)
      let whole = try kind.salvage(path, to: copy)
      #expect(whole.losses == [])
      #expect(whole.classes.map(\.name) == ["PrivateDoctor", "SecretDiary"])
      try EncryptedStore.expectAll(kind, copy)
      #expect(try EncryptedStore.leaks(in: directory) == [])
      #expect(throws: StoreError.self) {
        try TokyoCabinetBackend.salvage(from: path, to: directory + "/None")
      }

      try SealedFiles(kind, path).copyRecord(fromRow: 2, to: 3, inTableOf: "SecretDiary")
      let rest = try kind.salvage(path, to: directory + "/Rest")
      // The count of the file says, too, that one is missing.
      #expect(rest.losses.map(\.kind).filter { $0 != .countMismatch } == [.notAuthentic])
      #expect(rest.losses.first?.location.className == "SecretDiary")
      #expect(rest.losses.first?.location.rowID == 3)
      #expect(rest.classes.map(\.objectCount) == [2, EncryptedStore.texts.count - 1])
    }
  }
}
