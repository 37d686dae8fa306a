#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @testable import StoredSyntax

  private let specs: [String: MacroSpec] = [
    "Stored": MacroSpec(type: StoredMacro.self),
    "StoredField": MacroSpec(type: StoredFieldMacro.self),
    "Dropped": MacroSpec(type: DroppedMacro.self),
    "Transient": MacroSpec(type: MarkMacro.self),
    "Since": MacroSpec(type: MarkMacro.self),
    "Formerly": MacroSpec(type: MarkMacro.self),
    "Relationship": MacroSpec(type: MarkMacro.self),
    "Unique": MacroSpec(type: MarkMacro.self),
    "Indexed": MacroSpec(type: MarkMacro.self),
    "FullText": MacroSpec(type: MarkMacro.self),
    "External": MacroSpec(type: MarkMacro.self),
    "Index": MacroSpec(type: IndexMacro.self),
  ]

  private func expectExpansion(
    _ source: String, _ expansion: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    assertMacroExpansion(
      source, expandedSource: expansion, macroSpecs: specs, indentationWidth: .spaces(2)
    ) { failure in
      Issue.record("\(failure.message)", sourceLocation: sourceLocation)
    }
  }

  @Suite("Expansions")
  struct ExpansionTests {
    @Test("A class gets its two methods, and each property accessors and storage")
    func plain() {
      expectExpansion(
        """
        @Stored final class Song: StoredObject {
          var title: String = ""
          @Transient var isPlaying: Bool = false
          var minutes: Int { 0 }
        }
        """,
        """
        final class Song: StoredObject {
          var title: String {
            @storageRestrictions(initializes: _title)
            init(initialValue) {
              _title = initialValue
            }
            get {
              if !isReadable {
                willRead("title")
              }
              return _title
            }
            _modify {
              if isPlain {
                willChange()
              } else {
                willModify("title")
              }
              defer {
                if !isPlain {
                  didModify("title")
                }
              }
              yield &_title
            }
          }

          private nonisolated var _title: String = ""
          var isPlaying: Bool = false
          var minutes: Int { 0 }

          private let _isNotEncodable = StoredExpansion.NotEncodable()

          nonisolated override func readContent(from buffer: inout DataBuffer) throws {
            _title = try buffer.readValue(of: String.self)
          }

          nonisolated override func writeContent(to buffer: inout DataBuffer) throws {
            buffer.writeValue(_title, as: String.self)
          }

          nonisolated override class var layout: ClassLayout? {
            ClassLayout(Song.self, [
              StoredProperty("title", String.self)
            ])
          }

          nonisolated override class var isCodedOnAnyThread: Bool {
            true
          }

          nonisolated required init() {
            super.init()
          }
        }
        """)
    }

    @Test("A class with earlier versions reads the records of each")
    func versions() {
      expectExpansion(
        """
        @Stored public class Song: Work {
          @Dropped(in: 2) var rating: UInt8 = 0
          @Since(1) @Formerly("seconds", UInt32.self, until: 3) public var length: UInt64 = 0
          private func upgrade(from version: UInt8, former: Former) throws {
          }
        }
        """,
        """
        public class Song: Work {
          @available(*, unavailable, message: "dropped in version 2") var rating: UInt8 {
            get {
              0
            }
          }
          
          public var length: UInt64 {
            @storageRestrictions(initializes: _length)
            init(initialValue) {
              _length = initialValue
            }
            get {
              if !isReadable {
                willRead("length")
              }
              return _length
            }
            _modify {
              if isPlain {
                willChange()
              } else {
                willModify("length")
              }
              defer {
                if !isPlain {
                  didModify("length")
                }
              }
              yield &_length
            }
          }

          private nonisolated var _length: UInt64 = 0
          private func upgrade(from version: UInt8, former: Former) throws {
          }

          private let _isNotEncodable = StoredExpansion.NotEncodable()

          public nonisolated override func readContent(from buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.readContent(from: &buffer))
            var former = Former()
            if buffer.version < 2 {
              former.rating = try buffer.readValue(of: UInt8.self)
            }
            if buffer.version >= 3 {
              _length = try buffer.readValue(of: UInt64.self)
            } else {
              _length = 0
              if buffer.version >= 1 {
                former.seconds = try buffer.readValue(of: UInt32.self)
              }
            }
            if buffer.version < 3 {
              try upgrade(from: buffer.version, former: former)
            }
          }

          public nonisolated override func writeContent(to buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.writeContent(to: &buffer))
            buffer.writeValue(_length, as: UInt64.self)
          }

          public nonisolated override class var layout: ClassLayout? {
            ClassLayout(Song.self, following: super.layout, of: Work.self, [
              StoredProperty("rating", UInt8.self).until(2),
                  StoredProperty("seconds", UInt32.self).since(1).until(3),
                  StoredProperty("length", UInt64.self).since(3)
            ])
          }

          public nonisolated override class var classVersion: UInt8 {
            Swift.max(super.classVersion, 3)
          }

          /// The properties that only records of earlier versions have.
          private nonisolated struct Former {
            var rating: UInt8 = 0
            var seconds: Optional<UInt32> = nil
          }
        }
        """)
    }

    @Test("A class lists its relationships and unique properties, and can release its references")
    func relationships() {
      expectExpansion(
        """
        @Stored final class Song: Work {
          @Unique var number: Int64 = 0
          @Unique(with: \\Song.number) var side: String = ""
          @Relationship(deleteRule: .cascade, inverse: \\Note.song) var notes: [Note] = []
        }
        """,
        """
        final class Song: Work {
        \(property("number", "Int64", "0"))
        \(property("side", "String", "\"\""))
        \(property("notes", "[Note]", "[]"))

          private let _isNotEncodable = StoredExpansion.NotEncodable()

          nonisolated override func readContent(from buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.readContent(from: &buffer))
            _number = try buffer.readValue(of: Int64.self)
            _side = try buffer.readValue(of: String.self)
            _notes = try buffer.readValue(of: [Note].self)
          }

          nonisolated override func writeContent(to buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.writeContent(to: &buffer))
            buffer.writeValue(_number, as: Int64.self)
            buffer.writeValue(_side, as: String.self)
            buffer.writeValue(_notes, as: [Note].self)
          }

          nonisolated override class var layout: ClassLayout? {
            ClassLayout(Song.self, following: super.layout, of: Work.self, [
              StoredProperty("number", Int64.self),
                  StoredProperty("side", String.self),
                  StoredProperty("notes", [Note].self)
            ])
          }

          nonisolated override class var relationships: [Relationship] {
            super.relationships + [
              Relationship(\\Song.notes, deleteRule: .cascade, inverse: \\Note.song)
            ]
          }

          nonisolated override class var indexes: [AttributeIndex] {
            super.indexes + [
              AttributeIndex("number", \\Song.number, isUnique: true),
              AttributeIndex("side and number", \\Song.side, \\Song.number, isUnique: true)
            ]
          }

          nonisolated override func dissolveAllRelationships() {
            super.dissolveAllRelationships()
            StoredExpansion.letGo(&_notes)
          }
        }
        """)
    }

    @Test("A class lists its indexes, named by their properties, and its texts")
    func indexes() {
      expectExpansion(
        """
        @Stored public class Song: StoredObject {
          #Index<Song>([\\.artist, \\Song.`class`], [\\.number, \\.artist])
          @Indexed(unique: true) var number: Int64 = 0
          @Indexed @FullText var artist: String? = nil
          @FullText(weight: 2) var `class`: String = ""
        }
        """,
        """
        public class Song: StoredObject {
        \(property("number", "Int64", "0"))
          
        \(property("artist", "String?", "nil"))
        \(property("class", "String", "\"\"", declared: "`class`"))

          private let _isNotEncodable = StoredExpansion.NotEncodable()

          public nonisolated override func readContent(from buffer: inout DataBuffer) throws {
            _number = try buffer.readValue(of: Int64.self)
            _artist = try buffer.readValue(of: String?.self)
            _class = try buffer.readValue(of: String.self)
          }

          public nonisolated override func writeContent(to buffer: inout DataBuffer) throws {
            buffer.writeValue(_number, as: Int64.self)
            buffer.writeValue(_artist, as: String?.self)
            buffer.writeValue(_class, as: String.self)
          }

          public nonisolated override class var layout: ClassLayout? {
            ClassLayout(Song.self, [
              StoredProperty("number", Int64.self),
                  StoredProperty("artist", String?.self),
                  StoredProperty("class", String.self)
            ])
          }

          public nonisolated override class var indexes: [AttributeIndex] {
            super.indexes + [
              AttributeIndex("number", \\Song.number, isUnique: true),
              AttributeIndex("artist", \\Song.artist),
              AttributeIndex("artist and class", \\Song.artist, \\Song.`class`),
              AttributeIndex("number and artist", \\Song.number, \\Song.artist)
            ]
          }

          public nonisolated override class var fullTextAttributes: [FullTextAttribute] {
            super.fullTextAttributes + [
              FullTextAttribute("artist", \\Song.artist),
              FullTextAttribute("class", \\Song.`class`, weight: 2)
            ]
          }

          public nonisolated override class var isCodedOnAnyThread: Bool {
            true
          }

          public nonisolated required init() {
            super.init()
          }
        }
        """)
    }

    @Test("An index of a list is one of its elements")
    func listIndexes() {
      expectExpansion(
        """
        @Stored final class Playlist: Work {
          @Indexed var songs: ObjectList<Song> = []
        }
        """,
        """
        final class Playlist: Work {
        \(property("songs", "ObjectList<Song>", "[]"))

          private let _isNotEncodable = StoredExpansion.NotEncodable()

          nonisolated override func readContent(from buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.readContent(from: &buffer))
            _songs = try buffer.readValue(of: ObjectList<Song>.self)
          }

          nonisolated override func writeContent(to buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.writeContent(to: &buffer))
            buffer.writeValue(_songs, as: ObjectList<Song>.self)
          }

          nonisolated override class var layout: ClassLayout? {
            ClassLayout(Playlist.self, following: super.layout, of: Work.self, [
              StoredProperty("songs", ObjectList<Song>.self)
            ])
          }

          nonisolated override class var indexes: [AttributeIndex] {
            super.indexes + [
              AttributeIndex("songs", toMany: \\Playlist.songs)
            ]
          }

          nonisolated override func dissolveAllRelationships() {
            super.dissolveAllRelationships()
            StoredExpansion.letGo(&_songs)
          }
        }
        """)
    }

    @Test("The macro writes types that it infers from defaults")
    func inferredTypes() {
      expectExpansion(
        """
        @Stored final class Song: StoredObject {
          var count = 0
          var items: [any Playable] = []
          init() {
            super.init()
          }
        }
        """,
        """
        final class Song: StoredObject {
        \(property("count", "Int", "0", isInferred: true))
        \(property("items", "[any Playable]", "[]"))
          init() {
            super.init()
          }

          private let _isNotEncodable = StoredExpansion.NotEncodable()

          nonisolated override func readContent(from buffer: inout DataBuffer) throws {
            _count = try buffer.readValue(of: Int.self)
            _items = try buffer.readValue(ofAny: [any Playable].self)
          }

          nonisolated override func writeContent(to buffer: inout DataBuffer) throws {
            buffer.writeValue(_count, as: Int.self)
            buffer.writeValue(_items, asAny: [any Playable].self)
          }

          nonisolated override class var layout: ClassLayout? {
            ClassLayout(Song.self, [
              StoredProperty("count", Int.self),
                  StoredProperty("items", ofAny: [any Playable].self)
            ])
          }

          nonisolated override func dissolveAllRelationships() {
            _items = []
          }
        }
        """)
    }

    /// The expansion of a stored property.
    private func property(
      _ name: String, _ type: String, _ value: String, declared: String? = nil,
      isInferred: Bool = false
    ) -> String {
      """
        var \(declared ?? name)\(isInferred ? "" : ": \(type)") {
          @storageRestrictions(initializes: _\(name))
          init(initialValue) {
            _\(name) = initialValue
          }
          get {
            if !isReadable {
              willRead("\(name)")
            }
            return _\(name)
          }
          _modify {
            if isPlain {
              willChange()
            } else {
              willModify("\(name)")
            }
            defer {
              if !isPlain {
                didModify("\(name)")
              }
            }
            yield &_\(name)
          }
        }

        private nonisolated var _\(name): \(type) = \(value)
      """
    }
  }
#endif
