#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // A module may isolate its classes to the main actor by default. Overrides of members of
  // `StoredObject` are nonisolated, because a store of any isolation domain calls them.

  extension StoredClass {
    /// The access modifier of the class; empty for the default access.
    var access: String { declaration.access }

    /// The modifiers of an override, which has the access of its class.
    var modifiers: String { "\(access)nonisolated " }

    /// The initializer that the class would inherit, which is nonisolated.
    ///
    /// If the superclass may have other initializers, it is not generated, because it would prevent
    /// their inheritance.
    var initializer: DeclSyntax? {
      let isWritten = declaration.memberBlock.members.contains { member in
        let initializer = member.decl.as(InitializerDeclSyntax.self)
        return initializer?.signature.parameterClause.parameters.isEmpty == true
      }
      guard isRoot, !isWritten else { return nil }
      return """
        \(raw: declaration.closedAccess)nonisolated required init() {
          super.init()
        }
        """
    }
  }

  extension ClassDeclSyntax {
    /// The access modifier of the class and a space; empty for the default access.
    var access: String {
      let keywords: Set<Keyword> = [.public, .open, .package]
      let modifier = modifiers.first { $0.keyword.map(keywords.contains) == true }
      return modifier.map { "\($0.name.text) " } ?? ""
    }

    /// The access modifier of a member that can't be overridden.
    var closedAccess: String { access == "open " ? "public " : access }
  }
#endif
