#if Macros
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros
  import Testing

  @testable import StoredSyntax

  enum StoredMacro: StoredExpansion {}
  enum StoredFieldMacro: StoredFieldExpansion {}
  enum DroppedMacro: DroppedExpansion {}
  enum MarkMacro: MarkExpansion {}
  enum IndexMacro: IndexExpansion {}

  /// The diagnostics of the macro for an invalid class, and the results of the fix-its.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let source: String
    let message: String
    /// Fix-its by name, and the line of the source that each makes of the one that is wrong.
    let cures: [(name: String, line: String)]

    init(
      _ name: String, _ source: String, _ message: String,
      _ cures: [(name: String, line: String)] = []
    ) {
      testDescription = name
      self.source = source
      self.message = message
      self.cures = cures
    }

    /// A property that is wrong, in a class that is right.
    init(
      property: String, _ message: String, _ cures: [(name: String, line: String)] = []
    ) {
      self.init(
        property, "@Stored final class Song: StoredObject {\n  \(property)\n}", message, cures)
    }
  }

  /// The diagnostics of the macro for the first declaration of a source.
  func findings(in source: String) throws -> [Diagnostic] {
    let file = Parser.parse(source: source)
    let item = try #require(file.statements.first?.item)
    let context = BasicMacroExpansionContext()
    func expand(_ declaration: some DeclGroupSyntax & WithAttributesSyntax) throws {
      let attribute = try #require(declaration.attributes.first(named: "Stored"))
      _ = StoredMacro.expansion(
        of: attribute, providingMembersOf: declaration, conformingTo: [], in: context)
    }
    if let declaration = item.as(ClassDeclSyntax.self) { try expand(declaration) }
    if let declaration = item.as(StructDeclSyntax.self) { try expand(declaration) }
    if let declaration = item.as(ActorDeclSyntax.self) { try expand(declaration) }
    return context.diagnostics
  }

  /// The diagnostics of the attributes of the only property of a class.
  func markFindings(in source: String) throws -> [Diagnostic] {
    let file = Parser.parse(source: source)
    let group = try #require(file.statements.first?.item.as(ClassDeclSyntax.self))
    let member = try #require(group.memberBlock.members.first?.decl)
    let attributes = member.asProtocol((any WithAttributesSyntax).self)?.attributes
    let attribute = try #require(attributes?.first?.as(AttributeSyntax.self))
    let context = BasicMacroExpansionContext(lexicalContext: [Syntax(group)])
    _ = MarkMacro.expansion(of: attribute, providingPeersOf: member, in: context)
    return context.diagnostics
  }

  /// The diagnostics of the only `#Index` of a class.
  func indexFindings(in source: String) throws -> [Diagnostic] {
    let file = Parser.parse(source: source)
    let group = try #require(file.statements.first?.item.as(ClassDeclSyntax.self))
    let member = try #require(group.memberBlock.members.first?.decl)
    let expansion = try #require(member.as(MacroExpansionDeclSyntax.self))
    let context = BasicMacroExpansionContext(lexicalContext: [Syntax(group)])
    _ = IndexMacro.expansion(of: expansion, in: context)
    return context.diagnostics
  }

  extension FixIt {
    /// The source with the fix-it applied.
    func apply(to source: String) -> String {
      var bytes = Array(source.utf8)
      for case .replace(let old, let new) in changes {
        let range = old.position.utf8Offset..<old.endPosition.utf8Offset
        bytes.replaceSubrange(range, with: Array(new.description.utf8))
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
