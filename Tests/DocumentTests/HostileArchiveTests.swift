import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoredObjectsDocuments

@Suite("Archives that were made to do harm")
struct HostileArchiveTests {
  /// An entry of an archive made by hand.
  struct Entry {
    var name: [UInt8]
    var bytes: [UInt8] = [1, 2, 3]
    var method: UInt16 = 0
    var flags: UInt16 = 0
    var mode: UInt32 = 0o100_644
    var checksum: UInt32?
    /// The sizes in the directory.
    var sizes: (UInt32, UInt32)?
    /// The offset in the directory.
    var offset: UInt32?
    /// The name in the local header.
    var localName: [UInt8]?

    init(_ name: String, _ bytes: [UInt8] = [1, 2, 3]) {
      (self.name, self.bytes) = (Array(name.utf8), bytes)
    }

    func with(_ change: (inout Entry) -> Void) -> Entry {
      var entry = self
      change(&entry)
      return entry
    }
  }

  private static func archive(_ entries: [Entry]) -> [UInt8] {
    var (file, directory) = ([UInt8](), [UInt8]())
    for entry in entries {
      let offset = entry.offset ?? UInt32(file.count)
      var checksum = ArchiveChecksum()
      checksum.add(entry.bytes)
      func header(_ local: Bool, to bytes: inout [UInt8]) {
        let name = local ? entry.localName ?? entry.name : entry.name
        bytes.append(littleEndian: UInt32(local ? 0x0403_4B50 : 0x0201_4B50))
        if !local { bytes.append(littleEndian: UInt16(3 << 8 | 20)) }
        bytes.append(littleEndian: UInt16(20))
        bytes.append(littleEndian: entry.flags)
        bytes.append(littleEndian: entry.method)
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: entry.checksum ?? checksum.value)
        let size = UInt32(entry.bytes.count)
        bytes.append(littleEndian: local ? size : entry.sizes?.0 ?? size)
        bytes.append(littleEndian: local ? size : entry.sizes?.1 ?? size)
        bytes.append(littleEndian: UInt16(name.count))
        bytes.append(littleEndian: UInt16(0))
        if !local {
          for _ in 0..<3 { bytes.append(littleEndian: UInt16(0)) }
          bytes.append(littleEndian: entry.mode << 16)
          bytes.append(littleEndian: offset)
        }
        bytes += name
      }
      header(true, to: &file)
      file += entry.bytes
      header(false, to: &directory)
    }
    let start = file.count
    file += directory
    file.append(littleEndian: UInt32(0x0605_4B50))
    file.append(littleEndian: UInt32(0))
    for _ in 0..<2 { file.append(littleEndian: UInt16(entries.count)) }
    file.append(littleEndian: UInt32(directory.count))
    file.append(littleEndian: UInt32(start))
    file.append(littleEndian: UInt16(0))
    return file
  }

  private static func manifest(_ desk: Desk) throws -> Entry {
    Entry("Document.json", try DocumentManifest(of: desk.type).encoded())
  }

  /// Imports an archive; returns the code of the error, and checks that nothing else has changed.
  private func importing(_ archive: [UInt8], _ desk: Desk) async throws -> DocumentError.Code? {
    try Data(archive).write(to: URL(filePath: desk.path("in.zip")))
    let error = await asyncCode {
      try await StoredDocument.importArchive(
        desk.path("in.zip"), to: desk.path("Boat.sketch"), as: desk.type)
    }
    let names = try desk.names()
    if error == nil {
      #expect(names == ["Boat.sketch", "in.zip"])
      try FileManager.default.removeItem(atPath: desk.path("Boat.sketch"))
    } else {
      #expect(names == ["in.zip"])
    }
    return error
  }

  @Test("The archives made here are valid without their faults")
  func valid() async throws {
    try await Desk.with { desk in
      let entries = [try Self.manifest(desk), Entry("Store/Shape"), Entry("Preview/Text.txt")]
      #expect(try await importing(Self.archive(entries), desk) == nil)
      let folders = [Entry("Store/", []), Entry("Preview/", [])].map {
        $0.with { $0.mode = 0o040_755 }
      }
      #expect(try await importing(Self.archive(folders + entries), desk) == nil)
    }
  }

  @Test("Names that lead out of the document, or that no document has, are refused")
  func names() async throws {
    try await Desk.with { desk in
      let manifest = try Self.manifest(desk)
      let names = [
        "../evil", "/etc/evil", "Store/../../evil", "Store/..", "Store/.", "Store//evil", "Store",
        "./Store/x", "Store/a/b", "Preview/evil.desktop", "Other/file", "Editor.json", ".partial",
        "Store\\..\\evil", "", "Store/\(String(repeating: "x", count: 256))", "Store/x\0y", "../",
        "Store/sub/", "/",
      ]
      for name in names {
        let entries = [manifest, Entry("Store/Shape"), Entry(name)]
        #expect(
          try await importing(Self.archive(entries), desk) == .invalidArchive, "\(name)")
      }
      let invalid = Entry("Store/x").with { $0.name = Array("Store/".utf8) + [0xFF, 0xC0] }
      #expect(
        try await importing(Self.archive([manifest, Entry("Store/S"), invalid]), desk)
          == .invalidArchive)
    }
  }

  @Test("Links, twice the same name, compression, passwords and wrong sizes are refused")
  func entries() async throws {
    try await Desk.with { desk in
      let manifest = try Self.manifest(desk)
      let good = Entry("Store/Shape", Array(repeating: 7, count: 100))
      let faults: [(String, [Entry])] = [
        ("link", [good, Entry("Store/x").with { $0.mode = 0o120_777 }]),
        ("device", [good, Entry("Store/x").with { $0.mode = 0o060_666 }]),
        ("folder as file", [good, Entry("Store/x").with { $0.mode = 0o040_755 }]),
        ("twice", [good, good]),
        ("compressed", [good, Entry("Store/x").with { $0.method = 8 }]),
        ("password", [good, Entry("Store/x").with { $0.flags = 1 }]),
        ("checksum", [good.with { $0.checksum = 1 }]),
        ("too large", [good.with { $0.sizes = (1 << 30, 1 << 30) }]),
        ("two sizes", [good.with { $0.sizes = (100, 99) }]),
        ("overlap", [good, Entry("Store/x").with { $0.offset = 10 }]),
        (
          "same place",
          [
            good,
            good.with {
              $0.name = Array("Store/Other".utf8)
              $0.offset = 0
            },
          ]
        ),
        ("other name", [good.with { $0.localName = Array("Store/Shapf".utf8) }]),
        ("far away", [good.with { $0.offset = 0xFFFF_FFF0 }]),
        ("no store", []),
      ]
      for (name, entries) in faults {
        let code = try await importing(Self.archive([manifest] + entries), desk)
        #expect(code == .invalidArchive, "\(name)")
      }
      #expect(try await importing(Self.archive([good]), desk) == .invalidArchive)
      #expect(try await importing([], desk) == .invalidArchive)
      #expect(try await importing([1, 2, 3], desk) == .invalidArchive)
    }
  }

  @Test("An entry inside of another one is refused")
  func nested() async throws {
    try await Desk.with { desk in
      let manifest = try Self.manifest(desk)
      let inner = Entry("Store/x", Array(repeating: 9, count: 50))
      let outer = Entry("Store/Shape", Self.archive([inner]))
      let start = 30 + manifest.name.count + manifest.bytes.count + 30 + outer.name.count
      let nested = inner.with { $0.offset = UInt32(start) }
      let found = try await importing(Self.archive([manifest, outer, nested]), desk)
      #expect(found == .invalidArchive)
    }
  }

  @Test("The limits of an import hold")
  func limits() async throws {
    try await Desk.with { desk in
      let manifest = try Self.manifest(desk)
      let entries =
        [manifest] + (0..<20).map { Entry("Store/\($0)", [UInt8](repeating: 1, count: 99)) }
      try Data(Self.archive(entries)).write(to: URL(filePath: desk.path("in.zip")))
      for change in [\ArchiveLimits.byteCount, \ArchiveLimits.entryCount] as [WritableKeyPath] {
        var limits = ArchiveLimits()
        limits[keyPath: change] = 20
        #expect(
          await asyncCode {
            try await StoredDocument.importArchive(
              desk.path("in.zip"), to: desk.path("Boat.sketch"), as: desk.type, limits: limits)
          } == .tooLarge)
      }
      #expect(try desk.names() == ["in.zip"])
    }
  }

  @Test("Documents of other types and of newer programs are refused")
  func types() async throws {
    try await Desk.with { desk in
      let store = Entry("Store/Shape")
      for (type, version, expected) in [
        ("org.example.Other\u{202E}", 1, DocumentError.Code.otherType),
        (desk.type.identifier, 2, .newerVersion),
      ] {
        var manifest = DocumentManifest(of: desk.type)
        (manifest.type, manifest.formatVersion) = (type, version)
        let archive = Self.archive([Entry("Document.json", try manifest.encoded()), store])
        let found = try await importing(archive, desk)
        #expect(found == expected)
      }
      #expect(
        try await importing(Self.archive([Entry("Document.json"), store]), desk) == .damaged)
    }
  }

  @Test("Damaged archives are refused or harmless, whatever the damage")
  func fuzz() async throws {
    let generator = SharedLock(Seeds.generator(for: "damaged archives of documents"))
    try await Desk.with { desk in
      let small = Self.archive([
        try Self.manifest(desk), Entry("Store/Shape", Array(repeating: 7, count: 40)),
        Entry("Store/Other"), Entry("Preview/Text.txt", Array("text".utf8)),
      ])
      var accepted = 0
      for _ in 0..<1000 {
        let damaged = generator.withLock { Self.damaged(small, &$0) }
        if try await importing(damaged, desk) == nil { accepted += 1 }
      }
      // A few bytes, such as dates, are of no importance.
      #expect(accepted < 500)
    }
  }

  private static func damaged(
    _ archive: [UInt8], _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var archive = archive
    for _ in 0...Int.random(in: 0..<3, using: &generator) {
      let index = Int.random(in: 0..<archive.count, using: &generator)
      switch Int.random(in: 0..<7, using: &generator) {
      case 0: archive[index] = UInt8.random(in: 0...255, using: &generator)
      case 1: archive[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 2: archive.removeSubrange(index..<min(index + 9, archive.count - 1))
      case 3: archive.insert(contentsOf: archive.prefix(9), at: index)
      case 4: archive.removeLast(min(index, archive.count - 1))
      case 5:
        for offset in index..<min(index + 4, archive.count) { archive[offset] = 0xFF }
      default:
        let other = Int.random(in: 0..<archive.count, using: &generator)
        archive.swapAt(index, other)
      }
    }
    return archive
  }
}
