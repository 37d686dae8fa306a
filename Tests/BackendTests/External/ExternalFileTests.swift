import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Files of values outside of records")
struct ExternalFileTests {
  private let first = noise(150_000)
  private let second = noise(150_000, seed: 2)

  /// A store with two values, whose files' paths are given.
  private func withStore(
    _ kind: TestedBackend, _ body: (_ directory: String, _ files: [String]) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let backend = try kind.open(path)
      let store = try Store.ofRecordings(backend)
      var files: [String] = []
      for (title, bytes) in [("A", first), ("B", second)] {
        store.insertRecording(title, bytes)
        try store.saveChanges()
        files += try valueFiles(path).map { path + "/" + $0 }.filter { !files.contains($0) }
      }
      try backend.close()
      #expect(files.count == 2)
      try body(path, files)
    }
  }

  private func expectContent(
    _ kind: TestedBackend, _ directory: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let backend = try kind.open(directory, readOnly: true)
    defer { try? backend.close() }
    let store = try Store.ofRecordings(backend)
    #expect(try store.recording("A")?.audio.bytes() == first, sourceLocation: sourceLocation)
    #expect(try store.recording("B")?.audio.bytes() == second, sourceLocation: sourceLocation)
    #expect(try store.check().findings == [], sourceLocation: sourceLocation)
    #expect(try backend.valueCount == 2, sourceLocation: sourceLocation)
  }

  private func change(_ path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(filePath: path))
    body(&data)
    try data.write(to: URL(filePath: path))
  }

  @Test(
    "A damaged file is an error, found by a check, and left out by a salvage",
    arguments: TestedBackend.onDisk, 0..<7)
  func damage(_ kind: TestedBackend, _ number: Int) throws {
    try withStore(kind) { directory, files in
      try change(files[0]) { data in
        switch number {
        case 0: data[60_000] ^= 1
        case 1: data = data.dropLast(1)
        case 2: data = data.prefix(40)
        case 3: data = Data()
        case 4: data.append(0)
        // The size in the head.
        case 5: data.replaceSubrange(32..<40, with: [UInt8](repeating: 0xFF, count: 8))
        default: data[3] ^= 1
        }
      }
      let backend = try kind.open(directory)
      let store = try Store.ofRecordings(backend)
      let codes: [StoreError.Code] = [.damaged, .notAuthentic]
      let error = #expect(throws: StoreError.self) { _ = try store.recording("A")?.audio.bytes() }
      #expect(error.map { codes.contains($0.code) } == true)
      #expect(error?.location.path == files[0])
      #expect(try store.recording("B")?.audio.bytes() == second)
      try backend.close()
      let kinds: [StoreFinding.Kind] = [.externalValue, .notAuthentic]
      #expect(try kind.check(directory).findings.count { kinds.contains($0.kind) } == 1)
      let report = try kind.salvage(directory, to: directory + "-salvaged")
      #expect(report.losses.count == 1)
      #expect(try valueFiles(directory + "-salvaged").count == 1)
      let salvaged = try kind.open(directory + "-salvaged")
      defer { try? salvaged.close() }
      #expect(try Store.ofRecordings(salvaged).recording("B")?.audio.bytes() == second)
    }
  }

  @Test("Exchanged names of files are detected", arguments: TestedBackend.onDisk)
  func swapped(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, files in
      try exchangeNames(files[0], files[1])
      #expect(try kind.check(directory).findings.count == 2)
      let backend = try kind.open(directory)
      defer { try? backend.close() }
      let store = try Store.ofRecordings(backend)
      #expect(throws: StoreError.self) { _ = try store.recording("A")?.audio.bytes() }
    }
  }

  @Test(
    "A chunk in another position, or in another file, is damage",
    arguments: [TestedBackend.tokyoCabinet, .encryptedCDB])
  func swappedChunks(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, files in
      let size = 64 << 10 + (kind.isEncrypted ? 28 : 4)
      let other = try Data(contentsOf: URL(filePath: files[1]))
      try change(files[0]) { $0.replaceSubrange(48..<48 + size, with: other[48..<48 + size]) }
      try change(files[1]) { data in
        let chunk = data[48..<48 + size]
        data.replaceSubrange(48..<48 + size, with: data[48 + size..<48 + 2 * size])
        data.replaceSubrange(48 + size..<48 + 2 * size, with: chunk)
      }
      #expect(try kind.check(directory).findings.count == 2)
    }
  }

  @Test("A missing file is found by a check and a salvage", arguments: TestedBackend.onDisk)
  func missing(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, files in
      try FileManager.default.removeItem(atPath: files[1])
      #expect(try kind.check(directory).findings.map(\.kind) == [.externalValue])
      let report = try kind.salvage(directory, to: directory + "-salvaged")
      #expect(report.losses.map(\.kind) == [.externalValue])
    }
  }

  @Test(
    "A file that no object refers to is removed by the next opening for writing",
    arguments: TestedBackend.onDisk)
  func stray(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, files in
      let stray = directory + "/" + String(repeating: "0f", count: 16) + ".external"
      try FileManager.default.copyItem(atPath: files[0], toPath: stray)
      let foreign = directory + "/letter.external"
      if kind == .cdb { try Data("x".utf8).write(to: URL(filePath: foreign)) }
      #expect(try kind.check(directory).findings.contains { $0.kind == .strayValue })
      try kind.open(directory, readOnly: true).close()
      #expect(FileManager.default.fileExists(atPath: stray))
      try kind.open(directory).close()
      #expect(!FileManager.default.fileExists(atPath: stray))
      if kind == .cdb {
        #expect(FileManager.default.fileExists(atPath: foreign))
        try FileManager.default.removeItem(atPath: foreign)
      }
      try expectContent(kind, directory)
    }
  }

  @Test("Backups and salvaged stores have the values", arguments: TestedBackend.onDisk)
  func copies(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, _ in
      let backend = try kind.open(directory)
      try backend.backup(to: directory + "-backup") { _ in }
      try backend.close()
      try expectContent(kind, directory + "-backup")
      #expect(try kind.salvage(directory, to: directory + "-salvaged").losses == [])
      try expectContent(kind, directory + "-salvaged")
    }
  }

  @Test(
    "Values missing from the list are salvaged, and opening the store keeps them",
    arguments: TestedBackend.onDisk)
  func lostList(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, _ in
      let backend = try kind.open(directory)
      try backend.checkpoint()
      try backend.close()
      for name in try FileManager.default.contentsOfDirectory(atPath: directory)
      where name.hasSuffix(".ordered") {
        try FileManager.default.removeItem(atPath: directory + "/" + name)
      }
      _ = try kind.salvage(directory, to: directory + "-salvaged")
      let salvaged = try kind.open(directory + "-salvaged")
      defer { try? salvaged.close() }
      let store = try Store.ofRecordings(salvaged)
      #expect(try store.recording("A")?.audio.bytes() == first)
      #expect(try store.recording("B")?.audio.bytes() == second)
      #expect(try store.check().findings.contains { $0.kind == .externalValue })
      for recording in try store.allObjects(of: Recording.self) { recording.title += "!" }
      try store.saveChanges()
      #expect(try !store.check().findings.contains { $0.kind == .externalValue })
    }
  }

  @Test(
    "A store that is encrypted or decrypted in place keeps its values",
    arguments: TestedBackend.onDisk)
  func conversion(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, files in
      let plain = Array(first[..<64])
      let isReadable = try kind.isEncrypted == !contains(plain, files[0])
      #expect(isReadable)
      try kind.convert(directory)
      try expectContent(kind.converted, directory)
      #expect(try valueFiles(directory).count == 2)
      #expect(try kind.isEncrypted == contains(plain, files[0]))
    }
  }

  private func contains(_ part: [UInt8], _ path: String) throws -> Bool {
    try Data(contentsOf: URL(filePath: path)).range(of: Data(part)) != nil
  }

  @Test("A store is copied to another backend with its values", arguments: TestedBackend.onDisk)
  func otherBackend(_ kind: TestedBackend) throws {
    try withStore(kind) { directory, _ in
      let source = try kind.open(directory)
      let memory = try MemoryBackend()
      try BackendCopy(from: source, to: memory).run()
      try source.close()
      let back = try TestedBackend.cdb.open(directory + "-copy")
      try BackendCopy(from: memory, to: back).run()
      try back.close()
      try expectContent(.cdb, directory + "-copy")
    }
  }
}
