import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// The code of WritingABackend.md for a backend in memory.
@Suite("The conformance test of the guide")
struct ConformanceExample {
  private typealias MyLocation = MemoryLocation

  @Test(arguments: BackendConformance.checks)
  func conforms(_ check: BackendConformance.Check) throws {
    try check.run(MyLocation())
  }
}

/// The code of MigratingAStore.md, which is compiled, and not run.
private enum FixtureExample {
  final class Song: StoredObject {}
  final class Artist: StoredObject {}
  final class Mixtape: StoredObject {}

  static func check(_ migrations: [Migration]) throws {
    let names = try FixtureStores.open(
      in: "Tests/Fixtures", backend: { try TokyoCabinetBackend(directory: $0) },
      migrations: migrations, registering: [Song.self, Artist.self, Mixtape.self]
    ) { name, store in
      let count = try store.count(of: Song.self)
      #expect(count == 10)
    }
    _ = names
  }
}
