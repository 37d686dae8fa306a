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

    /// A model with every type, attribute and kind of relationship.
    private static var design: ModelDesign {
      func property(
        _ name: String, _ type: StoredType, _ change: (inout DesignedProperty) -> Void = { _ in }
      ) -> DesignedProperty {
        var property = DesignedProperty(name, type)
        change(&property)
        return property
      }
      let int = StoredType.integer(bitCount: 64, isSigned: true)
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
        ])
      song.compoundIndexes = [["title", "number"], ["class", "album", "id2"]]
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
      return ModelDesign([song, album])
    }

    @Test("It compiles, with every type, index and relationship")
    func compiles() throws {
      #expect(Self.design.errors == [])
      let source = SwiftSource(Self.design, introduction: ["A model."]).lines
      let outcome = try Compiler.compile(source.joined(separator: "\n"), usesMacros: true)
      #expect(outcome.succeeded, "\(outcome.diagnostics)")
    }

    @Test("The compiler finds what is wrong in it")
    func control() throws {
      var design = Self.design
      design.classes[0].properties[0].type = .bool
      let source = SwiftSource(design, introduction: ["A model."]).lines
      let outcome = try Compiler.compile(source.joined(separator: "\n"), usesMacros: true)
      #expect(outcome.diagnostics.contains("so it can't be folded"), "\(outcome.diagnostics)")
    }
  }
#endif
