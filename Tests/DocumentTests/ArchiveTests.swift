import Files
import Foundation
import Locks
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoredObjectsDocuments

@Suite("Archives of documents")
struct ArchiveTests {
  private static func export(_ desk: Desk, _ shapes: [String] = ["a", "b"]) async throws -> String {
    let document = try desk.make("Ship.sketch", shapes)
    let path = desk.path("Ship.zip")
    try await document.export(to: path)
    try await document.close()
    return path
  }

  private static func importArchive(_ path: String, _ desk: Desk) async throws {
    try await StoredDocument.importArchive(path, to: desk.path("Boat.sketch"), as: desk.type)
  }

  @Test("A document survives the way into an archive and back", arguments: TestedBackend.onDisk)
  func roundTrip(_ kind: TestedBackend) async throws {
    try await Desk.with(kind) { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      document.insert(["b"])
      try document.save(named: "Second")
      document.insert(["c"])
      let done = Counter()
      try await document.export(to: desk.path("Ship.zip")) { done.add($0) }
      #expect(done.isComplete)
      #expect(
        await asyncCode { try await document.export(to: desk.path("Ship.zip")) } == .exists)
      try await document.export(to: desk.path("Ship.zip"), replacing: true)
      #expect(document.isEdited && !document.store.hasUnsavedChanges)
      try await Self.importArchive(desk.path("Ship.zip"), desk)
      #expect(try kind.check(desk.path("Boat.sketch/Store")).isSound)
      let copy = try desk.open("Boat.sketch")
      #expect(try copy.shapes() == ["a", "b", "c"])
      #expect(copy.versions == document.versions && copy.isEdited)
      try copy.revert()
      #expect(try copy.shapes() == ["a", "b"])
      try await copy.close()
      try await document.close(.keepingChanges)
      #expect(try desk.names() == ["Boat.sketch", "Ship.sketch", "Ship.zip"])
    }
  }

  @Test("An encrypted document stays encrypted in its archive, and needs its key")
  func encrypted() async throws {
    try await Desk.with(.encryptedTokyoCabinet) { desk in
      let path = try await Self.export(desk, ["a secret name"])
      #expect(try !contains(bytes(path), "secret"))
      try await Self.importArchive(path, desk)
      #expect(
        code { try StoredDocument(opening: desk.path("Boat.sketch"), as: desk.type) } == .store)
      #expect(try desk.shapes("Boat.sketch") == ["a secret name"])
      let attributes = try FileManager.default.attributesOfItem(
        atPath: desk.path("Boat.sketch/Store/Commit.key"))
      #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
    }
  }

  private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    Data(bytes).range(of: Data(text.utf8)) != nil
  }

  @Test("Other programs test, list and unpack an archive, and theirs can be imported")
  func otherPrograms() async throws {
    guard let unzip = InstalledProgram("unzip") else { return }
    try await Desk.with { desk in
      let path = try await Self.export(desk)
      #expect(try unzip.run(["-t", path]).status == 0)
      #expect(try unzip.run(["-q", path, "-d", desk.path("unpacked")]).status == 0)
      #expect(try desk.shapes("unpacked") == ["a", "b"])
      #expect(try String(decoding: bytes(path)[38..<66], as: UTF8.self) == desk.type.mimeType)

      guard let zip = InstalledProgram("zip") else { return }
      let packed = desk.path("packed.zip")
      let script = "cd '\(desk.path("unpacked"))' && zip -q -0 -r '\(packed)' ."
      #expect(try InstalledProgram("sh")?.run(["-c", script]).status == 0)
      try await Self.importArchive(packed, desk)
      #expect(try desk.shapes("Boat.sketch") == ["a", "b"])
      let small = script.replacing("-0", with: "-9").replacing("packed.zip", with: "small.zip")
      #expect(try InstalledProgram("sh")?.run(["-c", small]).status == 0)
      #expect(
        await asyncCode { try await Self.importArchive(desk.path("small.zip"), desk) }
          == .invalidArchive)
      withExtendedLifetime(zip) {}
    }
  }

  @Test("Numbers from 4 GiB on are read and written, also by other programs")
  func wideNumbers() async throws {
    try await Desk.with { desk in
      _ = try await Self.export(desk)
      let package = try DocumentPackage(
        opening: desk.path("Ship.sketch"), isLocked: false, in: SystemFiles.shared)
      for limit in [0, 1000] as [UInt64] {
        let path = desk.path("Wide\(limit).zip")
        var writer = ArchiveWriter(try NewFile(path), wideFrom: limit)
        let files = try FileManager.default.contentsOfDirectory(
          atPath: desk.path("Ship.sketch/Store"))
        for name in ["Document.json"] + files.map({ "Store/\($0)" }) {
          if let content = try package.read(name, limit: 1 << 24) { try writer.add(name, content) }
        }
        try writer.finish()
        if let unzip = InstalledProgram("unzip") {
          #expect(try unzip.run(["-t", path]).status == 0)
        }
        try await StoredDocument.importArchive(
          path, to: desk.path("Boat\(limit).sketch"), as: desk.type)
        #expect(try desk.shapes("Boat\(limit).sketch") == ["a", "b"])
      }
    }
  }

  @Test("The checksum is that of ZIP files")
  func checksum() {
    var checksum = ArchiveChecksum()
    checksum.add(Array("1234".utf8))
    checksum.add(Array("56789".utf8))
    #expect(checksum.value == 0xCBF4_3926)
    var long = ArchiveChecksum()
    long.add((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
    var single = ArchiveChecksum()
    for byte in 0..<1000 { single.add([UInt8(truncatingIfNeeded: byte)]) }
    #expect(long.value == single.value)
  }

  @Test("An import and an export can be cancelled, and leave nothing")
  func cancelled() async throws {
    try await Desk.with { @MainActor desk in
      let path = try await Self.export(desk)
      let document = try desk.open("Ship.sketch")
      let importing = Task { @MainActor in
        await asyncCode {
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          try await Self.importArchive(path, desk)
        }
      }
      let exporting = Task { @MainActor in
        await asyncCode {
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          try await document.export(to: desk.path("Other.zip"))
        }
      }
      #expect(await importing.value == .cancelled)
      #expect(await exporting.value == .cancelled)
      #expect(try desk.names() == ["Ship.sketch", "Ship.zip"])
      try await document.close()
    }
  }
}

/// Collects progress.
private final class Counter: Sendable {
  private let last = Locked(DocumentProgress?.none)

  func add(_ progress: DocumentProgress) { last.withLock { $0 = progress } }

  var isComplete: Bool {
    last.withLock { last in
      last.map { $0.byteCount > 0 && $0.completedByteCount == $0.byteCount } ?? false
    }
  }
}
