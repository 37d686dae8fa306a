#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // A module may isolate its classes to the main actor by default. What overrides a member of
  // `StoredObject` says that it is not: a store of any isolation domain calls it.

  extension StoredClass {
    /// The access of the class; empty where it is the usual one.
    var access: String { declaration.access }

    /// The modifiers of an override, which has the access of its class.
    var modifiers: String { "\(access)nonisolated " }

    /// The initializer that the class would inherit, with the isolation of the class.
    ///
    /// Where the superclass may have others, this one would keep them from being inherited.
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
    /// The access of the class, with a blank behind; empty where it is the usual one.
    var access: String {
      let keywords: Set<Keyword> = [.public, .open, .package]
      let modifier = modifiers.first { $0.keyword.map(keywords.contains) == true }
      return modifier.map { "\($0.name.text) " } ?? ""
    }

    /// The access of a member that can't be overridden.
    var closedAccess: String { access == "open " ? "public " : access }
  }
#endif
