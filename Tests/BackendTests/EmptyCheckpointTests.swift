import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Checkpoints without a file")
struct EmptyCheckpointTests {
  @Test(
    "A process that ends between the record and the manifest leaves a store that always opens",
    arguments: TestedBackend.onDisk)
  func interrupted(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let isFailing = SharedLock(false)
      let files = TestedFileSystem { _, path in
        isFailing.withLock { $0 } && path.hasSuffix("manifest") ? ENOSPC : nil
      }
      let backend = try kind.open(path, in: files)
      // A buffer that is set and removed before a fold needs no file.
      try backend.commit { $0.set("name", [1]) }
      try backend.commit { $0.set("name", nil) }
      isFailing.withLock { $0 = true }
      #expect(throws: StoreError.self) { try backend.checkpoint() }
      try? backend.close()
      for number in UInt8(0)..<4 {
        let again = try kind.open(path)
        #expect(try again.namedBuffer("name") == (number < 3 ? nil : [2]))
        if number == 2 { try again.commit { $0.set("name", [2]) } }
        try again.close()
      }
    }
  }
}
