import Foundation
import RecordBrowsing
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Edits without the classes of a store")
struct EditorTests {
  private func withEditor(
    _ kind: TestedBackend, tracks: Int = 30,
    _ body: (StoreEditor, any StoreBackend) throws -> Void
  ) throws {
    try kind.withLocation { location in
      let backend = try location.open(readOnly: false)
      try fill(backend, tracks: tracks)
      try body(StoreEditor(backend), backend)
      try backend.close()
    }
  }

  private func set(_ id: String, _ values: [String: StoredValue], version: String? = nil) throws
    -> EditRequest
  {
    let address = try #require(ObjectAddress(id))
    return EditRequest([.set(address, version: version, values: values.map { ($0.key, $0.value) })])
  }

  /// Checks a store with its classes: references, inverses, indexes, and unique values.
  private func expectSound(_ backend: any StoreBackend, _ comment: Comment? = nil) throws {
    let store = try browsedStore(backend)
    let check = try store.check()
    #expect(check.findings.map(\.description) == [], comment)
  }

  private func state(_ backend: any StoreBackend) throws -> BrowsedState {
    try BrowsedState(backend.snapshot())
  }

  @Test("A value is set, and indexes and texts follow", arguments: TestedBackend.usual)
  func values(kind: TestedBackend) throws {
    try withEditor(kind) { editor, backend in
      let result = try editor.apply(
        try set(
          "Track/2",
          [
            "title": "Aurora", "remark": .null, "seconds": 5, "rating": 4.5, "mood": "loud",
            "isLive": .bool(false), "released": "2026-11-26T06:00:00Z",
          ]))
      #expect(result.commit == backend.lastCommitNumber)
      // Its name does not say which property it is of.
      #expect(result.clearedIndexes == ["Track by length"])
      let store = try browsedStore(backend)
      let track = try #require(try store.object(Track.self, rowID: 2))
      #expect(track.title == "Aurora" && track.remark == nil && track.seconds == 5)
      #expect(track.rating == 4.5 && track.mood == .loud && !track.isLive)
      #expect(try store.search(Track.self, "aurora").map(\.object.rowID) == [2])
      try expectSound(backend)
    }
  }

  @Test(
    "Values of other types, unknown names and missing objects are refused, and nothing changes",
    arguments: [
      ["seconds": StoredValue.string("many")], ["mood": "angry"], ["band": "Band/99"],
      ["band": "Track/3"], ["colour": 1], ["title": .null], ["released": "tomorrow"],
    ])
  func invalidValues(values: [String: StoredValue]) throws {
    try withEditor(.memory) { editor, backend in
      let number = backend.lastCommitNumber
      #expect(throws: BrowsingError.self) { try editor.apply(try set("Track/2", values)) }
      #expect(backend.lastCommitNumber == number && editor.titles.undo == nil)
    }
  }

  @Test("A change of one side of inverses changes the other side")
  func inverses() throws {
    try withEditor(.tokyoCabinet) { editor, backend in
      _ = try editor.apply(try set("Track/2", ["band": "Band/5"]))
      var store = try browsedStore(backend)
      #expect(try #require(try store.object(Band.self, rowID: 5)).tracks.last?.rowID == 2)
      try expectSound(backend)
      // The other side, which takes a track from another band.
      let band = try #require(ObjectAddress("Band/3"))
      _ = try editor.apply(
        EditRequest([
          .insertReference(
            band, version: nil, property: "tracks", at: 0, reference: .init("Track", 2))
        ]))
      store = try browsedStore(backend)
      #expect(try #require(try store.object(Track.self, rowID: 2)).band?.rowID == 3)
      try expectSound(backend)
    }
  }

  @Test("What may be inverses without evidence needs a decision")
  func unknownInverses() throws {
    try TestedBackend.memory.withLocation { location in
      let backend = try location.open(readOnly: false)
      let store = try browsedStore(backend)
      store.insert(Band())
      store.insert(Track())
      try store.saveChanges()
      let editor = StoreEditor(backend)
      var request = try set("Track/2", ["band": "Band/2"])
      let error = #expect(throws: BrowsingError.self) { try editor.apply(request) }
      #expect(error?.kind == .unconfirmed && error?.confirmation == "bothSides")
      request.confirmations = [.bothSides]
      _ = try editor.apply(request)
      try expectSound(backend)
    }
  }

  @Test("A list is reordered, and objects may repeat in it")
  func lists() throws {
    try withEditor(.cdb) { editor, backend in
      let program = ObjectAddress("Program", 2)
      func items() throws -> [UInt32] {
        let store = try browsedStore(backend)
        return try #require(try store.object(Program.self, rowID: 2)).items.map(\.rowID)
      }
      var expected = try items()
      _ = try editor.apply(
        EditRequest([.moveReference(program, version: nil, property: "items", from: 5, to: 1)]))
      expected.insert(expected.remove(at: 5), at: 1)
      #expect(try items() == expected)
      _ = try editor.apply(
        EditRequest([
          .insertReference(
            program, version: nil, property: "items", at: 8, reference: .init("Track", 2)),
          .removeReference(program, version: nil, property: "items", at: 0),
        ]))
      expected.append(2)
      expected.removeFirst()
      #expect(try items() == expected)
      #expect(throws: BrowsingError.self) {
        try editor.apply(
          EditRequest([.moveReference(program, version: nil, property: "items", from: 8, to: 0)]))
      }
      for _ in 0..<2 { _ = try editor.undo() }
      _ = try editor.redo()
      try expectSound(backend)
    }
  }

  @Test("A new object has the values of a new one, and its own row")
  func insertion() throws {
    try withEditor(.tokyoCabinet) { editor, backend in
      let result = try editor.apply(
        EditRequest(
          [.insert(className: "Track", values: [("title", "New"), ("band", "Band/2")])],
          confirmations: [.duplicate]))
      #expect(result.ids == ["Track/32", "Band/2"])
      let store = try browsedStore(backend)
      let track = try #require(try store.object(Track.self, rowID: 32))
      #expect(track.title == "New" && track.mood == .calm && track.band?.rowID == 2)
      try expectSound(backend)
      // The row is not given out again, not even after the insertion is undone.
      _ = try editor.undo()
      try expectSound(backend)
      let other = try browsedStore(backend)
      let later = Track()
      other.insert(later)
      try other.saveChanges()
      #expect(later.rowID == 33)
    }
  }

  @Test("A deletion needs a confirmation if others refer to the object, and can be undone")
  func deletion() throws {
    try withEditor(.tokyoCabinet) { editor, backend in
      let before = try contents(backend)
      var request = EditRequest([.delete(ObjectAddress("Track", 2), version: nil)])
      let error = #expect(throws: BrowsingError.self) { try editor.apply(request) }
      #expect(error?.kind == .unconfirmed && error?.confirmation == "references")
      request.confirmations = [.references]
      _ = try editor.apply(request)
      #expect(try state(backend).title(of: ObjectAddress("Track", 2)) == nil)
      try expectSound(backend)
      _ = try editor.undo()
      #expect(try contents(backend) == before)
      try expectSound(backend)
    }
  }

  @Test("A value that would be the first to repeat in an index needs a confirmation")
  func uniqueness() throws {
    try withEditor(.memory) { editor, backend in
      let error = #expect(throws: BrowsingError.self) {
        try editor.apply(try set("Band/2", ["name": "Band 3"]))
      }
      #expect(error?.confirmation == "duplicate")
      _ = try editor.apply(try set("Band/2", ["name": "Band 9"]))
      // Once a title repeats, titles need not be unique.
      var request = try set("Track/2", ["title": "Rain 0"])
      request.confirmations = [.duplicate]
      _ = try editor.apply(request)
      _ = try editor.apply(try set("Track/4", ["title": "Rain 0"]))
      try expectSound(backend)
    }
  }

  @Test("An edit of an old version is refused, and changes nothing")
  func conflict() throws {
    try withEditor(.tokyoCabinet) { editor, backend in
      let old = try state(backend).object(ObjectAddress("Track", 2)).version
      let store = try browsedStore(backend)
      try #require(try store.object(Track.self, rowID: 2)).title = "Theirs"
      try store.saveChanges()
      let error = #expect(throws: BrowsingError.self) {
        try editor.apply(try set("Track/2", ["title": "Mine"], version: old))
      }
      #expect(error?.kind == .conflict && error?.id == "Track/2")
      let now = try state(backend).object(ObjectAddress("Track", 2))
      #expect(now.title == "Theirs")
      _ = try editor.apply(try set("Track/2", ["title": "Mine"], version: now.version))
      // An undo does not overwrite a later save of somebody else either.
      let later = try browsedStore(backend)
      try #require(try later.object(Track.self, rowID: 2)).seconds = 99
      try later.saveChanges()
      #expect(throws: BrowsingError.self) { try editor.undo() }
      try expectSound(backend)
    }
  }

  /// The records of all objects.
  private func contents(_ backend: any StoreBackend) throws -> [String] {
    let state = try state(backend)
    return try state.classes.flatMap { known in
      try state.page(BrowsedQuery(known.name)).records.compactMap { $0 }.map {
        "\($0.id) \($0.version)"
      }
    }
  }

  @Test(
    "After random edits and undos the program finds everything sound",
    arguments: TestedBackend.usual)
  func randomEdits(kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "random edits, \(kind.rawValue)")
    try withEditor(kind) { editor, backend in
      var refused = 0
      for step in 0..<80 {
        let request = try RandomEdit.request(state(backend), &generator)
        let number = backend.lastCommitNumber
        do {
          switch Int.random(in: 0...5, using: &generator) {
          case 0: _ = try editor.undo()
          case 1: _ = try editor.redo()
          default: _ = try editor.apply(request)
          }
        } catch let error as BrowsingError {
          refused += 1
          #expect(error.kind != .notFound, "\(error)")
          #expect(backend.lastCommitNumber == number)
        }
        if step % 8 == 7 { try expectSound(backend, "after step \(step)") }
      }
      #expect(refused < 60)
      let before = try contents(backend)
      var undone = 0
      while editor.titles.undo != nil {
        _ = try editor.undo()
        undone += 1
      }
      try expectSound(backend)
      for _ in 0..<undone { _ = try editor.redo() }
      #expect(try contents(backend) == before)
      try expectSound(backend)
    }
  }
}

/// Random edits of the tested store.
enum RandomEdit {
  static func request(
    _ state: BrowsedState, _ generator: inout some RandomNumberGenerator
  ) throws -> EditRequest {
    let track = try address("Track", state, &generator)
    let band = try address("Band", state, &generator)
    let program = try address("Program", state, &generator)
    let place = Int.random(in: 0...9, using: &generator)
    let word = ["Sun", "Ménage", "x y z", "", "Rain 2"][.random(in: 0..<5, using: &generator)]
    let action: EditAction =
      switch Int.random(in: 0...9, using: &generator) {
      case 0: .set(track, version: nil, values: [("title", .string(word))])
      case 1: .set(track, version: nil, values: [("remark", place < 3 ? .null : .string(word))])
      case 2:
        .set(
          track, version: nil,
          values: [("seconds", .int(Int64(place))), ("rating", place < 2 ? .null : 2.5)])
      case 3: .set(track, version: nil, values: [("band", place < 2 ? .null : .string("\(band)"))])
      case 4: .insert(className: "Track", values: [("title", .string(word))])
      case 5: .delete(track, version: nil)
      case 6:
        .insertReference(
          place < 5 ? band : program, version: nil, property: place < 5 ? "tracks" : "items", at: 0,
          reference: track)
      case 7: .removeReference(band, version: nil, property: "tracks", at: place)
      case 8: .moveReference(program, version: nil, property: "items", from: place, to: 0)
      default: .set(band, version: nil, values: [("name", .string("\(word)\(place)"))])
      }
    return EditRequest([action], confirmations: [.references, .bothSides])
  }

  private static func address(
    _ className: String, _ state: BrowsedState, _ generator: inout some RandomNumberGenerator
  ) throws -> ObjectAddress {
    let rows = try state.page(BrowsedQuery(className)).rows
    let row = rows.randomElement(using: &generator)?.rowID ?? 2
    return ObjectAddress(className, row)
  }
}
