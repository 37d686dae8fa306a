import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Names of buffers with the same hash")
struct CollidingNamesTests {
  /// The hash of Tokyo Cabinet multiplies by 37 for each byte: "Bo" and "CJ" leave it the same.
  private static func names(_ count: Int) -> [String] {
    (0..<count).map { number in
      (0..<16).map { number >> $0 & 1 == 0 ? "Bo" : "CJ" }.joined()
    }
  }

  @Test("Writing, folding and reading them takes time in proportion to their number")
  func names() throws {
    // Sorted, they would come one below the other.
    let names = Self.names(16_000).sorted()
    let growth = try timeGrowth(upTo: names.count) { count in
      try TestedBackend.tokyoCabinet.withLocation { location in
        let backend = try location.open()
        let store = Store(backend: backend)
        for name in names.prefix(count) { try store.setBuffer(named: name) { $0.write(name) } }
        try store.saveChanges()
        try backend.close()
        let saved = Store(backend: try location.open())
        for name in names.prefix(count) {
          var buffer = try #require(try saved.buffer(named: name))
          #expect(try buffer.readString() == name)
        }
        try saved.backend.close()
      }
    }
    #expect(growth < 9)
  }
}
