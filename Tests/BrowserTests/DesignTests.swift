import Foundation
import Modeling
import RecordBrowsing
import StoredObjectsBrowser
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// Band as a later program declares it: a property is renamed, one is new, and one is gone.
private final class LaterBand: StoredObject {
  @Content var title = ""
  @Content var founded: Int?

  override class var storedName: String { "Band" }
  override class var layout: ClassLayout? {
    ClassLayout(
      LaterBand.self,
      [
        StoredProperty("title", String.self).formerly("name"), StoredProperty("founded", Int?.self),
      ])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(founded)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    founded = try buffer.read()
  }
}

/// Band with a property whose values can't be converted.
private final class NumberedBand: StoredObject {
  @Content var name = 0

  override class var storedName: String { "Band" }
  override class var layout: ClassLayout? {
    ClassLayout(NumberedBand.self, [StoredProperty("name", Int.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(name) }
  override func readContent(from buffer: inout DataBuffer) throws { name = try buffer.read() }
}

@Suite("Models under design")
struct DesignTests {
  private func withStore(_ body: (any StoreBackend, BrowsedState) throws -> Void) throws {
    try TestedBackend.memory.withLocation { location in
      let backend = try location.open(readOnly: false)
      try fill(backend)
      try body(backend, BrowsedState(backend.snapshot()))
      try backend.close()
    }
  }

  @Test("Indexes of several properties are those of the store, and have errors")
  func compoundIndexes() throws {
    try withStore { _, state in
      var design = try ModelDesign(of: state)
      let track = try #require(design.classes.firstIndex { $0.storedName == "Track" })
      #expect(design.classes[track].compoundIndexes == [["band", "title"]])
      #expect(try design.effects(on: state).map(\.kind) == [.same])
      design.classes[track].compoundIndexes.append(["seconds", "rating", "title"])
      #expect(design.errors == [])
      let effects = try design.effects(on: state)
      #expect(effects.map(\.kind) == [.change])
      #expect(effects[0].text.contains("\"seconds and rating and title\" is new"))
      for (properties, text) in [
        (["title"], "two or three"), (["band", "title", "seconds", "rating"], "two or three"),
        (["band", "none"], "no property none"), (["title", "title"], "twice"),
        (["band", "title"], "two indexes"),
      ] {
        var wrong = design
        wrong.classes[track].compoundIndexes.append(properties)
        #expect(wrong.errors.count == 1 && wrong.errors[0].text.contains(text), "\(wrong.errors)")
      }
      let band = try #require(design.classes.firstIndex { $0.storedName == "Band" })
      design.classes[band].compoundIndexes = [["name", "tracks"]]
      #expect(design.errors.map(\.text) == ["A list can't be a part of an index: tracks."])
    }
  }

  private static let reader = TypeReader(
    classes: ["Song": "Song", "Disc": "Record"],
    typesOf: ModelDesign([
      DesignedClass(storedName: "Song", properties: [DesignedProperty("mood", mood)])
    ]))
  private static let mood = StoredType.enumeration(
    StoredEnumeration(
      name: "Mood", rawType: .string, cases: [.init(name: "calm", bytes: [])]))

  @Test(
    "A type is read as Swift writes it",
    arguments: [
      ("Int", .integer(bitCount: 64, isSigned: true)), ("String?", .optional(.string)),
      (" [ Date ] ", .array(.date)), ("Set<UUID>", .set(.uuid)), ("Mood", mood),
      ("[String: [Mood]]", .dictionary(key: .string, value: .array(mood))),
      ("Optional<Array<UInt8>>", .optional(.array(.integer(bitCount: 8, isSigned: false)))),
      ("Song?", .reference("Song")), ("[Disc]", .references("Record")),
      ("Set<Disc>", .referenceSet("Record")), ("StoredObject?", .anyReference),
      ("[StoredObject]", .anyReferences), ("URL?", .optional(.codable("URL"))),
    ] as [(String, StoredType)])
  func types(text: String, type: StoredType) throws {
    #expect(try Self.reader.type(text) == type)
  }

  @Test(
    "Text that is no type is refused with advice",
    arguments: [
      ("Song", "write Song?"), ("", "missing"), ("Strin", "There is no type \"Strin\""),
      ("[Int", "\"]\" is missing"), ("Int]", "too much"), ("Int??", "One question mark"),
      ("[Song?]", "without other signs"), ("[Song]?", "empty instead of missing"),
      ("[String: Song?]", "objects can't be in it"), ("Box<Int>", "There is no type Box<…>"),
      (String(repeating: "[", count: 60), "too deep"),
      (String(repeating: "a", count: 300), "at most 200"),
    ])
  func wrongTypes(text: String, advice: String) throws {
    let failure = #expect(throws: TypeReader.Failure.self) { try Self.reader.type(text) }
    #expect("\(try #require(failure))".contains(advice))
  }

  @Test("Random texts are types or failures")
  func randomTypes() {
    var generator = Seeds.generator(for: "random texts of types")
    let parts = ["[", "]", "<", ">", "?", ":", ",", "Int", "Song", "Set", "Optional", " ", "é"]
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...12, using: &generator)
      let text = (0..<count).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
      _ = try? Self.reader.type(text)
    }
  }

  @Test("The model of a store has its classes, indexes, texts and inverses")
  func modelOfStore() throws {
    try withStore { _, state in
      let design = try ModelDesign(of: state)
      #expect(design.classes.map(\.name) == ["Band", "Track", "Program"])
      let properties = Dictionary(
        design.classes.flatMap { known in
          known.properties.map { ("\(known.name).\($0.name)", $0) }
        }
      ) { first, _ in first }
      #expect(properties["Band.name"]?.index == .plain)
      #expect(properties["Track.title"]?.index == .plain)
      #expect(properties["Track.title"]?.isFullText == true)
      #expect(properties["Track.remark"]?.index == .folded)
      #expect(properties["Track.mood"]?.index == DesignedProperty.Index.none)
      #expect(properties["Band.tracks"]?.inverse == "band")
      #expect(properties["Track.band"]?.inverse == "tracks")
      #expect(properties["Program.items"]?.inverse == nil)
      #expect(design.errors == [])
      #expect(try design.effects(on: state).map(\.kind) == [.same])
      let source = SwiftSource(design, introduction: []).lines
      #expect(source.contains("  @Relationship(inverse: \\Track.band) var tracks: [Track] = []"))
      #expect(source.contains("  @Indexed @FullText var title: String = \"\""))
      #expect(source.contains("  var band: Band?"))
    }
  }

  @Test("Opening the store does what the model says")
  func effects() throws {
    try withStore { backend, state in
      var design = try ModelDesign(of: state)
      design.classes[0].properties = [
        DesignedProperty("title", .string, formerNames: ["name"]),
        DesignedProperty("founded", .optional(.integer(bitCount: 64, isSigned: true))),
      ]
      let findings = try design.effects(on: state)
      #expect(findings.allSatisfy { $0.className == "Band" })
      #expect(
        findings.map { "\($0.kind) \($0.property ?? "")" }
          == ["change title", "change founded", "loss tracks", "change "])
      let store = Store(backend: backend)
      try store.register(LaterBand.self)
      let bands = try store.allObjects(of: LaterBand.self)
      #expect(bands.map(\.title).sorted() == (0..<4).map { "Band \($0)" })
      #expect(bands.allSatisfy { $0.founded == nil })
    }
  }

  @Test("The error of opening the store is that of the model")
  func obstacles() throws {
    try withStore { backend, state in
      var design = try ModelDesign(of: state)
      design.classes[0].properties = [
        DesignedProperty("name", .integer(bitCount: 64, isSigned: true))
      ]
      let finding = try #require(try design.effects(on: state).first)
      #expect(finding.kind == .error && finding.text.contains("@Converted"))
      let store = Store(backend: backend)
      let error = #expect(throws: StoreError.self) { try store.register(NumberedBand.self) }
      #expect(error?.code == .changedLayout && error?.message == finding.text)
    }
  }

  @Test("New classes, missing ones and new indexes are changes")
  func classes() throws {
    try withStore { _, state in
      var design = try ModelDesign(of: state)
      design.classes.removeLast()
      design.classes.append(DesignedClass(storedName: "Venue"))
      design.classes[1].properties[4].index = .plain
      design.classes[0].properties[0].isFullText = true
      let texts = try design.effects(on: state).map { "\($0.kind): \($0.text)" }
      #expect(texts.contains("change: Venue is a new class."))
      #expect(texts.contains { $0.hasPrefix("change: Program is not in the model. Its 3 objects") })
      #expect(texts.contains { $0.contains("The index \"isLive\"") })
      #expect(texts.contains { $0.contains("full-text index") })
      #expect(texts.count == 4)
    }
  }

  @Test("Errors of a model are found, each in its class and property")
  func errors() {
    var song = DesignedClass(storedName: "Song")
    func message(_ change: (inout DesignedProperty) -> Void) -> String? {
      var property = DesignedProperty("discs", .references("Disc"))
      change(&property)
      song.properties = [property]
      let disc = DesignedClass(
        storedName: "Disc",
        properties: [
          DesignedProperty("title", .string), DesignedProperty("song", .reference("Song")),
        ])
      let errors = ModelDesign([song, disc]).errors
      #expect(errors.count <= 1 && errors.allSatisfy { $0.className == "Song" })
      return errors.first?.text
    }
    #expect(message { _ in } == nil)
    #expect(message { $0.inverse = "song" } == nil)
    #expect(message { $0.inverse = "title" }?.contains("does not refer to Song") == true)
    #expect(message { $0.inverse = "none" }?.contains("has no property none") == true)
    #expect(message { $0.index = .unique }?.contains("can't be unique") == true)
    #expect(message { $0.index = .folded }?.contains("takes String") == true)
    #expect(message { $0.isFullText = true }?.contains("takes String") == true)
    #expect(message { $0.name = "rowID" }?.contains("Every object has") == true)
    #expect(message { $0.name = "a b" }?.contains("can't be the name") == true)
    #expect(message { ($0.type, $0.deleteRule) = (.string, .cascade) }?.contains("Only") == true)
    #expect(message { ($0.type, $0.index) = (.array(.string), .plain) }?.contains("can't") == true)
    #expect(message { ($0.type, $0.inverse) = (.anyReferences, "a") }?.contains("any") == true)
    let twins = ModelDesign([DesignedClass(storedName: "A"), DesignedClass("A", storedName: "B")])
    #expect(twins.errors.map(\.text) == ["Two classes are named A."])
    let reserved = ModelDesign([DesignedClass(storedName: "String")])
    #expect(reserved.errors.count == 1)
  }
}

@Suite("The editor of models, without its page")
struct DesignCallTests {
  @Test("The model of the store comes back as source that changes nothing")
  func roundTrip() throws {
    try withSession { session in
      let model = session.respond(to: APICall(path: "design"))
      #expect(model.status == 200)
      let answer = session.respond(to: APICall(path: "design", isPost: true, body: model.body))
      #expect(answer.status == 200)
      let text = String(decoding: answer.body, as: UTF8.self)
      #expect(text.contains(#""isSound":true"#) && text.contains(#""kind":"same""#))
      #expect(text.contains("@Stored final class Track: StoredObject {"))
    }
  }

  @Test("Wrong requests are refused, whichever byte of one is wrong")
  func damagedRequests() throws {
    try withSession { session in
      let model = session.respond(to: APICall(path: "design"))
      let text = String(decoding: model.body, as: UTF8.self)
      let start = #""enumerations":["#
      let level = #"{"name":"Level","rawType":"Int8","cases":"low = -1, `top`, é"},"#
      let tone = #"{"name":"Tone","rawType":"String","cases":"a = \"x\\u{41}, é\", b"},"#
      let whole = Array(text.replacing(start, with: start + level + tone).utf8)
      #expect(whole.count == model.body.count + level.utf8.count + tone.utf8.count)
      let answer = session.respond(to: APICall(path: "design", isPost: true, body: whole))
      #expect(String(decoding: answer.body, as: UTF8.self).contains("case é = 1"))
      var generator = Seeds.generator(for: "damaged models")
      var refused = 0
      for _ in 0..<400 {
        var body = whole
        let position = Int.random(in: 0..<body.count, using: &generator)
        if Bool.random(using: &generator) {
          body[position] = .random(in: 0...255, using: &generator)
        } else {
          body.removeSubrange(position...)
        }
        let answer = session.respond(to: APICall(path: "design", isPost: true, body: body))
        #expect([200, 400].contains(answer.status))
        if answer.status == 400 { refused += 1 }
      }
      #expect(refused > 100)
    }
  }
}

@Suite(
  "The editor of models in a browser", .serialized,
  .enabled(if: WebDriver.isInstalled, WebDriver.reasonToSkip))
struct DesignPageTests {
  private let source = "return document.querySelector('.source')?.innerText ?? ''"
  private let findings = "return document.getElementById('findings').innerText"

  private func expectSource(
    _ page: WebDriver, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try page.wait(
      for: "return (document.querySelector('.source')?.innerText ?? '').includes(arguments[0])",
      [text], sourceLocation: sourceLocation)
  }

  @Test("Classes, properties and arrows are drawn and changed, and the source follows")
  func editing() throws {
    try withPage(isWritable: false) { page in
      // As large as the drawing, so that boxes can be dragged.
      try page.emulate(width: 1400, height: 1600, isDark: false)
      try page.show("#/model")
      try page.shownAgain { try page.click("#edit-model") }
      try expectSource(page, "@Relationship(inverse: \\Track.band) var tracks: [Track] = []")
      #expect(try page.text(findings).contains("nothing changes"))
      #expect(try page.texts(PageAudit.script) == [])
      let text = try page.text("return document.body.innerText")
      #expect(!text.contains("null") && !text.contains("undefined"))
      // A class, and its name.
      try page.click("#add-class")
      try page.wait(for: "return document.activeElement.id === 'class-name'")
      try page.run("document.activeElement.select()")
      try page.type("Venue")
      try page.type([WebDriver.Key.enter])
      try expectSource(page, "@Stored final class Venue: StoredObject {}")
      // A property, its type and its index.
      try page.click("#add-property")
      try page.wait(for: "return document.activeElement.value === 'property'")
      try page.type("city")
      try page.type([WebDriver.Key.tab])
      try page.wait(
        for: "return document.activeElement.dataset.focus === 'type-0'"
          + " && document.querySelector('[data-designed=city]') !== null")
      try page.run("document.activeElement.select()")
      try page.type("Strin?")
      try page.type([WebDriver.Key.enter])
      try page.wait(for: findings + ".includes('There is no type')")
      #expect(try page.text(source) == "")
      try page.run("document.querySelector('[data-focus=\"type-0\"]').select()")
      try page.type("String?")
      try page.type([WebDriver.Key.enter])
      try expectSource(page, "var city: String?")
      // An arrow, drawn from box to box.
      try page.run("window.scrollTo(0, 0)")
      try page.drag("[data-box=Venue] .connector", to: "[data-box=Band] .title")
      try page.wait(for: "return document.querySelector('dialog[open]') !== null")
      try page.click("dialog button:nth-of-type(2)")
      try expectSource(page, "var bands: [Band] = []")
      // A box is moved, by keys.
      let place = "return document.querySelector('[data-box=Venue]').getAttribute('transform')"
      let before = try page.text(place)
      try page.run("document.querySelector('[data-box=Venue]').focus()")
      try page.type([WebDriver.Key.down])
      #expect(try page.text(place) != before)
      // All of it is undone, and stays after a new start of the page.
      try page.run("location.reload()")
      try expectSource(page, "var bands: [Band] = []")
      #expect(try page.complaints { $0.contains("404") } == [])
    }
  }

  @Test("An index of several properties is added, follows a rename, and goes with its property")
  func compoundIndexes() throws {
    try withPage(isWritable: false) { page in
      try page.show("#/model/edit")
      try page.click("[data-box=Track] .title")
      try expectSource(page, "#Index<Track>([\\.band, \\.title])")
      let rows = "return document.querySelectorAll('ul.indexes > li').length"
      #expect(try page.number(rows) == 1)
      try page.click("#add-index")
      try page.wait(for: "return document.activeElement.dataset.focus === 'compound-1'")
      try page.type("seconds, titel")
      try page.type([WebDriver.Key.enter])
      try page.wait(for: findings + ".includes('Track has no property titel')")
      #expect(try page.text(source) == "")
      try page.run("document.querySelector('[data-focus=\"compound-1\"]').select()")
      try page.type("seconds, title")
      try page.type([WebDriver.Key.enter])
      try expectSource(page, "#Index<Track>([\\.seconds, \\.title])")
      #expect(try page.text(findings).contains("The index \"seconds and title\" is new"))
      #expect(try page.texts(PageAudit.script) == [])
      try page.run("document.querySelector('[data-focus=\"name-0\"]').select()")
      try page.type("name")
      try page.type([WebDriver.Key.enter])
      try expectSource(page, "#Index<Track>([\\.seconds, \\.name])")
      try page.click("[aria-label='Remove: name']")
      try page.wait(for: "return document.querySelectorAll('ul.indexes > li').length === 0")
      try page.run("document.getElementById('main').focus()")
      try page.type(["z"], holding: WebDriver.Key.control)
      try expectSource(page, "#Index<Track>([\\.band, \\.name])")
      #expect(try page.number(rows) == 2)
    }
  }

  @Test("Changes are undone by keys, and what they would do to the store is said")
  func undo() throws {
    try withPage(isWritable: false) { page in
      try page.show("#/model/edit")
      try page.wait(for: findings + ".includes('nothing changes')")
      try page.run("document.querySelector('[data-focus=\"name-0\"]').select()")
      try page.type("title")
      try page.type([WebDriver.Key.enter])
      try expectSource(page, "@Formerly(\"name\") @Indexed var title: String = \"\"")
      #expect(try page.text(findings).contains("title was named name"))
      try page.run("document.getElementById('main').focus()")
      try page.type(["z"], holding: WebDriver.Key.control)
      try page.wait(for: findings + ".includes('nothing changes')")
      // Hostile names stay texts.
      try page.run("document.querySelector('[data-focus=\"class-name\"]').select()")
      try page.type("<img src=x onerror=hacked=1>")
      try page.type([WebDriver.Key.enter])
      try page.wait(for: findings + ".includes('the name of a class')")
      #expect(try page.number("return window.hacked === undefined ? 0 : 1") == 0)
      for (width, isDark) in [(1200, true), (375, false)] {
        try page.emulate(width: width, height: 800, isDark: isDark)
        #expect(try page.texts(PageAudit.script) == [])
      }
    }
  }
}
