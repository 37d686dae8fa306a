#if DEBUG
  import Files
  import Foundation
  import StoredObjectsCore
  import StoredObjectsTestSupport
  import TestFiles
  import TestedBackends
  import Testing

  @Suite("A checkpoint that makes no file")
  struct EmptyCheckpointTests {
    @Test(
      "A process that ends between its record and the manifest leaves a store that opens, ever again",
      arguments: TestedBackend.onDisk)
    func interrupted(_ kind: TestedBackend) throws {
      try withTemporaryDirectory { directory in
        let path = directory + "/Store"
        let backend = try kind.open(path)
        // What comes and goes before it is folded needs no file.
        try backend.commit { $0.set("name", [1]) }
        try backend.commit { $0.set("name", nil) }
        PlannedFailures.planning(below: path) { _, path in
          path.hasSuffix("manifest") ? ENOSPC : nil
        } _: {
          #expect(throws: StoreError.self) { try backend.checkpoint() }
          try? backend.close()
        }
        for number in UInt8(0)..<4 {
          let again = try kind.open(path)
          #expect(try again.namedBuffer("name") == (number < 3 ? nil : [2]))
          if number == 2 { try again.commit { $0.set("name", [2]) } }
          try again.close()
        }
      }
    }
  }
#endif
