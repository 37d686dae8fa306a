import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Rehearsed migrations, and fixtures of shipped layouts")
struct RehearsalTests {
  @Test(
    "A rehearsal reports the changes and leaves the store alone", arguments: TestedBackend.onDisk)
  func rehearsal(backend kind: TestedBackend) throws {
    try withTemporaryDirectory { root in
      let directory = root + "/store"
      let old = try kind.open(directory)
      try MigrationTests.makeOld(old)
      try old.close()
      let before = try filesBelow(directory)
      let backend = try kind.open(directory, readOnly: true)
      let report = try backend.rehearse(
        After.migrations(), registering: After.classes, key: kind.key)
      try backend.close()
      #expect(try filesBelow(directory) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["store"])
      #expect(report.steps == After.migrations().map(\.name))
      #expect(report.classes.map(\.name) == ["Track", "Genre", "Artist"])
      #expect(report.classes.map(\.formerName) == ["Song", nil, nil])
      #expect(report.classes.map(\.isRetired) == [false, true, false])
      #expect(report.classes.map(\.insertedCount) == [0, 0, 3])
      #expect(report.classes.map(\.updatedCount) == [10, 0, 0])
      #expect(report.classes.map(\.deletedCount) == [0, 2, 0])
      #expect(
        report.classes[0].examples[0] == """
          updated Track/2  artist: Artist/2, new, genreName: "folk", new, visits: 2, new, \
          artistName: "artist 0", gone, genre: Genre/2, gone
          """)
      #expect(
        report.classes[1].examples == [
          #"deleted Genre/2  name: "folk", rank: 4, note: "n""#,
          #"deleted Genre/3  name: "jazz", rank: 4, note: nil"#,
        ])
      #expect(report.classes[2].examples[0] == #"inserted Artist/2  name: "artist 0", visits: 4"#)
      #expect(report.description.contains("Track, before Song: 0 inserted, 10 updated, 0 deleted"))
    }
  }

  @Test("A rehearsal that fails removes its copy")
  func failure() throws {
    struct Stop: Error {}
    try withTemporaryDirectory { root in
      let backend = try TestedBackend.tokyoCabinet.open(root + "/store")
      try MigrationTests.makeOld(backend)
      #expect(throws: Stop.self) {
        try backend.rehearse([Migration("stop") { _ in throw Stop() }], registering: [])
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["store"])
      #expect(try backend.rehearse([], registering: []).classes.isEmpty)
      try backend.close()
    }
  }

  @Test("Fixtures are copied, migrated, checked, and opened again")
  func fixtures() throws {
    let kind = TestedBackend.tokyoCabinet
    try withTemporaryDirectory { root in
      for (name, count) in [("1.0", 4), ("1.1", 10)] {
        let backend = try kind.open("\(root)/made-\(name)")
        try MigrationTests.makeOld(backend, count: count)
        try backend.backup(to: "\(root)/fixtures/\(name)") { _ in }
        try backend.close()
      }
      let before = try filesBelow(root + "/fixtures/1.0")
      let names = try FixtureStores.open(
        in: root + "/fixtures", backend: { try kind.open($0) }, migrations: After.migrations(),
        registering: After.classes
      ) { name, store in
        try MigrationTests.expectNew(store, count: name == "1.0" ? 4 : 10)
      }
      #expect(names == ["1.0", "1.1"])
      #expect(try filesBelow(root + "/fixtures/1.0") == before)
      #expect(throws: ConformanceFailure.self) {
        try FixtureStores.open(
          in: root + "/fixtures/1.0", backend: { try kind.open($0) }, migrations: [],
          registering: []
        ) { _, _ in }
      }
    }
  }
}
