#if Macros
  import SwiftDiagnostics
  import Testing

  private let noType = """
    a macro can't see the type of this default: write the type, as in 'var title: String = \
    makeTitle()'
    """

  private let properties: [Refusal] = [
    Refusal(property: "var size = make()", noType),
    Refusal(
      property: "var genre = Genre.jazz", noType,
      [("Add ': Genre'", "var genre: Genre = Genre.jazz")]),
    Refusal(
      property: "var home = URL(string: \"a\")", noType,
      [("Add ': URL?'", "var home: URL? = URL(string: \"a\")")]),
    Refusal(property: "var mixed = [1, 2.5]", noType),
    Refusal(
      property: "let title: String = \"\"",
      "a 'let' can't be read from a record; make it 'private(set) var', or mark it @Transient",
      [
        ("Replace 'let' by 'var'", "var title: String = \"\""),
        ("Add '@Transient'", "@Transient let title: String = \"\""),
      ]),
    Refusal(
      property: "lazy var shout: String = \"\"",
      "a lazy property is computed from others, so it is not stored: mark it @Transient",
      [("Add '@Transient'", "@Transient lazy var shout: String = \"\"")]),
    Refusal(
      property: "weak var artist: Artist?",
      "a stored reference is strong; remove 'weak', or mark it @Transient",
      [
        ("Remove 'weak'", "var artist: Artist?"),
        ("Add '@Transient'", "@Transient weak var artist: Artist?"),
      ]),
    Refusal(
      property: "unowned var artist: Artist? = nil",
      "a stored reference is strong; remove 'unowned', or mark it @Transient",
      [
        ("Remove 'unowned'", "var artist: Artist? = nil"),
        ("Add '@Transient'", "@Transient unowned var artist: Artist? = nil"),
      ]),
    Refusal(
      property: "var songs: ObjectList<Song>",
      "a stored property needs a default, because the store makes objects by init()",
      [("Add '= []'", "var songs: ObjectList<Song> = []")]),
    Refusal(
      property: "@Content var title: String = \"\"",
      "@Stored does what @Content does: remove @Content",
      [("Remove '@Content'", "var title: String = \"\"")]),
    Refusal(
      property: "@Clamped var volume: Double = 0",
      "@Stored does not know @Clamped: remove it, or mark the property @Transient",
      [
        ("Remove '@Clamped'", "var volume: Double = 0"),
        ("Add '@Transient'", "@Transient @Clamped var volume: Double = 0"),
      ]),
    Refusal(
      property: "var title: String = \"\" { didSet { note() } }",
      """
      @Stored writes the accessors, so the property can have no observers; make the change in a \
      method, or mark the property @Transient
      """,
      [("Add '@Transient'", "@Transient var title: String = \"\" { didSet { note() } }")]),
    Refusal(
      property: "var a: Bool = false, b: Bool = true",
      "declare each stored property separately, in the order of the record",
      [("Add '@Transient'", "@Transient var a: Bool = false, b: Bool = true")]),
    Refusal(
      property: "var title: String",
      "a stored property needs a default, because the store makes objects by init()",
      [("Add '= \"\"'", "var title: String = \"\"")]),
    Refusal(
      property: "var artist: Artist",
      """
      a stored property needs a default, because the store makes objects by init(); a reference is \
      optional
      """, [("Make it optional", "var artist: Artist?")]),
  ]

  private let types: [Refusal] = [
    Refusal(
      property: "var item: any Playable = Song()",
      """
      'any Playable' is stored only as a reference to an object, which is optional: write \
      '(any Playable)?', or mark the property @Transient
      """,
      [
        ("Make it optional", "var item: (any Playable)? = Song()"),
        ("Add '@Transient'", "@Transient var item: any Playable = Song()"),
      ]),
    Refusal(
      property: "@FullText var count = 0",
      """
      'Int' is not a text: @FullText is for String and String?; convert it to a text in your own \
      fullTextAttributes
      """, [("Remove '@FullText'", "var count = 0")]),
    Refusal(
      property: "@Indexed var songs = [Song]?.none",
      "a list in an index is empty rather than nil: write '[Song]'",
      [("Replace it by '[Song] = []'", "@Indexed var songs: [Song] = []")]),
    Refusal(
      property: "var title: String! = \"\"",
      "a stored property can't be implicitly unwrapped: write 'String?'",
      [("Replace '!' by '?'", "var title: String? = \"\"")]),
    Refusal(
      property: "var action: () -> Void = {}",
      """
      '() -> Void' can't be stored; use a type that is DataBufferValue or Codable, or mark the \
      property @Transient
      """, [("Add '@Transient'", "@Transient var action: () -> Void = {}")]),
    Refusal(
      property: "var pair: (Bool, Bool) = (true, true)",
      """
      '(Bool, Bool)' can't be stored; use a type that is DataBufferValue or Codable, or mark the \
      property @Transient
      """, [("Add '@Transient'", "@Transient var pair: (Bool, Bool) = (true, true)")]),
    Refusal(
      property: "var type: Song.Type = Song.self",
      """
      'Song.Type' can't be stored; use a type that is DataBufferValue or Codable, or mark the \
      property @Transient
      """, [("Add '@Transient'", "@Transient var type: Song.Type = Song.self")]),
    Refusal(
      property: "var thing: A & B = C()",
      """
      'A & B' can't be stored; use a type that is DataBufferValue or Codable, or mark the property \
      @Transient
      """, [("Add '@Transient'", "@Transient var thing: A & B = C()")]),
    Refusal(
      property: "var thing: Any = 1",
      """
      'Any' can't be stored; use a type that is DataBufferValue or Codable, or mark the property \
      @Transient
      """, [("Add '@Transient'", "@Transient var thing: Any = 1")]),
  ]

  private let versions: [Refusal] = [
    Refusal(
      "a field of a version that the class has not reached",
      "@Stored(version: 1) final class Song: StoredObject {\n  @Since(2) var note: String?\n}",
      "'note' names version 2, which the class has not reached yet",
      [("Raise the version to 2", "@Stored(version: 2) final class Song: StoredObject {")]),
    Refusal(
      property: "@Since(latest) var note: String?",
      "a version is a literal from 0 to 255"),
    Refusal(
      property: "@Since(2) @Dropped(in: 2) var note: String?",
      "'note' is dropped in version 2, and was added in 2"),
    Refusal(property: "@Since var note: String?", "@Since needs a version"),
    Refusal(
      property: "@Since(256) var note: String?",
      "a version is a literal from 0 to 255"),
    Refusal(
      property: "@Dropped(in: 2) @Formerly(\"a\", Bool.self, until: 1) var note: String?",
      "a property can't both be @Dropped and have a predecessor"),
    Refusal(
      property: "@Since(2) @Formerly(\"a\", Bool.self, until: 2) var note: String?",
      "'a' was here until version 2, so the property is older than @Since(2)"),
    Refusal(
      property: "@Formerly(\"1 a\", Bool.self, until: 2) var note: String?",
      "the former name must be the name of a property"),
    Refusal(
      property: "@Formerly(\"a\", type, until: 2) var note: String?",
      "write the former type as 'UInt32.self'"),
    Refusal(
      property: "@Formerly(\"seconds\", UInt32.self, until: 3) var length: UInt64 = 0",
      """
      nothing converts 'seconds' to 'length': declare 'private func upgrade(from version: UInt8, \
      former: Former)'
      """, [("Add 'upgrade(from:former:)'", "length = .init(seconds)")]),
    Refusal(
      property: "@Since(1) var a: Bool = false; func upgrade(from version: UInt8) {}",
      "upgrade(from:) is private, so that each class of a hierarchy has its own",
      [("Add 'private'", "private func upgrade(from version: UInt8) {}")]),
    Refusal(
      property: "private func upgrade(from version: UInt8) {}",
      "upgrade(from:) is never called: there is no version before 0; use @Stored(version: 1)"),
  ]

  private let classes: [Refusal] = [
    Refusal(
      "a class without a superclass", "@Stored final class Song {\n}",
      "a stored class is a subclass of StoredObject",
      [("Add 'StoredObject'", "@Stored final class Song: StoredObject {")]),
    Refusal(
      "a class that only conforms to protocols",
      "@Stored final class Song: Codable, Identifiable {\n}",
      "a stored class is a subclass of StoredObject",
      [("Add 'StoredObject'", "@Stored final class Song: StoredObject, Codable, Identifiable {")]),
    Refusal(
      "a class of another root", "@Stored final class Song: NSObject {\n}",
      "a stored class is a subclass of StoredObject",
      [("Add 'StoredObject'", "@Stored final class Song: StoredObject {")]),
    Refusal(
      "a structure", "@Stored struct Song {\n}",
      "@Stored is for classes: objects have identity, values do not"),
    Refusal(
      "an actor", "@Stored actor Song {\n}",
      "@Stored is for classes: objects have identity, values do not"),
    Refusal(
      property: "override func readContent(from buffer: inout DataBuffer) throws {}",
      """
      @Stored writes readContent; remove this one, or remove @Stored and keep the class \
      hand-written
      """),
    Refusal(
      property: "override func writeContent(to buffer: inout DataBuffer) throws {}",
      """
      @Stored writes writeContent; remove this one, or remove @Stored and keep the class \
      hand-written
      """),
    Refusal(
      property: "override class var classVersion: UInt8 { 1 }",
      "write the version in the attribute: @Stored(version: 1)"),
    Refusal(
      "a property under a condition",
      "@Stored class Song: StoredObject {\n  #if DEBUG\n  var a: Bool = false\n  #endif\n}",
      """
      a stored property can't depend on a condition, because the record would; mark it @Transient, \
      or move it out of #if
      """),
  ]

  @Suite("Diagnostics of @Stored")
  struct DiagnosticTests {
    @Test(
      "Each has a problem and a fix",
      arguments: properties + types + versions + classes + codings + relationships + uniqueness
        + marks
        + indexes + compoundIndexes + texts)
    func refusals(refusal: Refusal) throws {
      let diagnostics = try findings(in: refusal.source)
      #expect(diagnostics.map(\.message) == [refusal.message])
      let fixIts = diagnostics.flatMap(\.fixIts)
      #expect(fixIts.map(\.message.message) == refusal.cures.map(\.name))
      for (fixIt, cure) in zip(fixIts, refusal.cures) {
        let cured = fixIt.apply(to: refusal.source)
        let lines = cured.split(whereSeparator: { $0 == "\n" || $0 == ";" })
          .map { $0.drop { $0 == " " } }
        #expect(lines.contains { $0 == cure.line }, "\(cured)")
      }
    }

    @Test(
      "An attribute for @Stored is diagnosed in a class without it",
      arguments: ["Transient", "Since(1)", "Formerly(\"a\")", "Relationship", "Unique", "Indexed"])
    func unread(mark: String) throws {
      let name = mark.prefix { $0 != "(" }
      let source = "final class Song: StoredObject {\n  @\(mark) var artist: Artist?\n}"
      let found = try markFindings(in: source)
      let message = "@\(name) is read by @Stored, which the class does not have"
      #expect(found.map(\.message) == [message])
      let fixIt = try #require(found.first?.fixIts.first)
      #expect(fixIt.message.message == "Remove '@\(name)'")
      #expect(
        fixIt.apply(to: source)
          == "final class Song: StoredObject {\n  var artist: Artist?\n}")
      #expect(try markFindings(in: "@Stored " + source).isEmpty)
      #expect(try markFindings(in: "@StoredObjects.Stored(version: 1) " + source).isEmpty)
    }

    @Test("#Index is diagnosed in a class without @Stored")
    func unreadIndex() throws {
      let source = "final class Song: StoredObject {\n  #Index<Song>([\\.title, \\.year])\n}"
      #expect(
        try indexFindings(in: source).map(\.message)
          == ["#Index is read by @Stored: write it in a class with @Stored"])
      #expect(try indexFindings(in: "@Stored " + source).isEmpty)
    }

    @Test("An attribute for properties is diagnosed at a method")
    func markedMethod() throws {
      let source = "@Stored final class Song: StoredObject {\n  @Indexed func play() {}\n}"
      #expect(
        try markFindings(in: source).map(\.message)
          == ["@Indexed is for stored properties: remove it"])
    }

    @Test("All problems with properties are diagnosed at once")
    func several() throws {
      let source = """
        @Stored final class Song: StoredObject {
          var title = makeTitle()
          let seconds: UInt32 = 0
          var fine = false
          lazy var count = 0
        }
        """
      #expect(try findings(in: source).count == 3)
    }

    @Test(
      "Valid code has no diagnostics",
      arguments: [
        "var minutes: Int { 5 }", "static var shared: Int = 5", "@Transient let made = 1",
        "@Transient var action: (() -> Void)?", "@Transient lazy var shout = title.uppercased()",
        "@Since(2) var a: Bool = false\n  @Since(1) var b: Bool = false",
        "@Formerly(\"name\") var title: String = \"\"", "struct Part { let id: Int }",
        "var both: Int {\n    get { 5 }\n    set {}\n  }", "var a: Optional<String>",
        "@Relationship var artist: Artist?",
        "@Relationship(inverse: nil) var songs: [Other.Song] = []",
        "@Relationship(inverse: \\Other.Song.mixes) var songs: Set<Song> = []",
        "@Relationship(inverse: \\Song.mix) var songs: ObjectList<Song> = []",
        "@Relationship var songs: Songs = []", "@Unique var artist: Artist?",
        "@Unique(with: \\Song.title) var number: Int64 = 0",
        "@available(*, deprecated) var title: String = \"\"",
        "@Indexed var day: Day = .today", "@Indexed(unique: false) var songs: Set<Song> = []",
        "@Indexed(unique: true, folded: true) var name: Name = \"\"",
        "@Indexed(folded: true) var note: Optional<String>",
        "@Indexed(unique: true) var code: Optional<String> = nil", "@Indexed var artist: Artist?",
        "@FullText var title: Title = Title()", "@FullText(weight: 0.5) var a: Optional<String>",
        "#Index<Song>([\\.title, \\Song.length])\n  var title: String?; var length: Other.Length = .zero",
        "#Index([\\Song.title])\n  var title: String = \"\"",
        "private(set) var titles: [String] = []",
        "#if DEBUG\n  @Transient var a: Int = 0\n  var b: Int { 0 }\n  #endif",
      ])
    func right(member: String) throws {
      let source = "@Stored final class Song: StoredObject {\n  \(member)\n}"
      #expect(try findings(in: source).map(\.message) == [])
    }
  }
#endif
