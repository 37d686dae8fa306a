import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
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

/// The code of FixtureStores.swift, which is compiled, and not run.
private enum FixtureCommentExample {
  final class Track: StoredObject {}
  final class Artist: StoredObject {}

  static func check(_ migrations: [Migration]) throws {
    let names = try FixtureStores.open(
      in: "Tests/Fixtures", backend: { try TokyoCabinetBackend(directory: $0) },
      migrations: migrations, registering: [Track.self, Artist.self]
    ) { name, store in
      let count = try store.count(of: Track.self)
      #expect(count == 3)
    }
    #expect(names == ["1.0", "1.1", "2.0"])
  }
}

/// The code of FailingBackend.swift, which is compiled, and not run.
private enum FailingExample {
  static func fail(_ store: Store) throws {
    let backend = FailingBackend(try MemoryBackend())
    backend.failCommits(after: 1)  // one more goes through, the next one throws
    #expect(throws: StoreError.self) { try store.saveChanges() }
  }
}

/// The code of BackendConformance.swift, with a backend that loses everything.
@Suite("The conformance test of a comment", .disabled("It is only compiled."))
private struct ConformanceCommentExample {
  struct ScratchDirectory: BackendLocation {
    let path: String
    func open(readOnly: Bool) throws -> any StoreBackend {
      try MyBackend(directory: path, isReadOnly: readOnly)
    }
  }

  @Test("The backend keeps its promises", arguments: BackendConformance.checks)
  func conformance(_ check: BackendConformance.Check) throws {
    try withTemporaryDirectory { try check.run(ScratchDirectory(path: $0)) }
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
private func MyBackend(directory: String, isReadOnly: Bool) throws -> any StoreBackend {
  try MemoryBackend(isReadOnly: isReadOnly)
}
