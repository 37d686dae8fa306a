import Foundation
import StoreFormats
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Random searches, encrypted")
struct EncryptedRandomSearchTests {
  @Test(
    "Searches match a scan of all texts, after crashes too",
    arguments: StoreFormat.allCases)
  func scripts(_ kind: StoreFormat) throws {
    try withTemporaryDirectory { folder in
      var number = 0
      let test = RandomSearchTest(seed: Seeds.current, sessions: 3)
      try test.run(DirectoryLocation(kind, folder + "/0", key: testKey)) { _ in
        // Copied while it is open, as a process leaves it that dies.
        number += 1
        try FileManager.default.copyItem(
          atPath: folder + "/\(number - 1)", toPath: folder + "/\(number)")
        return DirectoryLocation(kind, folder + "/\(number)", key: testKey)
      }
    }
  }
}
