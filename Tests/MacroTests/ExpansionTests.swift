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
    @Test("A class gets its two methods, each property accessors and storage")
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
                willUpdate()
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

          private var _title: String = ""
          var isPlaying: Bool = false
          var minutes: Int { 0 }

          override func readContent(from buffer: inout DataBuffer) throws {
            _title = try buffer.readValue(of: String.self)
          }

          override func writeContent(to buffer: inout DataBuffer) throws {
            buffer.writeValue(_title, as: String.self)
          }

          override class var isCodedOnAnyThread: Bool {
            true
          }
        }
        """)
    }

    @Test("A class with a past reads what each version wrote")
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
                willUpdate()
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

          private var _length: UInt64 = 0
          private func upgrade(from version: UInt8, former: Former) throws {
          }

          public override func readContent(from buffer: inout DataBuffer) throws {
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

          public override func writeContent(to buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.writeContent(to: &buffer))
            buffer.writeValue(_length, as: UInt64.self)
          }

          public override class var classVersion: UInt8 {
            Swift.max(super.classVersion, 3)
          }

          /// What only records of earlier versions have.
          private struct Former {
            var rating: UInt8 = 0
            var seconds: Optional<UInt32> = nil
          }
        }
        """)
    }

    @Test("A class lists its relationships and what is unique, and can let go of its references")
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

          override func readContent(from buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.readContent(from: &buffer))
            _number = try buffer.readValue(of: Int64.self)
            _side = try buffer.readValue(of: String.self)
            _notes = try buffer.readValue(of: [Note].self)
          }

          override func writeContent(to buffer: inout DataBuffer) throws {
            try StoredExpansion.run(super.writeContent(to: &buffer))
            buffer.writeValue(_number, as: Int64.self)
            buffer.writeValue(_side, as: String.self)
            buffer.writeValue(_notes, as: [Note].self)
          }

          override class var relationships: [Relationship] {
            super.relationships + [
              Relationship(\\Song.notes, deleteRule: .cascade, inverse: \\Note.song)
            ]
          }

          override class var uniqueConstraints: [UniqueConstraint] {
            super.uniqueConstraints + [
              UniqueConstraint(\\Song.number),
              UniqueConstraint(\\Song.side, \\Song.number)
            ]
          }

          override func dissolveAllRelationships() {
            super.dissolveAllRelationships()
            StoredExpansion.letGo(&_notes)
          }
        }
        """)
    }

    /// What a stored property becomes.
    private func property(_ name: String, _ type: String, _ value: String) -> String {
      """
        var \(name): \(type) {
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
              willUpdate()
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

        private var _\(name): \(type) = \(value)
      """
    }
  }
#endif
