import Modeling
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Enumerations of models under design")
struct DesignedEnumerationTests {
  private static func integer(_ bitCount: UInt8, isSigned: Bool = true) -> StoredType {
    .integer(bitCount: bitCount, isSigned: isSigned)
  }

  private static func enumeration(
    _ name: String, _ rawType: StoredType, _ cases: String
  ) throws -> StoredEnumeration {
    StoredEnumeration(
      name: name, rawType: rawType, cases: try CaseReader(rawType: rawType).cases(cases))
  }

  @Test(
    "Cases have the raw values of the text, or those that Swift would choose",
    arguments: [
      (.string, "calm, loud", "calm = \"calm\", loud = \"loud\""),
      (.string, " calm=\"a, =b\" ,,`default`, ", "calm = \"a, =b\", default = \"default\""),
      (.string, #"a = "\u{1F3B5}\n\"""#, "a = \"🎵\\n\\\"\""), (.string, "Ölçü", "Ölçü = \"Ölçü\""),
      (.string, "a = \"\u{301}\", b", "a = \"\u{301}\", b = \"b\""),
      (integer(64), "a, b, c = 9, d", "a = 0, b = 1, c = 9, d = 10"),
      (integer(8), "a = -128, b, c = 127", "a = -128, b = -127, c = 127"),
      (integer(64, isSigned: false), "a = 18446744073709551615", "a = 18446744073709551615"),
      (.double, "a = 0.5, b = -2", "a = 0.5, b = -2.0"), (.float, "a = 0.1", "a = 0.1"),
    ] as [(StoredType, String, String)])
  func cases(rawType: StoredType, text: String, expected: String) throws {
    #expect(try Self.enumeration("Mood", rawType, text).caseText == expected)
  }

  @Test(
    "A text that is no list of cases is refused with advice",
    arguments: [
      (.string, "", "has no cases"), (.string, " , ", "has no cases"),
      (.string, "calm, loud, calm", "Two cases are named calm."), (.string, "a b", "\"a b\" can't"),
      (.string, "1a", "\"1a\" can't"), (.string, "_", "\"_\" can't"), (.string, "a-b", "can't be"),
      (.string, "= \"a\"", "\"\" can't"), (.string, "allCases", "has a member allCases"),
      (.string, "a = 1", "needs quotation marks"), (.string, "a = \"b", "quotation mark after"),
      (.string, "a = \"b\" c", "\"c\" is too much"), (.string, #"a = "\q""#, "wrong escape"),
      (.string, #"a = "\u{D800}""#, "wrong escape"), (.string, #"a = "\u{"#, "wrong escape"),
      (.string, "a = \"é\", b = \"e\u{301}\"", "the same raw value"),
      (.string, "a = \"b\", b", "a and b have the same raw value \"b\"."),
      (integer(32), "a = 1, b = 0, c", "a and c have the same raw value 1."),
      (integer(8), "a = 127, b", "Int8 has no value 128"),
      (integer(8, isSigned: false), "a = -1", "UInt8 has no value -1"),
      (integer(64), "a = 9223372036854775807, b", "Int64 has no value"),
      (integer(64), "a = x", "not a number of Int64"), (integer(64), "a =", "not a number"),
      (integer(64), "a = \"1\"", "not a number"), (.double, "a", "needs a raw value"),
      (.double, "a = nan", "not a number of Double"), (.double, "a = 0, b = -0.0", "the same raw"),
      (.float, "a = 1e39", "not a number of Float"), (.bool, "a", "needs a raw value"),
      (.string, (0...1000).map { "c\($0)" }.joined(separator: ","), "at most 1000 cases"),
      (integer(8), (0...128).map { "c\($0)" }.joined(separator: ","), "Int8 has no value 128"),
      (.string, String(repeating: "a", count: 100_001), "at most 100000"),
    ] as [(StoredType, String, String)])
  func wrongCases(rawType: StoredType, text: String, advice: String) throws {
    let failure = #expect(throws: CaseReader.Failure.self) {
      try CaseReader(rawType: rawType).cases(text)
    }
    let description = "\(try #require(failure))"
    #expect(description.contains(advice), "\(description)")
  }

  @Test("Random texts are refused, or cases that their own text has again")
  func randomCases() throws {
    var generator = Seeds.generator(for: "random texts of cases")
    let parts = [
      "a", "b", "c", "é", "default", " ", ",", ", ", ",", "=", " = ", "\"", "\"x\"", "\\",
      "\\u{41}", "0", "1", "-", ".5", "\u{301}", "`", "\u{200D}",
    ]
    let rawTypes = [StoredType.string, Self.integer(8), Self.integer(64, isSigned: false), .double]
    var readable = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...10, using: &generator)
      let text = (0..<count).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
      let rawType = rawTypes.randomElement(using: &generator) ?? .string
      guard let mood = try? Self.enumeration("Mood", rawType, text) else { continue }
      readable += 1
      let written = try #require(mood.caseText, "\(text)")
      #expect(try Self.enumeration("Mood", rawType, written) == mood, "\(text)")
      #expect(Set(mood.cases.map(\.bytes)).count == mood.cases.count, "\(text)")
    }
    #expect(readable > 500)
  }

  @Test("The name of an enumeration is an identifier that no other type has")
  func names() throws {
    func errors(_ names: String...) throws -> [String] {
      var design = ModelDesign([DesignedClass(storedName: "Song")])
      design.enumerations = try names.map { try Self.enumeration($0, .string, "calm") }
      return design.errors.map(\.text)
    }
    #expect(try errors("Mood", "Kind") == [])
    #expect(try errors("Mood", "Mood") == ["Two enumerations are named Mood."])
    #expect(try errors("Song")[0].contains("a class Song already"))
    #expect(try errors("String")[0].contains("a type of Swift"))
    #expect(try errors("Relationship")[0].contains("a type of Swift or StoredObjects"))
    for name in ["", "a b", "1", "class", "<img>", "_"] {
      #expect(try errors(name)[0].contains("\"\(name)\" can't be the name of an enumeration"))
    }
  }

  @Test("An enumeration of the store whose cases have no text stays a type that can't be changed")
  func fixed() throws {
    let odd = StoredEnumeration(
      name: "Odd", rawType: .string, cases: [.init(name: "a b", bytes: [0, 0, 0, 0])])
    let unknown = StoredEnumeration(name: "Unknown", rawType: .string, cases: [])
    let mood = try Self.enumeration("Mood", .string, "calm")
    let design = ModelDesign([
      DesignedClass(
        storedName: "Song",
        properties: [odd, unknown, mood].map { DesignedProperty($0.name, .enumeration($0)) })
    ])
    #expect(SwiftTypes(design).enumerations == [mood])
    let level = try Self.enumeration("Level", Self.integer(8), "low")
    let reader = TypeReader(classes: [:], typesOf: design, enumerations: [level])
    #expect(reader.fixedNames == ["Odd", "Unknown"])
    #expect(try reader.type("[Odd]") == .array(.enumeration(odd)))
    #expect(try reader.type("[String: Level?]?").parts.contains(.enumeration(level)))
    #expect(throws: TypeReader.Failure.self) { try reader.type("Mood") }
    #expect(try TypeReader(classes: [:], typesOf: design).type("Mood") == .enumeration(mood))
  }
}
