import Modeling
import RecordBrowsing
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// Track as a later program declares it: with one more case, and a new enumeration.
private final class WilderTrack: StoredObject {
  enum Mood: String, DataBufferValue, CaseIterable { case calm, wild, loud }
  enum Level: Int8, DataBufferValue { case low, high }

  @Content var mood = Mood.calm
  @Content var level = Level.high

  override class var storedName: String { "Track" }
  override class var layout: ClassLayout? {
    ClassLayout(
      WilderTrack.self,
      [StoredProperty("mood", Mood.self), StoredProperty("level", Level.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(mood)
    buffer.write(level)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    mood = try buffer.read()
    level = try buffer.read()
  }
}

/// A mood of which a program has other cases than the store.
private protocol OtherMood: DataBufferValue, Equatable {
  static var first: Self { get }
}

private enum QuietMood: String, OtherMood, CaseIterable {
  case quiet = "calm"
  case loud
  static var first: Self { .quiet }
  static var formerCaseNames: [String: String] { ["calm": "quiet"] }
}

private enum CalmMood: String, OtherMood, CaseIterable {
  case calm
  static var first: Self { .calm }
}

private enum NumberedMood: Int16, OtherMood {
  case loud, calm
  static var first: Self { .calm }
}

private enum RenamedMood: String, OtherMood, CaseIterable {
  case quiet = "calm"
  case loud
  static var first: Self { .quiet }
}

/// Track with such a mood and no other property.
private final class MoodTrack<Mood: OtherMood>: StoredObject {
  @Content var mood = Mood.first

  override class var storedName: String { "Track" }
  override class var layout: ClassLayout? {
    ClassLayout(MoodTrack.self, [StoredProperty("mood", Mood.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(mood) }
  override func readContent(from buffer: inout DataBuffer) throws { mood = try buffer.read() }
}

@Suite("Enumerations under design, and a store")
struct EnumerationEffectTests {
  /// Runs a test with a store, and a function that returns what a type of the mood would do to it.
  private func withStore(
    _ body: (Store, _ effects: (StoredType) throws -> [String]) throws -> Void
  ) throws {
    try TestedBackend.memory.withLocation { location in
      let backend = try location.open(readOnly: false)
      try fill(backend)
      let state = try BrowsedState(backend.snapshot())
      try body(Store(backend: backend)) { type in
        let design = ModelDesign([
          DesignedClass(storedName: "Track", properties: [DesignedProperty("mood", type)])
        ])
        return try design.effects(on: state)
          .filter { $0.property == "mood" || $0.kind == .error }.map { "\($0.kind): \($0.text)" }
      }
      try backend.close()
    }
  }

  private func mood(_ cases: String, _ rawType: StoredType = .string) throws -> StoredEnumeration {
    StoredEnumeration(
      name: "Mood", rawType: rawType, cases: try CaseReader(rawType: rawType).cases(cases))
  }

  @Test("A new enumeration and a new case change nothing that the store has")
  func added() throws {
    try withStore { store, effects in
      #expect(try effects(.enumeration(mood("calm, loud"))) == [])
      #expect(
        try effects(.enumeration(mood("calm, wild, loud")))
          == ["change: mood: Mood has the new case wild."])
      #expect(
        try effects(.optional(.enumeration(mood("calm, loud, a, b")))) == [
          "change: mood was Mood; values are converted.",
          "change: mood: Mood has the new cases a, b.",
        ])
      try store.register(WilderTrack.self)
      let tracks = try store.allObjects(of: WilderTrack.self)
      #expect(tracks.filter { $0.mood == .loud }.count == 30)
      #expect(tracks.filter { $0.mood == .calm && $0.level == .high }.count == 30)
    }
  }

  @Test("A new enumeration in a new property has the default of the class")
  func newProperty() throws {
    try TestedBackend.memory.withLocation { location in
      let backend = try location.open(readOnly: false)
      try fill(backend)
      let state = try BrowsedState(backend.snapshot())
      var design = try ModelDesign(of: state)
      let level = StoredEnumeration(
        name: "Level", rawType: .integer(bitCount: 8, isSigned: true),
        cases: try CaseReader(rawType: .integer(bitCount: 8, isSigned: true)).cases("low, high"))
      design.enumerations = [level]
      // No class has it yet.
      #expect(try design.effects(on: state).map(\.kind) == [.same])
      design.classes[1].properties.append(DesignedProperty("level", .enumeration(level)))
      #expect(
        try design.effects(on: state).first?.text
          == "level is new. Objects of the store have the default of the class.")
      let source = SwiftSource(design, introduction: []).lines
      let start = try #require(source.firstIndex(of: "enum Level: Int8, DataBufferValue {"))
      #expect(source[(start + 1)...].starts(with: ["  case low = 0", "  case high = 1", "}"]))
      #expect(source.contains("  var level: Level = .low"))
      // A text is no enumeration.
      design.classes[0].properties[0].type = .enumeration(level)
      let finding = try #require(try design.effects(on: state).first { $0.kind == .error })
      #expect(finding.className == "Band")
      #expect(finding.text.contains("name: String is now name: Level"))
      try backend.close()
    }
  }

  @Test("A renamed case keeps its objects if the source has its former name")
  func renamed() throws {
    try withStore { store, effects in
      let quiet = try mood("quiet = \"calm\", loud")
      let errors = try effects(.enumeration(quiet))
      #expect(errors.count == 1 && errors[0].hasPrefix("error: "), "\(errors)")
      let error = #expect(throws: StoreError.self) {
        try store.register(MoodTrack<RenamedMood>.self)
      }
      #expect(error?.code == .changedLayout)
      let known = try quiet.renamingCases(of: mood("calm, loud"))
      #expect(known.formerNames == ["calm": "quiet"])
      #expect(try effects(.enumeration(known)) == ["change: mood: calm is now quiet."])
      try store.register(MoodTrack<QuietMood>.self)
      #expect(try store.allObjects(of: MoodTrack<QuietMood>.self).count { $0.mood == .quiet } == 30)
    }
  }

  @Test("Objects with a removed case can't be read")
  func removed() throws {
    try withStore { store, effects in
      #expect(
        try effects(.enumeration(mood("calm"))) == [
          """
          loss: mood: Mood has lost the case loud. Objects with such a value can't be read.
          """
        ])
      try store.register(MoodTrack<CalmMood>.self)
      let error = #expect(throws: StoreError.self) {
        try store.allObjects(of: MoodTrack<CalmMood>.self)
      }
      #expect(error?.code == .damaged && error?.message.contains("loud") == true)
    }
  }

  @Test("Cases with other raw values are converted by name")
  func converted() throws {
    try withStore { store, effects in
      let numbered = try mood("loud, calm", .integer(bitCount: 16, isSigned: true))
      #expect(
        try effects(.enumeration(numbered))
          == ["change: mood: Other raw values: calm, loud. Values are converted."])
      #expect(
        try effects(.enumeration(mood("loud, calm")))
          == ["change: mood: The cases of Mood have another order."])
      #expect(try effects(.string) == ["change: mood was Mood; values are converted."])
      try store.register(MoodTrack<NumberedMood>.self)
      let tracks = try store.allObjects(of: MoodTrack<NumberedMood>.self)
      #expect(tracks.count { $0.mood == .loud } == 30)
    }
  }
}
