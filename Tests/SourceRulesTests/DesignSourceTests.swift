#if Macros
  import Modeling
  import StoredObjectsCore
  import Testing

  @Suite("The source of models")
  struct DesignSourceTests {
    private static let genre = StoredType.enumeration(
      StoredEnumeration(
        name: "Genre", rawType: .integer(bitCount: 8, isSigned: false),
        cases: [.init(name: "jazz", bytes: [0]), .init(name: "default", bytes: [7])]))

    private static func enumeration(
      _ name: String, _ rawType: StoredType, _ cases: String
    ) throws -> StoredEnumeration {
      StoredEnumeration(
        name: name, rawType: rawType, cases: try CaseReader(rawType: rawType).cases(cases))
    }

    private static func integer(_ bitCount: UInt8, isSigned: Bool = true) -> StoredType {
      .integer(bitCount: bitCount, isSigned: isSigned)
    }

    /// Enumerations as a user of the editor writes them, with difficult names and values.
    private static func enumerations() throws -> [StoredEnumeration] {
      let names = #"""
        calm, loud = "LO\"UD\u{301},\n", `default`, self, Self, Type, Protocol, init, none, some,
        rawValue, hashValue, hash, description, write, Any, var, _a, Ölçü
        """#
      var mood = try enumeration("Mood", .string, names)
      mood.formerNames = ["quiet": "calm", "so-called \"default\"": "default"]
      return [
        mood, try enumeration("Unused", integer(64), "a, b = 900, c"),
        try enumeration("Level", integer(8), "low = -128, mid, top = 127"),
        try enumeration("Place", integer(64, isSigned: false), "end = 18446744073709551615"),
        try enumeration("Weight", .double, "half = 0.5, one = 1, large = 1e300"),
      ]
    }

    /// A model with every type, attribute and kind of relationship.
    private static func design() throws -> ModelDesign {
      func property(
        _ name: String, _ type: StoredType, _ change: (inout DesignedProperty) -> Void = { _ in }
      ) -> DesignedProperty {
        var property = DesignedProperty(name, type)
        change(&property)
        return property
      }
      let int = StoredType.integer(bitCount: 64, isSigned: true)
      let enumerations = try enumerations()
      let types = enumerations.map { StoredType.enumeration($0) }
      var song = DesignedClass(
        storedName: "Song", version: 3,
        properties: [
          property("title", .string) { ($0.index, $0.isFullText) = (.folded, true) },
          property("number", int) { ($0.index, $0.formerNames) = (.unique, ["index", "place"]) },
          property("class", genre) { $0.index = .plain },
          property("genres", .array(genre)), property("cover", .external),
          property("data", .optional(.data)), property("id2", .uuid) { $0.index = .plain },
          property("page", .optional(.codable("URL"))) { $0.index = .plain },
          property("price", .codable("Decimal")),
          property("counts", .dictionary(key: .string, value: .set(int))),
          property("album", .reference("Album")) {
            ($0.inverse, $0.index) = ("songs", .plain)
          },
          property("anything", .anyReference), property("others", .anyReferenceSet),
          property("mood", types[0]), property("level", .optional(types[2])),
          property("moods", .set(types[0])), property("place", types[3]) { $0.index = .unique },
          property("weights", .dictionary(key: types[2], value: .array(types[4]))),
        ])
      song.compoundIndexes = [
        ["title", "number"], ["class", "album", "id2"], ["mood", "level"],
      ]
      let album = DesignedClass(
        "Disc", storedName: "Album",
        properties: [
          property("songs", .references("Song")) {
            ($0.inverse, $0.deleteRule) = ("album", .cascade)
          },
          property("parent", .reference("Album")) { $0.inverse = "parts" },
          property("parts", .referenceSet("Album")) {
            ($0.inverse, $0.deleteRule) = ("parent", .deny)
          },
          property("in", .references("Song")) { $0.index = .plain },
        ])
      var design = ModelDesign([song, album])
      design.enumerations = enumerations
      return design
    }

    @Test("It compiles, with every type, index and relationship")
    func compiles() throws {
      let design = try Self.design()
      #expect(design.errors == [])
      let source = SwiftSource(design, introduction: ["A model."]).lines
      let outcome = try Compiler.compile(source.joined(separator: "\n"), usesMacros: true)
      #expect(outcome.succeeded, "\(outcome.diagnostics)")
    }

    @Test("The compiler finds what is wrong in it")
    func control() throws {
      var design = try Self.design()
      design.classes[0].properties[0].type = .bool
      let source = SwiftSource(design, introduction: ["A model."]).lines
      let outcome = try Compiler.compile(source.joined(separator: "\n"), usesMacros: true)
      #expect(outcome.diagnostics.contains("so it can't be folded"), "\(outcome.diagnostics)")
    }
  }
#endif
