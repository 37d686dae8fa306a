// The macros, as protocols with an implementation. The compiler finds a macro by its module, and
// tests can't link the module that is the plugin.

#if Macros
  package import SwiftSyntax
  import SwiftSyntaxBuilder
  package import SwiftSyntaxMacros

  /// `@Stored`: generates the methods of a class, and adds an attribute to each property.
  package protocol StoredExpansion: MemberMacro, MemberAttributeMacro {}

  extension StoredExpansion {
    package static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      do throws(Findings) {
        return try StoredClass(declaration, node).members
      } catch {
        for finding in error.all { context.diagnose(finding.diagnostic) }
        return []
      }
    }

    package static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
      // The other expansion reports errors.
      guard declaration.is(ClassDeclSyntax.self),
        case .field(let field) = try? StoredField.role(of: member)
      else { return [] }
      guard let version = field.droppedIn else { return ["@StoredField"] }
      return [
        """
        @available(*, unavailable, message: "dropped in version \(raw: version)")
        """
      ]
    }
  }

  /// `@StoredField`: the attribute that `@Stored` adds to a property.
  package protocol StoredFieldExpansion: AccessorMacro, PeerMacro {}

  extension StoredFieldExpansion {
    package static func expansion(
      of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
      guard case .field(let field) = try? StoredField.role(of: declaration) else { return [] }
      return field.accessors
    }

    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      guard case .field(let field) = try? StoredField.role(of: declaration) else { return [] }
      return [field.storageDeclaration]
    }
  }

  /// `@Dropped`: a property without storage, whose position in the record is kept.
  package protocol DroppedExpansion: AccessorMacro {}

  extension DroppedExpansion {
    package static func expansion(
      of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
      guard case .field(let field) = try? StoredField.role(of: declaration) else { return [] }
      return ["get { \(field.defaultValue.trimmed) }"]
    }
  }

  /// `#Index`: expands to nothing, and is read by ``StoredExpansion``.
  package protocol IndexExpansion: DeclarationMacro {}

  extension IndexExpansion {
    package static func expansion(
      of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      if context.lexicalContext.first?.isStoredClass != true {
        let message = "#Index is read by @Stored: write it in a class with @Stored"
        context.diagnose(Finding(node, message).diagnostic)
      }
      return []
    }
  }

  /// `@Transient`, `@Since`, `@Relationship` and similar attributes.
  ///
  /// They expand to nothing, and are read by ``StoredExpansion``.
  package protocol MarkExpansion: PeerMacro {}

  extension MarkExpansion {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      if let finding = Finding(unread: node, of: declaration, in: context.lexicalContext.first) {
        context.diagnose(finding.diagnostic)
      }
      return []
    }
  }
#endif
