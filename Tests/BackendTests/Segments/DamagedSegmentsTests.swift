import Files
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Damaged segments", .timeLimit(.minutes(2)))
struct DamagedSegmentsTests {
  private typealias Fixture = SegmentsFixture

  /// Writes bytes over a file.
  private func replace(_ path: String, by bytes: [UInt8]) throws {
    try removeFile(FileLocation(path))
    let file = try StoreFile(creating: FileLocation(path), rights: .anyone)
    defer { file.close() }
    try file.write(bytes, at: 0)
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    try MappedFile(FileLocation(path)).withBytes { [UInt8](copying: $0) }
  }

  /// The table in a directory; nil if it is damaged.
  private func model(_ directory: String) throws -> Fixture.Model? {
    do {
      let backend = try Fixture.open(.cdb, directory, readOnly: true)
      var found: Fixture.Model = [:]
      let table = try backend.orderedTable(Fixture.name)
      _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { key, value in
        found[[UInt8](copying: key)] = [UInt8](copying: value)
        return .next
      }
      #expect(try backend.keyCount(in: table, KeyRange()) == found.count)
      try backend.close()
      return found
    } catch let error as StoreError where error.code == .damaged {
      return nil
    }
  }

  @Test("Every changed byte of a list, a part or a run is found, and none gives a wrong value")
  func flips() throws {
    var generator = Seeds.generator(for: "flipped segments")
    try FoldingFixture.withStore { directory in
      let model = try Fixture.prepare(.cdb, directory, folds: 3, using: &generator)
      let list = try #require(try Fixture.list(directory))
      try #require(!list.runs.isEmpty)
      for name in [Fixture.name.fileName] + Fixture.names(list) {
        let path = "\(directory)/\(name)"
        let whole = try bytes(path)
        for _ in 0..<40 {
          var flipped = whole
          let offset = Int.random(in: 0..<whole.count, using: &generator)
          flipped[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
          try replace(path, by: flipped)
          let found = try self.model(directory)
          #expect(found == nil || found == model, "\(name) at \(offset)")
          let damage = try FoldingFixture.damage(.cdb, directory)
          #expect(!damage.isEmpty, "\(name) at \(offset)")
        }
        try replace(path, by: whole)
      }
      #expect(try self.model(directory) == model)
    }
  }

  @Test("A missing segment is damage, also for an opening that writes, which removes no other one")
  func missing() throws {
    var generator = Seeds.generator(for: "missing segment")
    try FoldingFixture.withStore { directory in
      let model = try Fixture.prepare(.cdb, directory, using: &generator)
      let names = Fixture.names(try #require(try Fixture.list(directory)))
      for name in names {
        let whole = try bytes("\(directory)/\(name)")
        try removeFile(FileLocation("\(directory)/\(name)"))
        #expect(try self.model(directory) == nil)
        let writer = try? Fixture.open(.cdb, directory)
        let isRead = try? writer.map {
          try $0.keyCount(in: $0.orderedTable(Fixture.name), KeyRange())
        }
        #expect(isRead == nil)
        try? writer?.close()
        #expect(try Fixture.segments(directory) == names.filter { $0 != name })
        #expect(try !FoldingFixture.damage(.cdb, directory).isEmpty)
        try replace("\(directory)/\(name)", by: whole)
      }
      #expect(try self.model(directory) == model)
    }
  }

  @Test(
    "A salvage finds all keys of segments, even without their list",
    arguments: [TestedBackend.cdb, .encryptedTokyoCabinet], [false, true])
  func salvage(_ kind: TestedBackend, isListDamaged: Bool) throws {
    var generator = Seeds.generator(for: "salvaged segments")
    try FoldingFixture.withStore { directory in
      var model = try Fixture.prepare(kind, directory, folds: 4, using: &generator)
      let backend = try Fixture.open(kind, directory)
      try Fixture.change(30, 0..<2000, &model, on: backend, using: &generator)
      try backend.close()
      if isListDamaged {
        for name in try FoldingFixture.entries(of: directory) where name.hasSuffix(".ordered") {
          guard
            try FoldingFixture.entries(of: directory).contains(where: { entry in
              SegmentName.parse(entry)?.table == name
            })
          else { continue }
          let path = "\(directory)/\(name)"
          try replace(path, by: Array(bytes(path).dropLast(10)))
        }
      }
      try kind.salvage(directory, to: directory + " salvaged")
      let salvaged = try Fixture.open(kind, directory + " salvaged", readOnly: true)
      try Fixture.compare(salvaged, model, using: &generator)
      try salvaged.close()
    }
  }

  @Test("A salvage reports a missing segment, and finds the keys of the others")
  func salvageWithoutPart() throws {
    var generator = Seeds.generator(for: "salvage without a part")
    try FoldingFixture.withStore { directory in
      let model = try Fixture.prepare(.cdb, directory, folds: 0, using: &generator)
      let backend = try Fixture.open(.cdb, directory)
      var changes = ChangeSet()
      let table = try backend.orderedTable(Fixture.name)
      changes.set(Fixture.key(0), to: [1], in: table)
      try backend.commit(changes)
      try Fixture.fold(backend)
      try backend.close()
      let list = try #require(try Fixture.list(directory))
      try #require(list.parts.count > 2)
      let name = SegmentName.fileName(.keys, list.parts[1].number, of: Fixture.name.fileName)
      try removeFile(FileLocation("\(directory)/\(name)"))
      let report = try TestedBackend.cdb.salvage(directory, to: directory + " salvaged")
      #expect(
        report.losses.contains { $0.message.contains("Segments of an ordered table are gone") })
      let lost = list.range(ofPart: 1)
      let rest = model.merging([Fixture.key(0): [1]]) { $1 }.filter { !lost.contains($0.key) }
      #expect(try self.model(directory + " salvaged") == rest)
    }
  }

  @Test("An opening removes the segments of a fold that a process did not finish")
  func unfinished() throws {
    var generator = Seeds.generator(for: "unfinished segments")
    try FoldingFixture.withStore { directory in
      var model = try Fixture.prepare(.tokyoCabinet, directory, using: &generator)
      let backend = try Fixture.open(.tokyoCabinet, directory)
      try Fixture.change(50, 0..<2000, &model, on: backend, using: &generator)
      let copy = try FoldingFixture.copy(directory)
      let stray = SegmentName.fileName(.changes, 900, of: Fixture.name.fileName)
      try replace("\(copy)/\(stray)", by: [1, 2, 3])
      #expect(try FoldingFixture.damage(.tokyoCabinet, copy).isEmpty)
      let reader = try Fixture.open(.tokyoCabinet, copy, readOnly: true)
      try Fixture.compare(reader, model, using: &generator)
      try reader.close()
      #expect(try Fixture.segments(copy).contains(stray))
      let again = try Fixture.open(.tokyoCabinet, copy)
      try Fixture.compare(again, model, using: &generator)
      #expect(try Fixture.segments(copy) == Fixture.names(#require(try Fixture.list(copy))))
      try again.close()
      try backend.close()
    }
  }
}
