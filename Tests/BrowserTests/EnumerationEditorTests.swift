import Foundation
import RecordBrowsing
import StoredObjectsBrowser
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Enumerations in requests of the editor")
struct EnumerationCallTests {
  private struct Answer: Decodable {
    struct Finding: Decodable {
      let kind: String
      let text: String
      let `class`: String?
    }
    let source: String?
    let findings: [Finding]
  }

  private struct Model: Decodable {
    struct Enumeration: Decodable, Equatable {
      let name: String
      let saved: String
      let rawType: String
      let cases: String
    }
    let types: [String]
    let enumerations: [Enumeration]
  }

  /// Returns the answer to a model with enumerations, and a class with one property.
  private func answer(
    _ session: BrowserSession, _ enumerations: String?, type: String = "Mood?"
  ) throws -> Answer {
    let property =
      #"{"name":"mood","type":"\#(type)","formerNames":[],"index":"none","isFullText":false,"#
      + #""inverse":"","deleteRule":"nullify"}"#
    let body =
      "{" + (enumerations.map { "\"enumerations\":[\($0)]," } ?? "")
      + #""classes":[{"name":"Song","storedName":"Song","version":0,"compoundIndexes":[],"#
      + #""properties":[\#(property)]}]}"#
    let answer = session.respond(
      to: APICall(path: "design", isPost: true, body: Array(body.utf8)))
    #expect(answer.status == 200)
    return try JSONDecoder().decode(Answer.self, from: Data(answer.body))
  }

  private func mood(
    _ cases: String, name: String = "Mood", _ rawType: String = "String"
  ) -> String {
    #"{"name":"\#(name)","rawType":"\#(rawType)","cases":"\#(cases)"}"#
  }

  @Test("The enumerations of the store are those that can be changed")
  func model() throws {
    try withSession { session in
      let body = session.respond(to: APICall(path: "design")).body
      let model = try JSONDecoder().decode(Model.self, from: Data(body))
      #expect(
        model.enumerations == [
          .init(
            name: "Mood", saved: "Mood", rawType: "String",
            cases: "calm = \"calm\", loud = \"loud\"")
        ])
      #expect(!model.types.contains("Mood") && model.types.contains("Int8"))
      let answer = session.respond(to: APICall(path: "design", isPost: true, body: body))
      let read = try JSONDecoder().decode(Answer.self, from: Data(answer.body))
      #expect(read.findings.map(\.kind) == ["same"])
    }
  }

  @Test("A new enumeration is declared before the classes, also if no property has it")
  func source() throws {
    try withSession { session in
      let mood = mood("calm, loud") + "," + mood("low, high = 300", name: "Level", "Int")
      let source = try #require(try answer(session, mood, type: "[Mood]").source)
      #expect(
        source.contains(
          """

          enum Mood: String, DataBufferValue, CaseIterable {
            case calm = "calm"
            case loud = "loud"
          }

          enum Level: Int, DataBufferValue, CaseIterable {
            case low = 0
            case high = 300
          }

          @Stored final class Song: StoredObject {
            var mood: [Mood] = []
          }

          """))
      // A page of an earlier version has none in its requests.
      #expect(try answer(session, nil).source?.contains("enum Mood: String") == true)
    }
  }

  @Test("A case of the store with another name and its raw value is renamed")
  func renamed() throws {
    try withSession { session in
      let feeling =
        #"{"name":"Feeling","saved":"Mood","rawType":"String","cases":"quiet = \"calm\", loud"}"#
      let source = try #require(try answer(session, feeling, type: "Feeling").source)
      #expect(source.contains(#"{ ["calm": "quiet"] }"#))
      #expect(source.contains("var mood: Feeling = .quiet"))
    }
  }

  @Test("Errors name the enumeration, and there is no source")
  func errors() throws {
    try withSession { session in
      for (enumerations, type, name, text) in [
        (mood("calm, calm"), "Mood", "Mood", "Two cases are named calm."),
        (mood(""), "[Mood]", "Mood", "has no cases"),
        (mood("a", name: "Song"), "Song?", "Song", "There is a class Song already."),
        (mood("a", name: "Int"), "Int", "Int", "Int is a type of Swift"),
        (mood("a") + "," + mood("b"), "Mood", "Mood", "Two enumerations are named Mood."),
        ("", "Mood", "Song", "There is no type \"Mood\"."),
      ] {
        let answer = try answer(session, enumerations, type: type)
        #expect(answer.findings.map(\.class) == [name])
        #expect(answer.source == nil && answer.findings.map(\.kind) == ["error"])
        #expect(answer.findings.first?.text.contains(text) == true, "\(answer.findings)")
      }
    }
  }
}

@Suite(
  "Enumerations in the editor of models", .serialized,
  .enabled(if: WebDriver.isInstalled, WebDriver.reasonToSkip))
struct EnumerationPageTests {
  private let source = "return (document.querySelector('.source')?.innerText ?? '')"
  private let findings = "return document.getElementById('findings').innerText"
  private let focus = "return document.activeElement.dataset.focus"

  private func expect(
    _ page: WebDriver, _ script: String, contains text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try page.wait(for: script + ".includes(arguments[0])", [text], sourceLocation: sourceLocation)
  }

  /// Writes a text into a field in place of the old one, by keys.
  private func write(_ page: WebDriver, _ text: String, in field: String) throws {
    try page.run("document.querySelector(`[data-focus=\"${arguments[0]}\"]`).select()", [field])
    try page.type(text)
    try page.type([WebDriver.Key.enter])
  }

  /// Adds an enumeration by keys alone.
  private func addLevel(_ page: WebDriver) throws {
    try page.run("document.getElementById('add-enumeration').focus()")
    try page.type([WebDriver.Key.enter])
    try page.wait(for: "return document.activeElement.value === 'NewEnumeration'")
    try expect(page, findings, contains: "The enumeration has no cases")
    try page.type("Level")
    try page.type([WebDriver.Key.tab])
    try page.wait(for: focus + " === 'enumeration-type-1'")
    try page.wait(for: "return document.querySelector('[data-enumeration=Level]') !== null")
    try page.type([WebDriver.Key.down])
    try page.wait(for: "return document.activeElement.value === 'Int'")
    try page.type([WebDriver.Key.tab])
    try page.wait(for: focus + " === 'enumeration-cases-1'")
    try page.type("low, low")
    try page.type([WebDriver.Key.enter])
    try expect(page, findings, contains: "Level Two cases are named low.")
    #expect(try page.text(source) == "")
    try write(page, "low, high = 7, top", in: "enumeration-cases-1")
    try expect(page, source, contains: "enum Level: Int, DataBufferValue {\n  case low = 0\n")
    try expect(page, source, contains: "  case top = 8\n}")
  }

  private func addProperty(_ page: WebDriver) throws {
    try page.click("#add-property")
    try page.wait(for: "return document.activeElement.value === 'property'")
    try page.type("level")
    try page.type([WebDriver.Key.tab])
    try page.wait(for: focus + "?.startsWith('type-') === true")
    try page.wait(for: "return document.querySelector('[data-designed=level]') !== null")
    try page.run("document.activeElement.select()")
    try page.type("Level?")
    try page.type([WebDriver.Key.enter])
    try expect(page, source, contains: "var level: Level?")
    try expect(page, findings, contains: "level is new.")
  }

  @Test("An enumeration is added, used, renamed and removed, by keys, and stays in the tab")
  func editing() throws {
    try withPage(isWritable: false) { page in
      try page.show("#/model/edit")
      try expect(page, source, contains: "enum Mood: String, DataBufferValue, CaseIterable {")
      try addLevel(page)
      #expect(try page.text(findings).contains("nothing changes"))
      let types = "return [...document.querySelectorAll('#types option')].map(node => node.value)"
      #expect(Set(try page.texts(types)).isSuperset(of: ["Level", "Level?", "[Level]", "Mood"]))
      try addProperty(page)
      // Names are taken once.
      let message = "return document.getElementById('toast').innerText"
      for (name, text) in [
        ("Band", "a class Band already"), ("Mood", "an enumeration Mood already"),
        ("String", "a type String already"), (" ", "needs a name"),
      ] {
        try write(page, name, in: "enumeration-name-1")
        try expect(page, message, contains: text)
      }
      try write(page, "Mood", in: "class-name")
      try expect(page, message, contains: "an enumeration Mood already")
      try write(page, "Stage", in: "enumeration-name-1")
      try expect(page, source, contains: "var level: Stage?")
      for (width, isDark) in [(1200, true), (375, false), (1200, false)] {
        try page.emulate(width: width, height: 800, isDark: isDark)
        #expect(try page.texts(PageAudit.script) == [])
      }
      try page.run("location.reload()")
      try expect(page, source, contains: "var level: Stage?")
      try page.run("document.querySelector('[data-focus=enumeration-remove-1]').focus()")
      try page.type([WebDriver.Key.enter])
      try page.wait(for: "return document.activeElement.id === 'add-enumeration'")
      try expect(page, message, contains: "Also removed: Band.level.")
      try expect(page, findings, contains: "nothing changes")
      try page.run("document.getElementById('main').focus()")
      try page.type(["z"], holding: WebDriver.Key.control)
      try expect(page, source, contains: "var level: Stage?")
      try expect(page, source, contains: "enum Stage: Int, DataBufferValue {")
      #expect(try page.complaints { $0.contains("404") } == [])
    }
  }

  @Test("Cases of the store keep their raw values, and what changes is said")
  func casesOfTheStore() throws {
    try withPage(isWritable: false) { page in
      try page.show("#/model/edit")
      try expect(page, findings, contains: "nothing changes")
      let cases = "return document.querySelector('[data-focus=enumeration-cases-0]').value"
      #expect(try page.text(cases) == "calm = \"calm\", loud = \"loud\"")
      try write(page, "calm = \"calm\", wild, noisy = \"loud\"", in: "enumeration-cases-0")
      try expect(page, findings, contains: "mood: loud is now noisy.")
      #expect(try page.text(findings).contains("mood: Mood has the new case wild."))
      #expect(try page.text(source).contains("[\"loud\": \"noisy\"]"))
      try write(page, "calm = \"calm\"", in: "enumeration-cases-0")
      try expect(page, findings, contains: "Mood has lost the case loud.")
      // Hostile names stay texts, and can be corrected.
      try write(page, "<img src=x onerror=hacked=1>", in: "enumeration-name-0")
      try expect(page, findings, contains: "can't be the name of an enumeration")
      #expect(try page.number("return window.hacked === undefined ? 0 : 1") == 0)
      try write(page, "Feeling", in: "enumeration-name-0")
      try expect(page, source, contains: "var mood: Feeling = .calm")
    }
  }

  @Test("A model that an earlier page has kept gets the enumerations of the store")
  func earlierPage() throws {
    try withPage(isWritable: false) { page in
      try page.show("#/model/edit")
      try expect(page, findings, contains: "nothing changes")
      try page.click("#add-class")
      try expect(page, source, contains: "class NewClass: StoredObject {}")
      let forget = """
        const key = Object.keys(sessionStorage).find(name => name.startsWith("design "));
        const model = JSON.parse(sessionStorage.getItem(key));
        delete model.enumerations;
        model.types.push("Mood");
        sessionStorage.setItem(key, JSON.stringify(model));
        location.reload();
        """
      try page.run(forget)
      try expect(page, source, contains: "class NewClass: StoredObject {}")
      #expect(try page.number("return document.querySelectorAll('[data-enumeration]').length") == 1)
      try write(page, "Feeling", in: "enumeration-name-0")
      try expect(page, source, contains: "var mood: Feeling = .calm")
    }
  }
}
