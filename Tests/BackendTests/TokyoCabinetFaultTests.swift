import Foundation
import StoredObjectsCore
import Testing
import TokyoCabinet

@testable import TokyoCabinetBackend

@Suite("Tokyo Cabinet backend: locks and faults")
struct TokyoCabinetFaultTests {
  typealias Fixtures = TokyoFixtures

  @Test("A second backend on a store throws inUse until the first is closed")
  func secondBackend() throws {
    try Fixtures.withDirectory { directory in
      let first = try TokyoCabinetBackend(directory: directory)
      let failure = Fixtures.error { _ = try TokyoCabinetBackend(directory: directory) }
      #expect(failure?.code == .inUse)
      #expect(failure?.message.contains("another backend of this process") == true)
      try first.close()
      try TokyoCabinetBackend(directory: directory).close()
    }
  }

  @Test("Backends that only read share a store, and do not block writers")
  func readers() throws {
    try Fixtures.withDirectory { directory in
      let writer = try TokyoCabinetBackend(directory: directory)
      try writer.commit(Fixtures.changes(writer.table(named: "Song"), [(.insert, 2, [1])]))
      try writer.close()
      let reading = TokyoCabinetBackend.Configuration(access: .readOnly)
      let one = try TokyoCabinetBackend(directory: directory, configuration: reading)
      let two = try TokyoCabinetBackend(directory: directory, configuration: reading)
      let (songs, other) = (try one.table(named: "Song"), try two.table(named: "Song"))
      #expect(try Fixtures.record(2, songs, one) == [1])
      #expect(try two.tableNames() == ["Song"])
      try one.close()
      #expect(try Fixtures.record(2, other, two) == [1])
      let change = Fixtures.changes(other, [(.update, 2, [2])])
      #expect(Fixtures.error { try two.commit(change) }?.code == .readOnly)
      let next = try TokyoCabinetBackend(directory: directory)
      try next.commit(Fixtures.changes(next.table(named: "Song"), [(.update, 2, [3])]))
      try next.checkpoint()
      #expect(try Fixtures.record(2, other, two) == [1])
      try two.close()
      try next.close()
    }
  }

  @Test("Another process that has the store open blocks, and is blocked")
  func otherProcess() throws {
    let tool = "/usr/bin/flock"
    guard FileManager.default.isExecutableFile(atPath: tool) else {
      print("skipped: the flock command is not installed")
      return
    }
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let refused = try Process.run(
        URL(fileURLWithPath: tool), arguments: ["-n", "-s", directory, "true"])
      refused.waitUntilExit()
      #expect(refused.terminationStatus == 1)
      try backend.close()

      let (input, output) = (Pipe(), Pipe())
      let holder = Process()
      holder.executableURL = URL(fileURLWithPath: tool)
      holder.arguments = ["-x", directory, "/bin/sh", "-c", "echo locked; read line"]
      (holder.standardInput, holder.standardOutput) = (input, output)
      try holder.run()
      _ = output.fileHandleForReading.availableData
      #expect(Fixtures.error { _ = try TokyoCabinetBackend(directory: directory) }?.code == .inUse)
      try input.fileHandleForWriting.close()
      holder.waitUntilExit()
      try TokyoCabinetBackend(directory: directory).close()
    }
  }

  @Test("A missing directory is not created for readers, or if creation is switched off")
  func missingDirectory() throws {
    try Fixtures.withDirectory { directory in
      let configurations: [TokyoCabinetBackend.Configuration] = [
        .init(access: .readOnly), .init(createIfMissing: false),
      ]
      for configuration in configurations {
        let failure = Fixtures.error {
          _ = try TokyoCabinetBackend(directory: directory, configuration: configuration)
        }
        #expect(failure?.code == .ioError)
        #expect(failure?.message.contains("no such file or directory") == true)
        #expect(!FileManager.default.fileExists(atPath: directory))
      }
      try TokyoCabinetBackend(directory: directory + "/deep/er").close()
    }
  }

  @Test("A path to a file is refused")
  func notADirectory() throws {
    try Fixtures.withDirectory { path in
      try Data([1]).write(to: URL(fileURLWithPath: path))
      let failure = Fixtures.error { _ = try TokyoCabinetBackend(directory: path) }
      #expect(failure?.code == .ioError)
      #expect(failure?.message.contains("A store is a directory") == true)
    }
  }

  @Test("A file that is not a hash file, or is empty, is an error that names it")
  func foreignFile() throws {
    for content in [Data(), Data(repeating: 65, count: 2000)] {
      try Fixtures.withDirectory { directory in
        try FileManager.default.createDirectory(
          atPath: directory, withIntermediateDirectories: true)
        try content.write(to: URL(fileURLWithPath: directory + "/Song"))
        let backend = try TokyoCabinetBackend(directory: directory)
        let failure = Fixtures.error { _ = try backend.table(named: "Song") }
        #expect(failure?.code == .damaged)
        #expect(failure?.location.path?.hasSuffix("/Song") == true)
        #expect(failure?.location.className == "Song")
        #expect(try backend.tableNames() == [])
      }
    }
  }

  @Test("A key that is not a row ID ends a scan with damaged and the path of the file")
  func strangeKey() throws {
    try Fixtures.withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let file = try HashDatabase(path: directory + "/Song")
      try file.put(key: [1, 2, 3], value: [1])
      try file.close()
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      let failure = Fixtures.error { _ = try backend.scan(songs, from: nil) { _, _ in .next } }
      #expect(failure?.code == .damaged)
      #expect(failure?.location.path?.hasSuffix("/Song") == true)
    }
  }

  @Test("If the directory is removed, a commit fails with an error and reading continues")
  func directoryRemoved() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let (songs, lists) = (try backend.table(named: "Song"), try backend.table(named: "List"))
      try backend.commit(Fixtures.changes(songs, [(.insert, 2, [1])]))
      try FileManager.default.removeItem(atPath: directory)
      let insert = Fixtures.changes(lists, [(.insert, 2, [1])])
      #expect(Fixtures.error { try backend.commit(insert) }?.code == .ioError)
      #expect(Fixtures.error { _ = try backend.tableNames() }?.code == .ioError)
      #expect(try backend.recordCount(in: lists) == 0)
      #expect(try Fixtures.record(2, songs, backend) == [1])
    }
  }

  @Test("Closing twice is harmless, and every call after it throws closed")
  func closed() throws {
    try Fixtures.withBackend { backend, songs in
      let change = Fixtures.changes(songs, [(.insert, 2, [1])])
      try backend.commit(change)
      try backend.close()
      try backend.close()
      let calls: [() throws -> Void] = [
        { try backend.commit(change) }, { _ = try backend.table(named: "Song") },
        { _ = try backend.recordCount(in: songs) }, { _ = try backend.bufferNames() },
        { _ = try backend.tableNames() }, { _ = try backend.withRecord(2, in: songs) { _ in } },
        { _ = try backend.withNamedBuffer("a") { _ in } },
        { _ = try backend.scan(songs, from: nil) { _, _ in .next } },
      ]
      for call in calls { #expect(Fixtures.error(call)?.code == .closed) }
    }
  }

  @Test("A released backend releases its store")
  func deinitCloses() throws {
    try Fixtures.withDirectory { directory in
      do {
        let backend = try TokyoCabinetBackend(directory: directory)
        try backend.commit(Fixtures.changes(backend.table(named: "Song"), [(.insert, 2, [1])]))
      }
      let again = try TokyoCabinetBackend(directory: directory)
      #expect(try again.recordCount(in: again.table(named: "Song")) == 1)
    }
  }
}
