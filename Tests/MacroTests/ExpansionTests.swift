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
        """)
    }
  }
#endif
